"""The trials of irregular cells: all of them, and only of those that rule 33 names."""

import numpy as np
import synthetic

from fsgreen.analysis.cells import cells_table
from fsgreen.figures import irregular, irregular_cells

CELLS = synthetic.cells(["webserver"], ["ext3", "xfs"])


def drawn(**odd_rates):
    trials = synthetic.trials_frame(CELLS, blocks=12, scatter=0.02)
    for file_system, rates in odd_rates.items():
        of = trials["file_system"] == file_system
        trials.loc[of, "throughput_ops_s"] = np.asarray(rates, dtype=float)
    cells = cells_table(trials, synthetic.BOUNDS)
    return cells, irregular_cells(cells, trials, synthetic.make_plan(CELLS).constants)


def test_every_trial_of_an_odd_cell_is_shown():
    """A mean of 112 of which eleven trials of twelve know nothing."""
    rates = [100, 101, 99, 100.5, 99.5, 102, 98, 100, 101, 99, 100, 300]
    cells, figure = drawn(xfs=rates)
    assert irregular(cells)["file_system"].tolist() == ["xfs"]
    (axes,) = figure.axes
    (shown, _median) = axes.get_lines()
    assert sorted(shown.get_xdata()) == sorted(np.array(rates) / np.median(rates))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["webserver xfs default"]
    assert axes.texts[0].get_text().startswith("long-tailed, ")


def test_without_an_odd_cell_the_figure_says_so():
    _, figure = drawn()
    assert "No cell shows" in figure.axes[0].texts[0].get_text()
