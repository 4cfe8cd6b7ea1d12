"""What a report says of its intervals: how often they cover, and which to doubt."""

import pandas as pd
import pytest
import synthetic

from fsgreen import design
from fsgreen.analysis.cells import cells_table
from fsgreen.analysis.configuration import configuration
from fsgreen.analysis.effects import effects_table
from fsgreen.analysis.intervals import intervals
from fsgreen.stats import coverage

CELLS = synthetic.cells(["webserver"], ["ext2", "ext3", "xfs"])
PAIRS = [("file system", "webserver", configuration("ext2"), configuration("ext3"))]
NONE = pd.DataFrame()


def said(blocks=5, least_n=None, **frame):
    trials = synthetic.trials_frame(CELLS, blocks=blocks, **frame)
    cells = cells_table(trials, synthetic.BOUNDS, least_n=least_n)
    effects = effects_table(trials, PAIRS, synthetic.BOUNDS)
    return intervals(cells, effects, NONE, least_n=least_n)


@pytest.mark.parametrize("least_n", [None, 5])
def test_the_report_says_how_often_its_intervals_cover(least_n):
    """Rates are those of the simulated table; one below the promise is called short."""
    estimator = "ratio of totals" + ("" if least_n is None else ", sequential stop")
    shown = said(least_n=least_n)
    (row,) = [row for row in shown["rows"] if row[0].startswith("work per second")]
    assert row[1] == "3"
    for text, distribution in zip(row[2:], ("normal", "log-normal"), strict=False):
        percent = coverage.rate_percent(estimator, distribution, 5)
        assert text.startswith(f"{percent:.0f} %")
        assert text.endswith("short") == (percent < coverage.SHORT_PERCENT)
    assert any("5 trials cannot show a long tail" in note for note in shown["notes"])
    (power,) = [row for row in shown["rows"] if row[0].startswith("power")]
    assert (set(power[2:]) == {"not simulated"}) == (least_n is not None)


@pytest.mark.parametrize(("blocks", "n", "rows"), [(2, "None", 0), (7, "5", 4)])
def test_only_what_was_simulated_is_said_to_be(blocks, n, rows):
    """Two trials must not borrow the coverage of five; seven do, and the text says of which."""
    shown = said(blocks=blocks)
    assert (shown["fewest"], shown["n"], len(shown["rows"]) >= rows) == (str(blocks), n, True)
    assert bool(shown["rows"]) == bool(rows)


def test_comparisons_are_counted_by_what_they_rest_on():
    """A reader of an interval by two cells alone must see the rate for a wild one of them."""
    cells = cells_table(synthetic.trials_frame(CELLS), synthetic.BOUNDS)
    models = ["mixed model", "bootstrap", "bootstrap"]
    effects = pd.DataFrame({"ratio_low_x": [1.0, 1.0, 1.0], "model": models})
    combined = pd.DataFrame({"change_low_percent": [1.0, None]})
    rows = intervals(cells, effects, combined)["rows"]
    assert [row[1] for row in rows] == ["3", "3", "3", "", "2", "", "1"]
    wild = next(row for row in rows if "scatters more" in row[0])
    assert wild[4].endswith("short") and wild[3] == "not simulated"


def test_a_campaign_that_compares_nothing_has_no_intervals_of_differences():
    trials = synthetic.trials_frame([design.Cell(workload="webserver", file_system="ext4")])
    none = effects_table(synthetic.trials_frame(CELLS), [], synthetic.BOUNDS)
    rows = intervals(cells_table(trials, synthetic.BOUNDS), none, NONE)["rows"]
    assert [row[0] for row in rows] == ["work per second, work per joule", "power, energy"]
