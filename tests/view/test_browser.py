"""The view in a real JupyterLab in a real browser."""

import time

import pytest

from tests.view import chromium
from tests.view.lab import PANEL, jupyterlab, write_notebook

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.skipif(chromium.program() is None, reason="no Chromium: apt install chromium"),
]

# Frames must come while a cell runs, as in a notebook that measures.
CELLS = (
    """
from fsgreen.view import Synthetic, live
view = live(Synthetic(10_000.0, duration_s=3600, spike_w=400), span_s=30.0)
""",
    """
import time
from pathlib import Path
while not Path("seen").exists():
    time.sleep(0.05)
""",
    "view.close()",
)

ROOT = "document.querySelector('.fsgreen-live')"
FRAMES = f"Number({ROOT}?.dataset.frames ?? 0)"
STATUS = f"{ROOT}.querySelector('.status').textContent"
RANGE = f"{ROOT}.dataset.range.split(' ').map(Number)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Of the notebook."""
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def page(folder, tmp_path_factory):
    home, profile = (tmp_path_factory.mktemp(name) for name in ("home", "chromium"))
    write_notebook(folder / "live.ipynb", CELLS)
    with (
        jupyterlab(folder, home) as address,
        chromium.browse(address.format("live.ipynb"), profile) as page,
    ):
        page.wait(f"{PANEL}?.sessionContext?.session?.kernel?.status == 'idle'")
        run(page, 0)
        page.wait(f"{FRAMES} >= 3")
        yield page


def press(page, *keys):
    """Press keys in the view."""
    page.value(f"{ROOT}.focus()")
    for key in keys:
        page.call("Input.dispatchKeyEvent", type="keyDown", key=key)


def run(page, cell):
    """Start a cell; its end is not awaited."""
    page.value(f"void ({PANEL}.content.activeCellIndex = {cell})")
    page.value("void window.jupyterapp.commands.execute('notebook:run-cell')")


def blue(page):
    """How many pixels of the first panel have the colour of the first meter."""
    return page.value(
        f"""(() => {{
            const {{ width, height }} = {ROOT}.querySelector('canvas');
            const context = {ROOT}.querySelector('canvas').getContext('2d');
            const data = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
            return data.filter((pixel) => pixel === 0xffb27200).length;
        }})()"""
    )


def place(page):
    """Left, middle height and width of the area that is drawn on."""
    return page.value(
        f"""(() => {{
            {ROOT}.scrollIntoView();
            const box = {ROOT}.querySelector('.u-over').getBoundingClientRect();
            return [box.left, box.top + box.height / 2, box.width];
        }})()"""
    )


def test_frames_arrive_and_lines_are_drawn(page):
    before = page.value(FRAMES)
    page.wait(f"{FRAMES} > {before} + 5")
    assert blue(page) > 100
    assert not page.errors


def test_frames_arrive_while_a_cell_runs(page, folder):
    run(page, 1)
    running = "document.querySelectorAll('.jp-InputArea-prompt')[1].textContent.includes('*')"
    page.wait(running)
    before = page.value(FRAMES)
    page.wait(f"{FRAMES} > {before} + 10")
    assert page.value(running), "the frames waited for the end of the cell"
    (folder / "seen").touch()
    page.wait(f"!{running}")


def test_the_boundary_the_units_and_the_cost_can_be_read(page):
    text = page.value(f"{ROOT}.textContent")
    assert "modelled power" in text and "system, W (modelled)" in text and "work, ops/s" in text
    assert "ms of kernel time a frame" in page.value(STATUS)


def test_dragging_zooms_and_a_double_click_goes_back(page):
    left, middle, width = place(page)
    page.until(
        lambda: page.drag(left + 0.02 * width, middle, left + 0.06 * width),
        f"(([from, to]) => to - from < 2)({RANGE})",
    )
    zoomed = page.value(RANGE)
    time.sleep(0.5)
    assert page.value(RANGE) == zoomed, "what is zoomed stays while frames go on"
    page.until(
        lambda: page.double_click(left + 0.5 * width, middle),
        f"(([from, to]) => Math.abs(to - from - 30) < 0.1)({RANGE})",
    )


def test_keys_zoom_and_move(page):
    wide = "(([from, to]) => Math.abs(to - from - {}) < 0.1)({})".format
    page.until(lambda: press(page, "Escape", "+", "ArrowRight"), wide(15, RANGE))
    time.sleep(0.5)
    assert page.value(f"(([from, to]) => to - from)({RANGE})") == pytest.approx(15, abs=0.1)
    page.until(lambda: press(page, "Escape"), wide(30, RANGE))


def test_it_fits_the_page_and_follows_the_theme(page):
    def width():
        return page.value(f"{ROOT}.querySelector('.u-over').getBoundingClientRect().width")

    before = width()
    page.resize(800, 900)
    page.wait(f"{ROOT}.querySelector('.u-over').getBoundingClientRect().width < {before - 100}")
    light = page.value(f"getComputedStyle({ROOT}).color")
    page.value(
        "window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
    )
    page.wait(f"getComputedStyle({ROOT}).color != '{light}'")


def test_a_closed_view_leaves_its_picture(page):
    run(page, 2)
    page.wait(f"!{ROOT} && !!document.querySelector('.jp-OutputArea img')")
    assert not page.errors
