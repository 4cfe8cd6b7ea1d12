"""The notebook of the explorer in a real JupyterLab in a real browser: what a person sees."""

import json

import pytest

from fsgreen import paths
from tests.view import chromium, explored
from tests.view.charts import CELLS, SAYS, TRIAL, TRIALS, click, items
from tests.view.lab import PANEL, jupyterlab

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.skipif(chromium.program() is None, reason="no Chromium: apt install chromium"),
]

PROMPTS = "[...document.querySelectorAll('.jp-InputPrompt')]"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    data, home, profile, folder = (
        tmp_path_factory.mktemp(name) for name in ("data", "home", "chromium", "notebooks")
    )
    notebook = json.loads((paths.notebooks() / "01_explore.ipynb").read_text())
    text = json.dumps(notebook).replace(
        'campaign: str = \\"fast10\\"', 'campaign: str = \\"small\\"'
    )
    (folder / "01_explore.ipynb").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(data))
        explored.measure("small", ("varmail",))
        explored.judge("small")
        with (
            jupyterlab(folder, home) as address,
            chromium.browse(address.format("01_explore.ipynb"), profile) as page,
        ):
            page.wait(f"{PANEL}?.sessionContext?.session?.kernel?.status == 'idle'")
            page.value("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
            page.wait("document.body.textContent.includes('As published')")
            # JupyterLab takes the focus to the notebook once all of it has run.
            page.wait(f"!{PROMPTS}.some((prompt) => prompt.textContent.includes('*'))")
            yield page


def choose_by_keys(page, *keys):
    """Go to the first cell and press keys; with Shift where a name begins with it."""
    page.value(f"{CELLS}.querySelector('.item').focus()")
    for name in keys:
        key(page, name.removeprefix("Shift+"), shift=name.startswith("Shift+"))


def key(page, name, shift=False):
    """Press and release a key."""
    code = {"Enter": 13, "ArrowDown": 40}[name]
    said = {"key": name, "code": name, "windowsVirtualKeyCode": code, "modifiers": 8 * shift}
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, **said)


def test_bars_show_the_values_of_the_cells_the_best_first(page):
    rows = page.value(items(CELLS))
    assert [row.split(":")[0] for row in rows] == ["ext4", "xfs", "ext2"]
    assert rows[0].startswith("ext4: 200 ops/s, 95 % interval from 19")
    wide = page.value(
        f"[...{CELLS}.querySelectorAll('.bar')].map((bar) => Number(bar.getAttribute('width')))"
    )
    assert wide[0] / wide[1] == pytest.approx(2, rel=0.03), "a bar is as long as its value"
    assert not page.errors


def test_two_cells_are_compared_in_words_that_a_person_reads(page):
    text = page.value(f"{SAYS}.join(' ')")
    assert "ext4 does 2 [" in text and "times as many operations per second as xfs" in text
    checks = page.value("document.body.textContent")
    assert "Is there a difference?yesdifferent: p < 0.001" in checks
    assert "Were watts measured?nothey are modelled" in checks


def test_a_click_leads_from_a_bar_to_its_trials_and_to_the_traces_of_one(page):
    page.until(
        lambda: click(page, f"{CELLS}.querySelectorAll('.item')[1]"),
        f"{SAYS}.some((text) => text.startsWith('5 trials of xfs: from 98'))",
    )
    dots = page.value(items(TRIALS))
    assert len(dots) == explored.BLOCKS and all("xfs" in dot for dot in dots)
    name = dots[2].split(",")[0].removeprefix("trial ")
    page.until(
        lambda: click(page, f"{TRIALS}.querySelectorAll('.item')[2]"),
        f"{SAYS}.some((text) => text.startsWith('Trial {name} of small: 10 s measured'))",
    )
    seen = page.value(f"{TRIAL}.textContent")
    for word in ("power (W)", "work (ops/s)", "processors (%)", "device (B/s)", "measure", "flush"):
        assert word in seen
    assert "modelled power" in seen


def test_all_of_it_can_be_done_from_the_keyboard(page):
    page.until(
        lambda: choose_by_keys(page, "Enter"),
        f"{SAYS}.some((text) => text.startsWith('5 trials of ext4'))",
    )
    # As the study compares them.
    page.until(
        lambda: choose_by_keys(page, "ArrowDown", "ArrowDown", "Shift+Enter"),
        f"{SAYS}.some((text) => text.startsWith('ext2 does 0.249 ['))",
    )
    pressed = f"[...{CELLS}.querySelectorAll('.item')].map((i) => i.getAttribute('aria-pressed'))"
    assert page.value(pressed) == ["true", "false", "true"]
    letters = f"[...{CELLS}.querySelectorAll('.letter')].map((letter) => letter.textContent)"
    assert page.value(letters) == ["A", "", "B"], "colour alone would not do"


def test_another_measure_redraws_the_bars(page):
    page.value(
        """(() => {
            const select = [...document.querySelectorAll('select')].find((s) =>
                [...s.options].some((o) => o.textContent === 'watts'));
            select.selectedIndex = [...select.options].findIndex((o) => o.textContent === 'watts');
            select.dispatchEvent(new Event('change', { bubbles: true }));
        })()"""
    )
    page.wait(f"{items(CELLS)}[0].startsWith('ext2: 205 W')")
    assert "modelled power" in page.value(f"{CELLS}.textContent")


def test_a_button_shows_the_lines_of_pandas(page):
    page.value("document.querySelector('.fsgreen-view button').click()")
    page.wait("!!document.querySelector('.fsgreen-lines')")
    lines = page.value("document.querySelector('.fsgreen-lines').textContent")
    assert "cells = pd.concat([as_shown(fsgreen.open(name).cells)" in lines and "'power_w'" in lines


def test_the_verdict_on_every_claim_is_in_sight_at_1400_px(page):
    """Beside long statements it stood where one had to scroll to."""
    page.resize(1400, 900)
    heads = """[...document.querySelectorAll('table.fsgreen-table')].flatMap((table) =>
        [...table.querySelectorAll('th')].filter((head) => head.textContent === 'verdict'))"""
    of_claims = page.wait(
        f"""(({heads}).map((head) => {{
            const output = head.closest('.jp-OutputArea-output').getBoundingClientRect();
            const column = head.getBoundingClientRect();
            return [column.left, column.right, output.right, head.cellIndex];
        }})).filter(([left]) => left)"""
    )
    assert of_claims
    for left, right, seen, _ in of_claims:
        assert 0 < left < right <= seen <= 1400
    assert of_claims[0][3] == 0, "the answer stands first"


def test_text_and_bars_stand_out_in_a_dark_theme(page):
    colours = (
        f"(() => {{ const s = getComputedStyle({CELLS}); return [s.color, s.backgroundColor]; }})()"
    )
    light = page.value(colours)
    page.value(
        "window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
    )
    page.wait(
        f"JSON.stringify({colours}) !== {json.dumps(json.dumps(light, separators=(',', ':')))}"
    )
    for text, background in (light, page.value(colours)):
        assert contrast(text, background) >= 4.5, "WCAG 2.2, 1.4.3"
    outline = page.value(f"getComputedStyle({CELLS}.querySelector('.bar')).stroke")
    assert contrast(outline, page.value(colours)[1]) >= 3, "WCAG 2.2, 1.4.11"
    assert not page.errors


def contrast(one, other):
    """The contrast of two colours as a browser writes them (WCAG 2.2)."""
    light, dark = sorted(map(luminance, (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    """The relative luminance of `rgb(1, 2, 3)` or `rgba(1, 2, 3, 0.87)`, which counts as opaque."""
    parts = [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    steps = [part / 255 for part in parts]
    linear = [
        step / 12.92 if step <= 0.04045 else ((step + 0.055) / 1.055) ** 2.4 for step in steps
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
