"""Cells as people are shown them: two trials give no interval."""

import pytest
import synthetic

from fsgreen.analysis.cells import cells_table, rate_text
from fsgreen.analysis.tables import as_shown, interval_text
from fsgreen.figures import cell_rows

NAMES = ["ext4", "xfs"]


@pytest.mark.parametrize(
    ("blocks", "said"), [(2, "no interval: 2 trials; "), (3, "95 % intervals; ")]
)
def test_two_trials_have_no_interval_in_a_figure_or_in_print(blocks, said):
    """It reached thirteen standard errors to each side, in figures that called it 95 %."""
    trials = synthetic.trials_frame(synthetic.cells(["webserver"], NAMES), blocks=blocks)
    cells = as_shown(cells_table(trials, synthetic.BOUNDS))
    figure = cell_rows(cells, NAMES)
    assert figure.get_supxlabel().startswith(said)
    drawn = {mark.has_xerr for axes in figure.axes for mark in axes.containers}
    assert drawn == {blocks > 2}
    for cell in cells.to_dict("records"):
        texts = [rate_text(cell), interval_text(cell, "efficiency", "ops_j")]
        assert ["[" in text for text in texts] == [blocks > 2] * 2
        assert cell["throughput_ops_s"] > 0
