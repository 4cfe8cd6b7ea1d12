"""Figures, tables and report of nfstricks03: what is shown, what is marked, what is missing."""

import json
from dataclasses import replace

import pandas as pd
import pytest
import synthetic_readers

from fsgreen import confounds, design, paths, recommend, reduce, report
from fsgreen.analysis import interactions, standard
from fsgreen.papers import judging
from fsgreen.papers.nfstricks03 import figures, virtual
from fsgreen.papers.nfstricks03.figures import by_file_system, by_rank, by_readers, schedulers
from fsgreen.papers.nfstricks03.numbers import clocks_line, spread_lines
from fsgreen.papers.nfstricks03.reference import (
    FIGURE_1,
    FIGURE_2,
    FIGURE_3,
    READERS,
    Printed,
    setup,
)
from fsgreen.papers.nfstricks03.spreads import by_both_clocks, spreads
from fsgreen.papers.nfstricks03.tables import NOT_RUN, SERIES, file_systems, finishes, throughput
from fsgreen.papers.nfstricks03.tables import schedulers as scheduler_table

PRINTED = Printed.load()


@pytest.fixture(scope="module")
def both():
    """The same readers by both clocks."""
    runs = synthetic_readers.runs()
    return [runs, replace(runs, clock="virtual time")]


def drawn(runs):
    yield by_readers(runs, FIGURE_1, PRINTED.points("1"))
    yield by_readers(runs, FIGURE_2, PRINTED.points("2"))
    yield by_rank(runs, PRINTED.points("3"))
    yield schedulers(runs)


@pytest.fixture(scope="module")
def shown(both):
    """Figures 1 to 3 and the schedulers, which no test changes."""
    return list(drawn(both))


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_every_panel_of_ours_says_that_its_disk_is_simulated(shown):
    """And the published one does not."""
    *with_published, alone = shown
    for figure in with_published:
        first, *others = figure.axes
        assert "simulated disk" not in texts(first)
        assert all("simulated disk" in texts(axes) for axes in others)
        assert len(others) == 2
    assert all("simulated disk" in texts(axes) for axes in alone.axes)


def test_the_lines_of_figure_1_are_those_of_the_runs(shown):
    """ide1 is the first line; 43 MiB/s for any number of readers."""
    figure = shown[0]
    line = figure.axes[1].containers[0].lines[0]
    assert line.get_xdata().tolist() == [1, 2, 4, 8, 16, 32]
    assert line.get_ydata() == pytest.approx([43] * 6, rel=0.02)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == list(FIGURE_1)


def test_published_values_stand_where_they_were_printed(shown):
    """5.97 s for the eighth of eight readers of ide1; what is derived is open."""
    first = shown[2].axes[0]
    points = {
        (line.get_xdata()[0], line.get_ydata()[0]): line.get_fillstyle()
        for line in first.lines
        if line.get_linestyle() == "None"
    }
    assert points[8, 5.97] == "full"
    assert points[1, 11.9] == "none"
    assert "< 14.3" in texts(first)


def test_all_panels_of_figure_3_have_one_scale_from_0(both):
    """On a scale of their own, files of 8 MB looked as slow as the published ones of 32 MB."""
    quick = synthetic_readers.runs(profile="quick", scale=0.25)
    panels = by_rank([quick, both[1]], PRINTED.points("3")).axes
    (limits,) = {axes.get_ylim() for axes in panels}
    assert limits[0] == 0


def small_print(figure):
    return " ".join(figure.get_supxlabel().split())


def test_small_print_speaks_of_intervals_only_where_there_are_some(both, shown):
    """Two blocks have none, and every figure spoke of "95 % intervals"."""
    few = replace(both[0], trials=both[0].trials[both[0].trials["block"] <= 2])
    for figure in (by_readers([few], FIGURE_1, []), by_rank([few], PRINTED.points("3"))):
        assert "no interval: 2 blocks" in small_print(figure)
    mixed = small_print(by_rank([few, both[1]], PRINTED.points("3")))
    assert "no interval: 2 blocks (real time), 95 % intervals (virtual time)" in mixed
    assert "(virtual time)" not in small_print(shown[0])


def by_scheduler(measured, series, scheduler):
    return measured[(measured["series"] == series) & (measured["scheduler"] == scheduler)]


def sizes_of(runs, total_mib, ext2_x):
    """What virtual time has of eight readers: on ext2 `ext2_x` apart, else as in real time."""
    eight = runs.trials[runs.trials["readers"] == 8]
    ended_s = runs.finishes.groupby("trial")["ended_s"].agg(["min", "max"]).loc[eight["trial"]]
    found = eight.assign(
        total_mib=total_mib, first_s=ended_s["min"].to_numpy(), last_s=ended_s["max"].to_numpy()
    )
    fair = found["file_system"].eq("ext2") & found["scheduler"].eq("elevator")
    return found.assign(last_s=found["last_s"].mask(fair, ext2_x * found["first_s"]))


@pytest.fixture(scope="module")
def apart():
    """Readers in real time with files of 8 MB, and in virtual time of 8 and 32 MB."""
    real = synthetic_readers.runs(profile="quick", scale=0.25)
    sizes = pd.concat([sizes_of(real, 64, 1.8), sizes_of(real, 256, 1.1)])
    return real, spreads([real], sizes)


def test_clocks_are_compared_at_files_of_one_size(apart):
    """A file of 32 MB has four times the blocks of its map: its readers are four times as fair."""
    both = by_both_clocks(apart[1])
    assert set(both["total_mib"]) == {64}
    ide1 = by_scheduler(both, "ide1", "elevator").set_index("file_system")
    assert ide1.loc["ext2", "virtual_over_real_x"] == pytest.approx(1.8 / 5.8, rel=1e-6)
    assert ide1.loc[["ext4", "xfs"], "virtual_over_real_x"].tolist() == pytest.approx([1, 1])


def test_the_figure_by_file_system_shows_both_clocks_at_one_size(apart):
    """And the published ratio beside them, where nfstricks03 states both times."""
    figure = by_file_system(*apart, PRINTED.points("3"))
    ide1, scsi1, tags = figure.axes
    assert [axes.get_title("left") for axes in figure.axes] == list(FIGURE_3)
    assert all("simulated disk" in texts(axes) for axes in figure.axes)
    ratios = [
        {round(float(y), 2) for line in axes.lines for y in line.get_ydata()}
        for axes in figure.axes
    ]
    assert 5.74 in ratios[0] and 7.24 in ratios[1]
    assert 1.8 in ratios[0]
    assert "8 files of 8 MB" in " ".join(text.get_text() for text in figure.texts)
    assert tags.get_ylim() == ide1.get_ylim() == scsi1.get_ylim()


def test_one_clock_has_no_mark_of_its_own_in_the_legend(apart):
    """A campaign without virtual time named a circle "real time", and nothing to tell it from."""
    real, spread = apart
    labels = {}
    for clocks, shown in (("both", spread), ("one", spread[spread["clock"] == "real time"])):
        figure = by_file_system(real, shown, PRINTED.points("3"))
        labels[clocks] = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels["both"] == ["elevator", "N-CSCAN", "real time", "virtual time"]
    assert labels["one"] == ["elevator", "N-CSCAN"]


def test_the_report_says_from_data_what_file_systems_do(apart):
    """Numbers in the text are those of the table, and say which clock and which files."""
    lines = spread_lines(apart[1])
    assert lines[0].startswith("real time, files of 8 MB: 5.8 to 7.2 times on ext2")
    assert lines[1].startswith(
        "virtual time, files of 8 MB: 1.8 times on ext2, 5.8 to 7.2 times on"
    )
    assert lines[2].startswith("virtual time, files of 32 MB: 1.1 times on ext2")
    assert "(18 cells)" in clocks_line(apart[1])
    assert "no cells with files of one size" in clocks_line(apart[1][:0])
    table = file_systems(apart[1]).set_index(["series", "scheduler", "file system", "MB of a file"])
    row = table.loc[("ide1", "elevator", "ext2", "8")]
    assert (row["real time"][:3], row["virtual over real"]) == ("5.8", "0.31")
    assert table.loc[("ide1", "elevator", "ext2", "32"), "real time"] == NOT_RUN
    alone = file_systems(apart[1][apart[1]["clock"] == "real time"])
    assert list(alone.columns)[-1] == "real time", "a column of a clock that the campaign lacks"


def test_points_of_flagged_comparisons_are_marked(both, shown):
    """A double dagger where the gate found that a confound may have made the difference."""
    flagged = frozenset({setup("ide1", 8)})
    marked = [replace(both[0], flagged=flagged), both[1]]
    counts = [
        [
            [text for axes in figure.axes for text in texts(axes)].count("\N{DOUBLE DAGGER}")
            for figure in of_runs
        ]
        for of_runs in (drawn(marked), shown)
    ]
    assert counts == [[1, 0, 1, 1], [0, 0, 0, 0]]


def test_a_campaign_without_the_readers_says_so(both):
    none = [replace(one, trials=one.trials[one.trials["readers"] == 64]) for one in both]
    for figure in drawn(none):
        assert "This campaign has no" in texts(figure.axes[0])[0]


def test_the_tables_hold_what_was_run_and_say_what_was_not():
    few = [synthetic_readers.runs(profile="quick", scale=0.25)]
    table = throughput(few).set_index("series")
    assert table.loc["ide1", "1 readers"].startswith("43")
    assert table.loc["ide1", "32 readers"] == NOT_RUN
    times = finishes(few).set_index(["series", "scheduler"])
    last_s = float(times.loc[("ide1", "elevator"), "reader 8"].removesuffix(" s"))
    assert last_s == pytest.approx(64 / 43, rel=0.02)
    assert set(scheduler_table(few)["scheduler"]) == {"elevator", "n-cscan"}


def test_the_profile_that_is_named_has_the_rows_that_were_left_out():
    """A command that does not measure what is missing is none."""
    plan = design.make_plan(design.load_study("nfstricks03"), "lab")
    ran = [plan.levels(cell) for cell in plan.cells]
    wanted = [setup(name, readers) for name in SERIES for readers in READERS]
    wanted += [setup(name, scheduler="n-cscan") for name in FIGURE_3]
    assert all(any(levels.items() >= cell.items() for levels in ran) for cell in wanted)


# --- the whole way from raw traces to the report -------------------------------------------------


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """A whole campaign of the profile quick, with runs in virtual time beside it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(tmp_path_factory.mktemp("data")))
        plan = synthetic_readers.make_plan("quick", blocks=2, scale=0.25)
        synthetic_readers.write_raw("quick", plan)
        reduce.write("quick")
        confounds.write("quick")
        standard.write("quick")
        interactions.write("quick")
        interactions.draw("quick")
        figures.write("quick")
        recommend.write("quick")
        judging.write("quick")
        report.write("quick")
        yield "quick"


def test_a_small_campaign_has_a_whole_report(campaign):
    """The ledger still has 77 claims, and none of them is called measured."""
    results = paths.results(campaign)
    assert (results / "report.pdf").read_bytes().startswith(b"%PDF")
    numbers = json.loads((results / "numbers.json").read_text())
    assert numbers["claims"]["total"] == 77
    assert numbers["claims"]["measured"] == 0
    cautions = reduce.read_table(campaign, "claims").set_index("id")["caution"]
    assert "is assumed" in cautions["nfstricks03-13"]
    assert "MiB at the start of" in numbers["probed"]
    assert "no runs in virtual time" in numbers["virtual"]
    assert virtual.read(campaign) is None
    assert not any("virtual time" in entry["caption"] for entry in numbers["figures"])
    assert numbers["clocks"] == "", "of one clock there is nothing to compare"


def test_each_reader_of_each_trial_has_its_time(campaign):
    """Eight rows for each trial of eight, in the order in which they were done."""
    ended = reduce.read_table(campaign, "finishes")
    trials = reduce.read_table(campaign, "trials")
    assert len(ended) == trials["readers"].sum()
    assert ended.groupby("trial")["ended_s"].apply(lambda s: s.is_monotonic_increasing).all()
    assert ended.groupby("trial")["ended_s"].max().eq(10.0).all()


def test_cells_are_compared_by_place_queue_and_scheduler_within_their_readers(campaign):
    """Operations of two numbers of readers say nothing of each other: each opens a file."""
    effects = reduce.read_table(campaign, "effects")
    assert set(effects["kind"]) == {"partition", "queue depth", "scheduler", "file system"}
    assert (effects["readers"] == effects["baseline_readers"]).all()
    changed = {
        "partition": "partition",
        "queue depth": "queue_depth",
        "scheduler": "scheduler",
        "file system": "file_system",
    }
    for kind, factor in changed.items():
        rows = effects[effects["kind"] == kind]
        assert (rows[factor] != rows[f"baseline_{factor}"]).all()
    cells = reduce.read_table(campaign, "cells")
    assert len(cells) == 27
    assert cells["bandwidth_b_s"].notna().all()


def test_the_rules_see_unfair_readers(campaign):
    """Rule 41: the elevator's last reader takes six times as long as its first."""
    trust = reduce.read_table(campaign, "trust").set_index("rule")
    assert trust.loc[41, "state"] == "fired"
    assert "7.2 times" in trust.loc[41, "found"]
