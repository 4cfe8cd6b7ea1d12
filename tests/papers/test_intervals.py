"""What a report says of its intervals: how often they cover, and which to doubt."""

import pandas as pd
import pytest
import synthetic

from fsgreen import design
from fsgreen.papers.cells import cells_table
from fsgreen.papers.effects import Config, effects_table
from fsgreen.papers.intervals import intervals
from fsgreen.stats import coverage

CELLS = synthetic.cells(["webserver"], ["ext2", "ext3", "xfs"])
PAIRS = [("file system", "webserver", Config("ext2"), Config("ext3"))]


def said(blocks=5, sequential=False, **frame):
    trials = synthetic.trials_frame(CELLS, blocks=blocks, **frame)
    cells = cells_table(trials, synthetic.BOUNDS, sequential=sequential)
    return intervals(cells, effects_table(trials, PAIRS, synthetic.BOUNDS), sequential=sequential)


@pytest.mark.parametrize("sequential", [False, True])
def test_the_report_says_how_often_its_intervals_cover(sequential):
    """Rates are those of the simulated table; one below the promise is called short."""
    estimator = "ratio of totals" + (", sequential stop" if sequential else "")
    shown = said(sequential=sequential)
    (row,) = [row for row in shown["rows"] if row[0].startswith("work per second")]
    assert row[1] == "3"
    for text, distribution in zip(row[2:], ("normal", "log-normal"), strict=False):
        percent = coverage.rate_percent(estimator, distribution, 5)
        assert text.startswith(f"{percent:.0f} %")
        assert text.endswith("short") == (percent < coverage.SHORT_PERCENT)
    assert any("5 trials cannot show a long tail" in note for note in shown["notes"])


def test_fewer_trials_than_were_simulated_are_unknown():
    """Two trials must not borrow the coverage of five, and two cells then have no interval."""
    shown = said(blocks=2)
    assert {text for row in shown["rows"] for text in row[2:]} == {"unknown"}
    assert not any(row[0].startswith("differences") for row in shown["rows"])


def test_comparisons_are_counted_by_what_they_rest_on():
    """A reader of an interval by two cells alone must see the rate for a wild one of them."""
    trials = synthetic.trials_frame(CELLS)
    cells = cells_table(trials, synthetic.BOUNDS)
    effects = pd.DataFrame(
        {"ratio_low_x": [1.0, 1.0, 1.0], "model": ["mixed model", "bootstrap", "bootstrap"]}
    )
    rows = intervals(cells, effects, sequential=False)["rows"]
    counts = {row[0]: row[1] for row in rows if row[0].startswith("differences")}
    assert list(counts.values()) == ["1", "2", "2"]


def test_a_campaign_that_compares_nothing_has_no_intervals_of_differences():
    cells = cells_table(
        synthetic.trials_frame([design.Cell("webserver", "ext4")]), synthetic.BOUNDS
    )
    none = effects_table(synthetic.trials_frame(CELLS), [], synthetic.BOUNDS)
    rows = intervals(cells, none, sequential=False)["rows"]
    assert [row[0] for row in rows] == ["work per second, work per joule", "power, energy"]
