"""What the documentation shows of the notebooks: each picture is made of the page that it is of."""

import io
import os
import shutil
from contextlib import contextmanager

import pytest
from PIL import Image

from fsgreen import paths, reduce
from fsgreen.analysis import standard
from tests import shipped
from tests.patience import BOUNDS
from tests.view import chromium, composed
from tests.view.lab import PANEL, jupyterlab, write_notebook
from tests.view.test_browser import CELLS as LIVE
from tests.view.widgets import LINES, TEXT, choose, press

MADE = {"explore-cells", "explore-effect", "cockpit-plan", "cockpit-run", "live-view"}
RENEW = "FSGREEN_PICTURES=docs/pictures ./run test tests/view/test_screenshots.py"
"""The command that makes all of them anew (CONTRIBUTING.md)."""

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.slow,
    pytest.mark.skipif(chromium.program() is None, reason="no Chromium: apt install chromium"),
    pytest.mark.skipif(
        not {"FSGREEN_NIGHTLY", "FSGREEN_PICTURES"} & {*os.environ},
        reason=f"JupyterLab, Chromium and a trial take a minute: {RENEW}",
    ),
]
needs_engine = pytest.mark.skipif(
    paths.program("fsgreen-wml") is None, reason="needs the engine: ./run engine"
)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with the notebooks, and with a part of a campaign that ships."""
    folder = tmp_path_factory.mktemp("project")
    shipped.mail_server(folder / "data")
    with pytest.MonkeyPatch.context() as patch:
        composed.project(folder, patch)
        shutil.copy(paths.code() / "studies" / "fast10.yaml", folder / "studies")
        reduce.write("fast10")
        standard.write("fast10")
        for name in ("01_explore", "02_cockpit"):
            shutil.copy(paths.notebooks() / f"{name}.ipynb", folder)
        write_notebook(folder / "live.ipynb", LIVE[:1])
        yield folder


@pytest.fixture(scope="module")
def lab(project, tmp_path_factory):
    """Opens a notebook on a screen that is high enough for all of it."""
    with jupyterlab(project, tmp_path_factory.mktemp("home")) as address:

        @contextmanager
        def opened(name, width=1100):
            with chromium.browse(
                address.format(f"{name}.ipynb") + "&reset", tmp_path_factory.mktemp("chromium")
            ) as page:
                page.resize(width, 5000)
                page.wait(f"{PANEL}?.sessionContext?.session?.kernel?.status == 'idle'")
                page.value("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
                yield page

        yield opened


def output(nth):
    """What a cell of a notebook shows, the first is number 0."""
    cell = f'.jp-Cell[data-windowed-list-index="{nth}"]'
    return f"document.querySelector('{cell} .jp-OutputArea-output')"


def keep(page, name, *elements):
    """Take a picture, which must show something; write it where that is asked for."""
    image = Image.open(io.BytesIO(page.picture(*elements))).convert("RGB")
    darkest, lightest = image.convert("L").getextrema()
    assert darkest < 100 and lightest > 200, f"{name} shows nothing"
    assert not page.errors
    assert name in MADE
    if folder := os.environ.get("FSGREEN_PICTURES"):
        file = paths.code() / folder / f"{name}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        image.quantize(method=Image.Quantize.MAXCOVERAGE).save(file, optimize=True)


def test_the_explorer_shows_a_campaign_that_ships(lab):
    with lab("01_explore") as page:
        page.wait(f"{TEXT}.includes('Is there a difference?')")
        page.wait(f"{TEXT}.includes('varmail')")
        keep(page, "explore-cells", output(3), output(5))
        keep(page, "explore-effect", output(11), output(13))


@needs_engine
def test_the_cockpit_plans_and_measures(lab, project):
    with lab("02_cockpit") as page:
        press(page, "Save")
        page.wait(f"{TEXT}.includes('--name mine-quick')")
        choose(page, "testbed", "directory")
        press(page, "Plan")
        page.wait(f"{LINES}.some((text) => text.includes('2 cells x 2 blocks = 4 trials'))")
        keep(page, "cockpit-plan", output(6), output(8))
        with (project / "studies" / "mine.yaml").open("a") as study:
            study.write(f"{BOUNDS}\n")
        press(page, "Start")
        page.wait(rf"/now: b01-001-\S+power: .*\(modelled\)/.test({TEXT})")
        keep(page, "cockpit-run", output(10))
        press(page, "Pause")
        page.wait(f"{TEXT}.includes('mine-quick: paused')")


def test_the_live_view_moves(lab):
    with lab("live") as page:
        page.wait("Number(document.querySelector('.fsgreen-live')?.dataset.frames ?? 0) > 150")
        keep(page, "live-view", "document.querySelector('.fsgreen-live')")
