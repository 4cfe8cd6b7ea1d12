"""Figures of fast10: what is shown, what is marked, and what is missing."""

import pytest
import synthetic
from synthetic_fast10 import CELLS, PRINTED, campaign, tables

from fsgreen import design
from fsgreen.analysis.scatter import Scatters
from fsgreen.analysis.tables import as_shown
from fsgreen.confounds import KNOWN, Gate, Size
from fsgreen.figures.confounds import FLAG
from fsgreen.papers.fast10.elsewhere import SIGN
from fsgreen.papers.fast10.figures import (
    configurations,
    cpu_split,
    options_then_and_now,
    power_by_load,
)
from fsgreen.papers.fast10.reference import WORKLOADS
from fsgreen.papers.fast10.tables.then_and_now import paired
from fsgreen.papers.fast10.tables.workloads import micro_benchmarks


def drawn(cells, trials, name="3a", workload="webserver", metric="throughput", gate=None):
    printed = PRINTED.bars(name)
    return configurations(cells, Scatters(trials), printed, workload, metric, "ext4", gate)


def bars(name, workload, metric, of=CELLS, **frame):
    trials, cells = campaign(of, **frame)
    return drawn(cells, trials, name, workload, metric)


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_modelled_power_is_labelled():
    """Rule 19 in every figure with power: on the axis and in a box; never where a meter was."""
    for frame in ({}, {"boundary": "wall"}):
        _, cells = campaign(**frame)
        for figure in (
            power_by_load(cells, PRINTED.points("1")),
            bars("3b", "webserver", "efficiency", **frame),
        ):
            assert ("modelled power" in texts(figure)) == (not frame)
            assert frame.get("boundary", "modelled") in figure.axes[0].get_ylabel()


def test_published_values_stand_beside_ours():
    """Figure 3a: a diamond for each published bar shown, relative to the same bar as ours."""
    figure = bars("3a", "webserver", "throughput", speed={"webserver-ext3-dtlg": 0.73}, scatter=0)
    labels = [label.get_text() for label in figure.axes[1].get_xticklabels()]
    assert labels == ["Ext2", "Ext3", "Ext3 dtlg", "Ext3 wrbck", "Reiserfs", "XFS"]
    assert "n/a" in texts(figure)
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert heights[2] / heights[1] == pytest.approx(0.73, rel=1e-3)


def test_ratios_have_intervals_of_ratios():
    """Block effects that both cells share must not widen the interval of their ratio."""
    figure = bars("3a", "webserver", "throughput", scatter=0.3, seed=2)
    spans = [
        segment
        for container in figure.axes[1].containers
        for segment in container.lines[2][0].get_segments()
    ]
    (xfs,) = [span for span in spans if span[0][0] == pytest.approx(5 - 0.17)]
    assert xfs[:, 1].tolist() == [1, 1]


def small_print(figure):
    return " ".join(figure.get_supxlabel().split())


def test_few_blocks_promise_no_interval_that_they_cannot_give():
    """The small print named intervals "for ratios with 5 blocks or more", of two blocks."""
    said = {2: "no interval: 2 trials;", 3: "95 % intervals (ratios: no interval: 3 blocks);"}
    for blocks, begin in said.items():
        trials, cells = campaign(blocks=blocks)
        assert small_print(drawn(as_shown(cells), trials)).startswith(begin)
    assert "(ratios:" not in small_print(bars("3a", "webserver", "throughput"))
    _, effects = tables(blocks=2)
    assert small_print(options_then_and_now(paired(PRINTED.table2, effects))) == (
        "no interval: 2 blocks"
    )


def test_a_figure_says_to_which_file_system_its_ratios_are():
    """They are to XFS beside published ones, where all other comparisons are with ext4."""
    trials, cells = campaign()
    given = Scatters(trials), PRINTED.bars("3a"), "webserver", "throughput"
    labels = {}
    for baseline in ("ext4", "ext3"):
        figure = configurations(cells, *given, baseline)
        labels[baseline] = figure.axes[1].get_ylabel().split("\n")[1], small_print(figure)
    name, told = labels["ext4"]
    assert name == "XFS default"
    assert "ratios to XFS, which fast10 measured, too; the baseline of the study is Ext4" in told
    name, told = labels["ext3"]
    assert name == "Ext3 default"
    assert "baseline of the study" not in told


def test_figure_1_shows_limited_file_systems_only():
    """Two file systems have load levels, so two lines."""
    _, cells = campaign()
    legend = power_by_load(cells, PRINTED.points("1")).axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["idle", "Ext2", "XFS"]


def test_a_campaign_without_the_cells_says_so():
    """The quick profile may lack a workload: an honest sentence instead of a figure."""
    only = [design.Cell(workload="oltp", file_system="ext4")]
    _, cells = campaign(only)
    for figure in (
        power_by_load(cells, PRINTED.points("1")),
        cpu_split(cells),
        bars("4a", "fileserver", "throughput", only),
    ):
        assert "This campaign has no" in texts(figure)[0]
    alone = bars("6a", "oltp", "throughput", only)
    assert any("no default file system of fast10" in text for text in texts(alone))


def test_a_figure_marks_what_is_no_mean_and_what_promises_too_much():
    """Rules 24 and 31 where most people look."""
    trials, cells = campaign()
    web = cells["workload"].eq("webserver") & cells["load_ops_s"].isna()
    cells.loc[web & cells["file_system"].eq("xfs"), "state"] = "inconsistent"
    cells["starred"] = web & cells["option"].eq("dtlg")
    figure = drawn(cells, trials)
    assert [text for text in texts(figure) if text in ("*", "no steady state")] == [
        "*",
        "no steady state",
    ]


def test_a_number_outside_the_interval_is_a_filled_point():
    """Who looks at the figure alone must see which numbers lie outside."""
    _, effects = tables(speed={"webserver-ext3-dtlg": 0.73}, scatter=0.01)
    figure = options_then_and_now(paired(PRINTED.table2, effects))
    fills = {
        line.get_markerfacecolor() for line in figure.axes[0].lines if line.get_marker() == "v"
    }
    assert len(fills) == 2
    assert "white" in fills
    none = options_then_and_now(paired(PRINTED.table2, effects.iloc[:0]))
    assert "no option" in " ".join(texts(none))


def test_what_was_in_another_state_is_no_bar_like_the_others():
    """Who compared a file server that memory answered with the print took it for a result."""
    trials, cells = campaign()
    cells = as_shown(cells)
    printed, apart = PRINTED.bars("3a"), {("webserver", "ext3", "dtlg")}
    of = (cells, Scatters(trials), printed, "webserver", "throughput", "ext4", None)
    figure = configurations(*of, apart)
    names = [label.get_text() for label in figure.axes[1].get_xticklabels()]
    assert [name for name in names if SIGN in name] == [f"Ext3 dtlg {SIGN}"]
    assert f"{SIGN}: in another state than fast10's claims ask for" in small_print(figure)
    assert SIGN not in small_print(configurations(*of))
    _, effects = tables()
    pale = options_then_and_now(paired(PRINTED.table2, effects, apart))
    assert "pale: in another state" in small_print(pale)
    assert {line.get_alpha() for line in pale.axes[0].lines} >= {1, 0.35}
    assert "pale" not in small_print(options_then_and_now(paired(PRINTED.table2, effects)))


def test_intervals_of_many_ratios_are_said_to_be_uncorrected():
    """Of forty points some lie outside by chance, and the figure did not say so."""
    _, effects = tables()
    told = small_print(options_then_and_now(paired(PRINTED.table2, effects)))
    assert told.startswith("95 % intervals, not corrected for their number; filled:")
    beside = small_print(bars("3a", "webserver", "throughput"))
    assert "those of ratios not corrected for their number" in beside


def test_a_file_system_without_a_colour_is_shown_under_its_name(monkeypatch):
    """A directory is measured on whatever it lies on: overlay in a container, tmpfs elsewhere."""
    monkeypatch.setitem(synthetic.SPEED, "overlay", 1.0)
    loads = [
        design.Cell(workload="webserver", file_system="overlay", load_ops_s=x) for x in (2e3, 5e3)
    ]
    here = [*synthetic.cells(WORKLOADS, ["overlay"]), *loads]
    _, cells = campaign(here)
    assert "overlay" in [
        text.get_text()
        for text in power_by_load(cells, PRINTED.points("1")).axes[0].get_legend().get_texts()
    ]
    labels = cpu_split(cells).axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == ["overlay"]
    labels = bars("3a", "webserver", "throughput", here).axes[1].get_xticklabels()
    assert labels[-1].get_text() == "overlay"
    assert "overlay" in micro_benchmarks(cells).columns


def test_a_ratio_that_a_confound_may_have_made_is_marked():
    """Where the read-ahead of Ext3 was another, its bar is not to be read as the file system's."""
    trials, cells = campaign()
    rows = trials.assign(**dict.fromkeys(KNOWN, "alike"))
    rows.loc[rows["file_system"] == "ext3", "read-ahead"] = "0 KiB"
    gate = Gate(rows, dict.fromkeys(KNOWN, Size(900.0, 800.0, 1000.0, 1.0, 0.001)))
    bare = drawn(cells, trials)
    held = Gate(trials.assign(**dict.fromkeys(KNOWN, "alike")), {})
    for of, marks in ((held, 0), (gate, 3)):
        figure = drawn(cells, trials, gate=of)
        assert texts(figure).count(FLAG) == marks
    assert texts(bare).count(FLAG) == 0
