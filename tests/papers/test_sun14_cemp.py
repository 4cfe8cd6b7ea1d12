"""Cemp of sun14: the pairs that lead here are found from cells, and stand beside those in print."""

import math

import pandas as pd
import pytest
import synthetic
from matplotlib.patches import Rectangle

from fsgreen import reduce
from fsgreen.analysis.cells import cells_table
from fsgreen.papers.sun14 import cemp
from fsgreen.papers.sun14.disk import RANGE, of_disk, with_range
from fsgreen.papers.sun14.reference import LEADERS, WORKLOADS, Printed, pairs

PRINTED = Printed.load()
RAN = [
    cell
    for workload in WORKLOADS
    for cell in pairs(workload)
    if cell["file_system"] in ("ext2", "ext3", "xfs")
]
FAST, SAVING = ("xfs", "deadline"), ("ext2", "none")
"""The pairs that are made to do most, and to draw least."""


def trials():
    return synthetic.frame_of(
        RAN,
        lambda cell: 2.0 if (cell["file_system"], cell["scheduler"]) == FAST else 1.0,
        lambda cell: 1.0 if (cell["file_system"], cell["scheduler"]) == SAVING else 1.9,
        "modelled",
    )


def bins_of(table):
    """Power over time as `of_disk` gives it: half a watt down and up around the mean."""
    parts = (table.assign(time_s=s, power_w=table["power_w"] + w) for s, w in ((1, -0.5), (2, 0.5)))
    return pd.concat(parts)


@pytest.fixture(scope="module")
def cells():
    return cells_table(trials(), synthetic.BOUNDS)


def test_the_pair_that_leads_here_is_that_of_the_numbers(cells):
    found = cemp.leaders(cells, "fileserver", PRINTED)
    here = {leader.metric: leader.pair for leader in found if leader.here}
    assert here == {"throughput": FAST, "power": SAVING, "efficiency": FAST}
    assert {leader.metric: leader.pair for leader in found if not leader.here} == LEADERS[
        "fileserver"
    ]
    assert [leader.printed_w for leader in found if not leader.here] == [
        ((1.8, 2.4),),
        ((0.7, 2.2),),
        ((1.8, 2.4),),
    ]


def test_a_pair_without_a_steady_state_does_not_lead(cells):
    """Rule 24: its mean is that of what changes."""
    fast = cells["file_system"].eq(FAST[0]) & cells["scheduler"].eq(FAST[1])
    moving = cells.assign(state=cells["state"].mask(fast, "inconsistent"))
    first, *_ = cemp.leaders(moving, "varmail", PRINTED)
    assert first.here and first.pair != FAST
    none = cells.assign(state="inconsistent")
    assert not any(leader.here for leader in cemp.leaders(none, "varmail", PRINTED))
    drawn = cemp.over_time(none, bins_of(trials()), "varmail", PRINTED)
    assert said(drawn)[0] == "no pair has a steady state"


def said(figure):
    return ["\n".join(text.get_text() for text in axes.texts) for axes in figure.axes]


@pytest.mark.parametrize(
    ("workload", "bands"), [("varmail", [1, 2, 2]), ("fileserver", [1] * 3), ("webserver", [1] * 3)]
)
def test_a_figure_has_what_runs_here_beside_the_printed_ranges(cells, workload, bands):
    """NILFS2 draws least in print, and did not run: its panel says so and has the range alone."""
    drawn = cemp.over_time(cells, bins_of(trials()), workload, PRINTED)
    spans = [sum(isinstance(one, Rectangle) for one in axes.patches) for axes in drawn.axes]
    assert spans == [0, 0, 0, *bands]
    lines = [len(axes.patches) - count for axes, count in zip(drawn.axes, spans, strict=True)]
    lacks = LEADERS[workload]["power"][0] == "nilfs2"
    assert lines == [5, 5, 5, 5, 0 if lacks else 5, 5]
    assert said(drawn)[4].endswith("\nnot run") == lacks
    assert said(drawn)[0].startswith("XFS under Deadline\n") and "ops/s" in said(drawn)[0]
    assert said(drawn)[1].splitlines()[-1].endswith(" W")
    small_print = " ".join(drawn.get_supxlabel().split())
    assert "means of 1 s;" in small_print and "over 600 s; boundary here: modelled" in small_print


def test_the_table_has_between_which_watts_power_moves(cells):
    table = cemp.table(cells, bins_of(trials()), PRINTED)
    rows = table.set_index(["workload", "criterion", "leads"])
    assert len(table) == len(WORKLOADS) * len(cemp.CRITERIA) * 2
    here, there = (rows.loc[("webserver", "lowest power", leads)] for leads in ("here", "in print"))
    assert (here["pair"], here["moves (W)"]) == ("Ext2 under NOOP", "0.5 to 1.5")
    assert (there["W"], there["moves (W)"]) == ("not run", "not run")
    assert there["printed (W)"] == "0.6574 to 2.1737"


def test_a_caption_names_the_pairs(cells):
    text = cemp.caption(cells, "varmail", PRINTED)
    assert text.startswith("Figure 6 (Cemp)")
    assert "Highest performance: XFS under Deadline here, Ext3 under NOOP in print;" in text


def test_power_over_time_of_another_meter_is_left_out(tmp_path, monkeypatch):
    """The machine around the SSD draws twenty times as much."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    synthetic.write_raw("small", synthetic.make_plan())
    reduce.write("small")
    bins = of_disk("small")
    assert {*bins["power_w"]} == {10.0}
    assert len(bins) == 4 * 5 and {"workload", "file_system", "scheduler"} <= {*bins}


def test_a_trial_moves_from_its_least_to_its_greatest_bin():
    table = trials()
    lacking = bins_of(table).query("trial != 'b01-001'")
    moves_w = with_range(table, lacking).set_index("trial")[RANGE]
    assert math.isnan(moves_w.pop("b01-001")), "no bins, which is not a power that stands still"
    assert moves_w.tolist() == pytest.approx([1.0] * len(moves_w))
    assert with_range(table, lacking.head(0))[RANGE].isna().all()


def test_a_campaign_without_the_workload_says_so(cells):
    drawn = cemp.over_time(cells, bins_of(trials()).head(0), "varmail", PRINTED)
    assert "no power over time of varmail" in drawn.axes[0].texts[0].get_text()
