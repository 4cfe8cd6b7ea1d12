"""The explorer as a page of Voila in a real browser: without code, with the same values."""

import os
import shlex
import socket
import subprocess

import pytest

from tests import clones, documented
from tests.patience import LIMIT_S, wait_for
from tests.view import chromium, explored
from tests.view.charts import CELLS, SAYS, click, items

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.slow,
    pytest.mark.skipif(chromium.program() is None, reason="no Chromium: apt install chromium"),
    pytest.mark.skipif(
        "FSGREEN_NIGHTLY" not in os.environ,
        reason="installs Voila: FSGREEN_NIGHTLY=1 ./run test tests/view/test_voila.py",
    ),
]

INSTALL, SERVE = documented.tested("docs/explore.md")
"""What the page on the explorer says of Voila."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout with a small campaign and with Voila, installed as the page says."""
    folder = tmp_path_factory.mktemp("checkout")
    clones.copy(folder)
    clones.stand_in(folder)
    notebook = folder / "notebooks" / "01_explore.ipynb"
    begins = 'campaign: str = \\"fast10\\"'
    assert begins in notebook.read_text()
    notebook.write_text(notebook.read_text().replace(begins, begins.replace("fast10", "small")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(folder / "data"))
        explored.measure("small", ("varmail",))
        explored.judge("small")
    installed = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", INSTALL],
        cwd=folder,
        env=clones.environment(folder),
        capture_output=True,
        text=True,
    )
    if installed.returncode:
        pytest.skip(f"needs Voila from a package registry: {installed.stderr[-300:]}")
    return folder


@pytest.fixture(scope="module")
def page(checkout, tmp_path_factory):
    home, profile = (tmp_path_factory.mktemp(name) for name in ("home", "chromium"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = home / "voila.log"
    with log.open("wb") as said:
        server = subprocess.Popen(
            [*shlex.split(SERVE), "--no-browser", f"--port={port}"],
            cwd=checkout,
            env=clones.environment(checkout) | {"HOME": str(home)},
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(lambda: server.poll() is not None or "is running at" in log.read_text())
        assert server.poll() is None, log.read_text()
        with chromium.browse(f"http://localhost:{port}/", profile) as page:
            page.wait(f"{CELLS}?.querySelectorAll('.item').length")
            yield page
    finally:
        server.terminate()
        server.wait(LIMIT_S)


def test_the_page_has_the_values_of_the_cells_and_no_code(page):
    rows = page.value(items(CELLS))
    assert rows[0].startswith("ext4: 200 ops/s, 95 % interval from 19")
    assert "import" not in page.value("document.body.innerText")
    assert not page.errors


def test_a_click_leads_from_a_bar_to_its_trials(page):
    """Without its kernel the page would only be a picture."""
    page.until(
        lambda: click(page, f"{CELLS}.querySelectorAll('.item')[1]"),
        f"{SAYS}.some((text) => text.startsWith('5 trials of xfs: from 98'))",
    )
