"""`./run lab` in a real browser: to run a notebook and save it is no change in git."""

import os
import subprocess

import pytest

from tests import clones
from tests.view import chromium
from tests.view.lab import PANEL, jupyterlab

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.slow,
    pytest.mark.skipif(chromium.program() is None, reason="no Chromium: apt install chromium"),
    pytest.mark.skipif(
        "FSGREEN_NIGHTLY" not in os.environ,
        reason="JupyterLab and Chromium take a quarter of a minute: FSGREEN_NIGHTLY=1 ./run test "
        "tests/view/test_saving_browser.py",
    ),
]

CELLS = f"{PANEL}.content.widgets.filter((cell) => cell.model.type === 'code')"


@pytest.fixture
def checkout(tmp_path):
    """A clone of the work tree whose environment is that of these tests."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    clones.copy(folder)
    clones.commit(folder)
    clones.stand_in(folder)
    return folder


def test_what_lab_writes_on_saving_is_what_is_committed(checkout, tmp_path):
    """JupyterLab saves every two minutes, whether somebody asks for it or not."""
    name = "notebooks/20_preflight.ipynb"
    home = tmp_path / "home"
    home.mkdir()
    written = (checkout / name).stat().st_mtime_ns
    with (
        jupyterlab(checkout, home, [f"{checkout}/run", "lab"]) as address,
        chromium.browse(address.format(name), tmp_path / "chromium") as page,
    ):
        page.wait(f"{PANEL}?.sessionContext?.session?.kernel?.status == 'idle'")
        page.value("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
        page.wait(f"{CELLS}.every((cell) => cell.model.executionCount)")
        assert page.value(f"{CELLS}.some((cell) => cell.model.outputs.length)")
        page.value(f"{PANEL}.context.save()")
        assert page.value(f"{CELLS}.every((cell) => cell.model.executionCount)"), "still in sight"
        assert not page.errors
    assert (checkout / name).stat().st_mtime_ns != written
    asked = ["git", "-C", str(checkout), "status", "--porcelain", "notebooks"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == ""
