"""Tables of fast10: what is told apart, what is missing, and what would measure that."""

import re

import pytest
import synthetic
from synthetic_fast10 import CELLS, PRINTED, campaign, tables

from fsgreen import design
from fsgreen.analysis.cells import cells_table
from fsgreen.analysis.scatter import Scatters
from fsgreen.analysis.tables import as_tex
from fsgreen.papers.fast10.reference import GONE, WORKLOADS
from fsgreen.papers.fast10.tables import PROFILES
from fsgreen.papers.fast10.tables.effects import option_effects
from fsgreen.papers.fast10.tables.recommended import recommended
from fsgreen.papers.fast10.tables.then_and_now import agreement, paired, then_and_now
from fsgreen.papers.fast10.tables.workloads import MICRO, micro_benchmarks, workload_parameters


def table_3(unsteady=None, **frame):
    """The row of the web server, one cell of which may have no steady state."""
    trials, cells = campaign(**frame)
    if unsteady:
        of = trials[list(unsteady)].eq(list(unsteady.values())).all(axis=1)
        trials.loc[of & trials["load_ops_s"].isna(), "steady"] = "no steady state"
        cells = cells_table(trials, synthetic.BOUNDS)
    table = recommended(PRINTED.table3, cells, Scatters(trials), "modelled")
    return table.set_index("workload").loc["webserver"]


DTLG = {"speed": {"webserver-ext3-dtlg": 0.73}, "scatter": 0.004}
"""One option slows the web server as it did in the paper."""

BOTH = {"speed": {"webserver-ext3-dtlg": 0.73, "webserver-ext3-wrbck": 1.5}, "scatter": 0.01}
"""Another speeds it up, which slowed it there."""

GAIN = r"([\d.]+) \[([\d.]+), ([\d.]+)\]"


def test_table_2_tells_numbers_dashes_and_gaps():
    """A number, a dash, a question mark, n/a and not run are five different things."""
    cells, effects = tables(**DTLG)
    table = option_effects(PRINTED.table2, cells, effects).set_index(["file system", "option"])
    ours = table["webserver, ours"]
    assert ours["ext3", "dtlg"].startswith("-27 / ")
    assert ours["ext3", "wrbck"] == "-"
    assert ours["reiserfs", "notail"] == "n/a"
    assert ours["xfs", "blk1k"] == "not run"
    few = synthetic.cells(["webserver"], ["ext3"], ["default", "wrbck"])
    cells, effects = tables(few, scatter=0.3)
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
    table = option_effects(PRINTED.table2, *tables(**DTLG))
    text = as_tex(table.rename(columns={"option": "a_b & 50 %"}), "100 %", "t")
    assert r"a\_b \& 50 \%" in text
    assert r"$\dagger$" in text
    assert text.count(r"\\") == len(table) + 1


def test_agreement_counts_cells_by_what_was_published_and_found():
    """The sum over a row is the number of published cells; what was not run is not forgotten."""
    _, effects = tables(**BOTH)
    table = agreement(PRINTED.table2, effects).set_index("published")
    here = PRINTED.table2[
        (PRINTED.table2["metric"] == "perf") & (PRINTED.table2["fs"] != "reiserfs")
    ]
    assert table.to_numpy().sum() == len(here)
    assert table.loc["lower", ["lower", "higher"]].tolist() == [1, 1]
    assert table["not run"].sum() == len(here) - 2
    none = agreement(PRINTED.table2, effects.iloc[:0]).set_index("published")
    assert none["not run"].sum() == len(here)


def test_options_of_a_file_system_that_a_guest_has_are_counted_and_drawn():
    """Reiserfs was left out even where it had been measured."""
    effects = tables(**DTLG)[1]
    moved = effects.assign(file_system=effects["file_system"].replace("ext3", "reiserfs"))
    table = agreement(PRINTED.table2, moved).set_index("published")
    assert table.to_numpy().sum() == (PRINTED.table2["metric"] == "perf").sum()
    assert "reiserfs" in set(paired(PRINTED.table2, moved)["file_system"])


def test_a_published_number_outside_the_interval_is_told_from_one_inside():
    """ext3 on the web server lost 27 % by dtlg and 63 % by wrbck: one of them still holds here."""
    _, effects = tables(**BOTH)
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


def test_a_change_from_a_default_in_another_state_is_in_another_state():
    """Its number stood beside the published one, as if they were of the same."""
    _, effects = tables(**DTLG)
    for default, word in (("ext3", "no"), ("xfs", "yes")):
        table = then_and_now(PRINTED.table2, effects, {("webserver", default, "default")})
        of_ext3 = table[(table["workload"] == "webserver") & (table["file system"] == "ext3")]
        assert set(of_ext3["in the state of the claims"]) == {word}


def test_a_published_number_is_any_that_rounds_to_it():
    """27.4 % less is printed as -27: an interval that ends there does not contradict it."""
    _, effects = tables(**BOTH)
    row = (effects["option"] == "dtlg") & (effects["metric"] == "throughput")
    for high_x, word in ((0.726, "inside"), (0.724, "outside")):
        ends = effects.assign(ratio_low_x=effects["ratio_low_x"].mask(row, 0.6))
        ends["ratio_high_x"] = effects["ratio_high_x"].mask(row, high_x)
        found = paired(PRINTED.table2, ends).set_index("option")
        assert found.loc["dtlg", "published_is"] == word


def test_micro_benchmarks_have_a_row_each_also_if_not_run(monkeypatch):
    """A gap in the campaign is a visible gap in the table."""
    monkeypatch.setitem(synthetic.RATE, "shared-append", 1000.0)
    _, cells = campaign([*CELLS, *synthetic.cells(["shared-append"], ["ext3", "xfs"])], scatter=0)
    table = micro_benchmarks(cells).set_index("micro-benchmark")
    assert table.loc["shared-append", "XFS"].startswith("1,300 [1,300")
    assert table.loc["shared-append", "Ext2"] == "not run"
    assert len(table) == 5


def test_an_option_that_was_measured_is_shown_whatever_kernel_had_it():
    """A guest of an older kernel has Reiserfs: its options were "n/a" although they had run."""
    effects = tables(**DTLG)[1]
    moved = effects.assign(
        file_system=effects["file_system"].mask(effects["option"] == "dtlg", "reiserfs")
    )
    table = option_effects(PRINTED.table2, tables(**DTLG)[0], moved)
    ours = table.set_index(["file system", "option"])["webserver, ours"]
    assert ours["reiserfs", "dtlg"].startswith("-27 / ")
    assert ours["reiserfs", "notail"] == "n/a"


def test_the_profile_that_is_named_has_the_rows_that_were_left_out():
    """A command that does not measure what is missing is none."""
    study = design.load_study("fast10")
    cells = {name: design.make_plan(study, of).cells for name, of in PROFILES.items()}
    for name in ("table1", "table3"):
        assert set(WORKLOADS) <= {cell["workload"] for cell in cells[name]}
    assert set(MICRO) <= {cell["workload"] for cell in cells["micro"]}
    options = {(cell["file_system"], cell["option"]) for cell in cells["table2"]}
    printed = PRINTED.table2[~PRINTED.table2["fs"].isin(GONE)][["fs", "option"]]
    assert {tuple(row) for row in printed.to_numpy()} <= options
