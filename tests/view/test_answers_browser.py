"""The answers of notebooks in a real JupyterLab at 1400 px: in sight without scrolling sideways."""

import os
import shutil

import pytest

from fsgreen import paths
from tests.view import chromium, explored
from tests.view.lab import PANEL, jupyterlab

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.slow,
    pytest.mark.skipif(chromium.program() is None, reason="no Chromium: apt install chromium"),
    pytest.mark.skipif(
        "FSGREEN_NIGHTLY" not in os.environ,
        reason="JupyterLab, Chromium and three notebooks take a minute: FSGREEN_NIGHTLY=1 ./run "
        "test tests/view/test_answers_browser.py",
    ),
]

NAMES = ("60_analyse", "80_claims", "95_ledger")
CAMPAIGNS = ("fast10", "fast10-options")
"""Two that the pipeline analyses, as the ledger is over those."""
ENDED = f"""(() => {{
    const cells = {PANEL}.content.widgets.filter((cell) => cell.model.type === 'code');
    const prompts = cells.map((cell) => cell.inputArea.promptNode.textContent);
    return cells.every((cell) => cell.model.executionCount) && !prompts.join().includes('*');
}})()"""
TABLES = """[...document.querySelectorAll('table.fsgreen-table')].map((table) => {
    const heads = [...table.querySelectorAll('th')];
    const answer = heads.find((head) => ['verdict', 'outcome', 'state'].includes(head.textContent));
    const seen = table.closest('.jp-OutputArea-output').getBoundingClientRect();
    return {
        heads: heads.map((head) => head.textContent),
        answer: answer?.textContent ?? null,
        right: (answer ?? table).getBoundingClientRect().right,
        wide: table.getBoundingClientRect().right,
        seen: seen.right,
        aligned: getComputedStyle(table.querySelector('td')).textAlign,
    };
})"""
"""Where tables and their answers end, and where that ends of which a person sees something."""


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Opens a notebook at 1400 px, and high enough that Lab keeps all of its outputs."""
    data, home, folder = (tmp_path_factory.mktemp(name) for name in ("data", "home", "notebooks"))
    for name in NAMES:
        shutil.copy(paths.notebooks() / f"{name}.ipynb", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(data))
        for name in CAMPAIGNS:
            explored.measure(name)
            explored.judge(name, shipped=True)
        with jupyterlab(folder, home) as address:

            def tables(name):
                profile = tmp_path_factory.mktemp("chromium")
                # Without a reset Lab opens the notebook of the test before, too, and as the first.
                place = address.format(f"{name}.ipynb") + "&reset"
                with chromium.browse(place, profile) as page:
                    page.resize(1400, 9000)
                    page.wait(f"{PANEL}?.sessionContext?.session?.kernel?.status == 'idle'")
                    page.value("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
                    page.wait(ENDED)
                    page.wait(f"{TABLES}.length")
                    return page.value(TABLES)

            yield tables


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_of_every_table_is_in_sight_at_1400_px(opened, name):
    """A column that one has to scroll to is one that nobody reads."""
    tables = opened(name)
    answers = [table for table in tables if table["answer"]]
    assert answers, "a notebook without an answer would pass"
    for table in tables:
        assert table["aligned"] == "left", "JupyterLab sets texts to the right"
    for table in answers:
        assert table["right"] <= table["seen"] <= 1400, table
