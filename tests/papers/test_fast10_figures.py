"""Figures and tables of fast10: what is shown, what is marked, and what is missing."""

import re

import pytest
import synthetic

from fsgreen import design
from fsgreen.analysis.cells import cells_table
from fsgreen.analysis.comparisons import USUAL, pairs_of
from fsgreen.analysis.effects import effects_table
from fsgreen.analysis.scatter import TREATMENTS, Scatters
from fsgreen.analysis.tables import as_tex
from fsgreen.confounds import KNOWN, Gate, Size
from fsgreen.figures.confounds import FLAG
from fsgreen.papers.fast10.figures import (
    configurations,
    cpu_split,
    options_then_and_now,
    power_by_load,
)
from fsgreen.papers.fast10.reference import WORKLOADS, Printed
from fsgreen.papers.fast10.tables.effects import option_effects
from fsgreen.papers.fast10.tables.recommended import recommended
from fsgreen.papers.fast10.tables.then_and_now import agreement, paired, then_and_now
from fsgreen.papers.fast10.tables.workloads import micro_benchmarks, workload_parameters

PRINTED = Printed.load()
LOADS = [
    design.Cell(workload="webserver", file_system=fs, load_ops_s=x)
    for fs in ("ext2", "xfs")
    for x in (2e3, 5e3)
]
CELLS = [
    *synthetic.cells(WORKLOADS, ["ext2", "ext3", "xfs"]),
    *synthetic.cells(["webserver"], ["ext3"], ["dtlg", "wrbck"]),
    *LOADS,
]


def tables(of=CELLS, **frame):
    trials = synthetic.trials_frame(of, **frame)
    cells = cells_table(trials, synthetic.BOUNDS)
    return cells, effects_table(trials, pairs_of(trials, USUAL, TREATMENTS), synthetic.BOUNDS)


def bars(name, workload, metric, of=CELLS, **frame):
    trials = synthetic.trials_frame(of, **frame)
    cells = cells_table(trials, synthetic.BOUNDS)
    return configurations(cells, Scatters(trials), PRINTED.bars(name), workload, metric)


def table_3(unsteady=None, **frame):
    """The row of the web server, one cell of which may have no steady state."""
    trials = synthetic.trials_frame(CELLS, **frame)
    if unsteady:
        of = trials[list(unsteady)].eq(list(unsteady.values())).all(axis=1)
        trials.loc[of & trials["load_ops_s"].isna(), "steady"] = "no steady state"
    cells = cells_table(trials, synthetic.BOUNDS)
    table = recommended(PRINTED.table3, cells, Scatters(trials), "modelled")
    return table.set_index("workload").loc["webserver"]


GAIN = r"([\d.]+) \[([\d.]+), ([\d.]+)\]"


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_modelled_power_is_labelled():
    """Rule 19 in every figure with power: on the axis and in a box; never where a meter was."""
    for boundary, marked in (("modelled", True), ("wall", False)):
        cells, _ = tables(boundary=boundary)
        for figure in (
            power_by_load(cells, PRINTED.points("1")),
            bars("3b", "webserver", "efficiency", boundary=boundary),
        ):
            assert ("modelled power" in texts(figure)) == marked
            assert boundary in figure.axes[0].get_ylabel()


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


def test_figure_1_shows_limited_file_systems_only():
    """Two file systems have load levels, so two lines."""
    cells, _ = tables()
    legend = power_by_load(cells, PRINTED.points("1")).axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["idle", "Ext2", "XFS"]


def test_a_campaign_without_the_cells_says_so():
    """The quick profile may lack a workload: an honest sentence instead of a figure."""
    only = [design.Cell(workload="oltp", file_system="ext4")]
    cells, _ = tables(only)
    for figure in (
        power_by_load(cells, PRINTED.points("1")),
        cpu_split(cells),
        bars("4a", "fileserver", "throughput", only),
    ):
        assert "This campaign has no" in texts(figure)[0]
    alone = bars("6a", "oltp", "throughput", only)
    assert any("no default file system of fast10" in text for text in texts(alone))


def test_table_2_tells_numbers_dashes_and_gaps():
    """A number, a dash, a question mark, n/a and not run are five different things."""
    cells, effects = tables(speed={"webserver-ext3-dtlg": 0.73}, scatter=0.004)
    table = option_effects(PRINTED.table2, cells, effects).set_index(["file system", "option"])
    ours = table["webserver, ours"]
    assert ours["ext3", "dtlg"].startswith("-27 / ")
    assert ours["ext3", "wrbck"] == "-"
    assert ours["reiserfs", "notail"] == "n/a"
    assert ours["xfs", "blk1k"] == "not run"
    cells, effects = tables(scatter=0.3)
    noisy = option_effects(PRINTED.table2, cells, effects).set_index(["file system", "option"])
    assert noisy["webserver, ours"]["ext3", "wrbck"].startswith("? / ?")
    assert table["webserver, published"]["ext3", "dtlg"] == "-27 / -23"
    assert table["webserver, published"]["ext2", "bg16k"] == "+60 / +53†"
    assert len(table) == 27


def test_table_3_finds_the_best_configuration():
    """The fastest cell and its gains, with intervals, over the best and the worst default."""
    row = table_3(speed={"webserver-ext3-dtlg": 2.0}, scatter=0.01)
    assert row["ours"] == "ext3-dtlg"
    gains = re.findall(GAIN, row["throughput gain, ours"])
    for gain, expected in zip(gains, (1.54, 2.22), strict=True):
        low, value, high = (float(gain[place]) for place in (1, 0, 2))
        assert low < value < high
        assert value == pytest.approx(expected, rel=0.02)
    assert row["throughput gain, published"] == "1.08-9.4"
    assert "efficiency gain, ours (modelled)" in row


def test_table_3_neither_compares_the_best_with_itself_nor_ranks_what_is_not_steady():
    """A default that is best gains 1 over itself; a mean without a steady state is none."""
    row = table_3(speed={"webserver-ext3-default": 3.0}, scatter=0.01)
    assert row["ours"] == "ext3"
    assert row["throughput gain, ours"].startswith("1 to ")
    unsteady = {"file_system": "ext3", "option": "default", "workload": "webserver"}
    row = table_3(unsteady, speed={"webserver-ext3-default": 3.0}, scatter=0.01)
    assert row["ours"] != "ext3"


def test_a_figure_marks_what_is_no_mean_and_what_promises_too_much():
    """Rules 24 and 31 where most people look."""
    trials = synthetic.trials_frame(CELLS)
    cells = cells_table(trials, synthetic.BOUNDS)
    web = cells["workload"].eq("webserver") & cells["load_ops_s"].isna()
    cells.loc[web & cells["file_system"].eq("xfs"), "state"] = "inconsistent"
    cells["starred"] = web & cells["option"].eq("dtlg")
    figure = configurations(cells, Scatters(trials), PRINTED.bars("3a"), "webserver", "throughput")
    assert [text for text in texts(figure) if text in ("*", "no steady state")] == [
        "*",
        "no steady state",
    ]


def test_table_1_scales_files_but_the_size_for_oltp():
    """A twentieth of 20,000 files, and of 512 MiB."""
    scale = {"webserver": 0.05, "oltp": 0.05}
    table = workload_parameters(PRINTED.table1, scale).set_index("workload")
    assert table.loc["webserver", "files, ours"] == "1,000"
    assert table.loc["oltp", "file size, ours"] == "25.6 MiB"
    assert table.loc["varmail", "files, ours"] == "not run"


def test_rows_of_table_2_do_not_depend_on_the_run():
    """Options of two file systems that fast10 lacks stood in the order of a set: other bytes."""
    of = [
        design.Cell(workload="webserver", file_system=file_system, option=option)
        for file_system in ("ext4", "btrfs")
        for option in ("default", "relatime", "noatime", "dtlg")
    ]
    table = option_effects(PRINTED.table2, *tables(of))
    more = table.iloc[-6:][["file system", "option"]].to_numpy().tolist()
    assert more == sorted(more) and len({row[0] for row in more}) == 2


def test_tex_escapes_what_tex_reads():
    """A table with %, & or _ compiles."""
    table = option_effects(PRINTED.table2, *tables())
    text = as_tex(table.rename(columns={"option": "a_b & 50 %"}), "100 %", "t")
    assert r"a\_b \& 50 \%" in text
    assert r"$\dagger$" in text
    assert text.count(r"\\") == len(table) + 1


def test_agreement_counts_cells_by_what_was_published_and_found():
    """The sum over a row is the number of published cells; what was not run is not forgotten."""
    speed = {"webserver-ext3-dtlg": 0.73, "webserver-ext3-wrbck": 1.5}
    _, effects = tables(speed=speed, scatter=0.004)
    table = agreement(PRINTED.table2, effects).set_index("published")
    here = PRINTED.table2[
        (PRINTED.table2["metric"] == "perf") & (PRINTED.table2["fs"] != "reiserfs")
    ]
    assert table.to_numpy().sum() == len(here)
    assert table.loc["lower", ["lower", "higher"]].tolist() == [1, 1]
    assert table["not run"].sum() == len(here) - 2
    none = agreement(PRINTED.table2, effects.iloc[:0]).set_index("published")
    assert none["not run"].sum() == len(here)


def test_a_published_number_outside_the_interval_is_told_from_one_inside():
    """ext3 on the web server lost 27 % by dtlg and 63 % by wrbck: one of them still holds here."""
    speed = {"webserver-ext3-dtlg": 0.73, "webserver-ext3-wrbck": 1.5}
    _, effects = tables(speed=speed, scatter=0.01)
    table = then_and_now(PRINTED.table2, effects).set_index("option")
    assert table.loc["dtlg", "the published number is"] == "inside"
    assert table.loc["wrbck", "the published number is"] == "outside"
    assert table.loc["wrbck", "published, %"] == "-63"
    assert 45 < int(table.loc["wrbck", "here, %"]) < 55
    defaults = effects[effects["kind"] == "file system"]
    assert then_and_now(PRINTED.table2, defaults).empty
    few = effects.assign(ratio_low_x=float("nan"), ratio_high_x=float("nan"))
    assert set(then_and_now(PRINTED.table2, few)["the published number is"]) == {"no interval"}
    assert then_and_now(PRINTED.table2, effects.iloc[:0]).empty


def test_a_published_number_is_any_that_rounds_to_it():
    """27.4 % less is printed as -27: an interval that ends there does not contradict it."""
    _, effects = tables(speed={"webserver-ext3-dtlg": 0.73}, scatter=0.01)
    row = (effects["option"] == "dtlg") & (effects["metric"] == "throughput")
    for high_x, word in ((0.726, "inside"), (0.724, "outside")):
        ends = effects.assign(ratio_low_x=effects["ratio_low_x"].mask(row, 0.6))
        ends["ratio_high_x"] = effects["ratio_high_x"].mask(row, high_x)
        found = paired(PRINTED.table2, ends).set_index("option")
        assert found.loc["dtlg", "published_is"] == word


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


def test_micro_benchmarks_have_a_row_each_also_if_not_run(monkeypatch):
    """A gap in the campaign is a visible gap in the table."""
    monkeypatch.setitem(synthetic.RATE, "shared-append", 1000.0)
    cells, _ = tables([*CELLS, *synthetic.cells(["shared-append"], ["ext3", "xfs"])], scatter=0)
    table = micro_benchmarks(cells).set_index("micro-benchmark")
    assert table.loc["shared-append", "XFS"].startswith("1,300 [1,300")
    assert table.loc["shared-append", "Ext2"] == "not run"
    assert len(table) == 5


def test_a_file_system_without_a_colour_is_shown_under_its_name(monkeypatch):
    """A directory is measured on whatever it lies on: overlay in a container, tmpfs elsewhere."""
    monkeypatch.setitem(synthetic.SPEED, "overlay", 1.0)
    loads = [
        design.Cell(workload="webserver", file_system="overlay", load_ops_s=x) for x in (2e3, 5e3)
    ]
    here = [*synthetic.cells(WORKLOADS, ["overlay"]), *loads]
    cells, _ = tables(here)
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
    trials = synthetic.trials_frame(CELLS)
    cells = cells_table(trials, synthetic.BOUNDS)
    rows = trials.assign(**dict.fromkeys(KNOWN, "alike"))
    rows.loc[rows["file_system"] == "ext3", "read-ahead"] = "0 KiB"
    gate = Gate(rows, dict.fromkeys(KNOWN, Size(900.0, 800.0, 1000.0, 1.0, 0.001)))
    bare = configurations(cells, Scatters(trials), PRINTED.bars("3a"), "webserver", "throughput")
    held = Gate(trials.assign(**dict.fromkeys(KNOWN, "alike")), {})
    for of, marks in ((held, 0), (gate, 3)):
        figure = configurations(
            cells, Scatters(trials), PRINTED.bars("3a"), "webserver", "throughput", of
        )
        assert texts(figure).count(FLAG) == marks
    assert texts(bare).count(FLAG) == 0
