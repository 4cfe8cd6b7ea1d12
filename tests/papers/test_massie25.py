"""All 27 claims of massie25 get a verdict, and it comes from the data."""

import math
from functools import cache
from itertools import product

import pytest
import synthetic

from fsgreen import design, reduce
from fsgreen.analysis.cells import cells_table
from fsgreen.analysis.claims import Claims, Source
from fsgreen.analysis.claims.ledger import judge_claims, parts_of
from fsgreen.analysis.numbers import left_out
from fsgreen.claims import combine
from fsgreen.papers.massie25 import claims
from fsgreen.papers.massie25.claims import CHECKS, RECOMPUTED
from fsgreen.papers.massie25.figures import by_groups, by_mix, by_pattern, groups_count, with_cells
from fsgreen.papers.massie25.reference import (
    FILE_SYSTEMS,
    MIXES,
    PAPER,
    PATTERNS,
    PROCESSES,
    REQUESTS_KIB,
    ROCKSDB,
    THREADS,
    Printed,
    requests,
)
from fsgreen.papers.massie25.tables import experiments

STUDY = design.load_study(PAPER)
OF_PAPER = Claims.of(PAPER, CHECKS, RECOMPUTED)
OF_ROCKSDB = [
    design.Cell(workload=ROCKSDB, file_system=system, option="noatime", mix=mix, threads=threads)
    for system, mix, threads in product(FILE_SYSTEMS, MIXES, THREADS)
]
EVERY = [requests(*levels) for levels in product(FILE_SYSTEMS, PATTERNS, REQUESTS_KIB, PROCESSES)]
OF_FIGURE_3 = [cell for cell in EVERY if (cell["request_kib"], cell["processes"]) == (4, 8)]


def trials(speed=lambda cell: 1.0, watts=lambda cell: 100.0, boundary="wall", of=EVERY, blocks=5):
    """A table like `trials.csv`: five blocks, in which a cell is as fast as `speed` says.

    The device does what is asked, and a database is as far above memory as it was.
    """
    table = synthetic.frame_of(of, speed, watts, boundary, blocks=blocks)
    there = {"device_read_percent": 100.0, "resident_percent": 0.0, "data_over_memory_x": 2.86}
    return table.assign(allocation_groups_count=4.0, **there)


@cache
def usual():
    """The campaign of all defaults, which no test changes."""
    return source()


@cache
def on_a_model():
    """Databases with modelled power."""
    return source(boundary="modelled", of=OF_ROCKSDB)


def source(*args, **of):
    table = trials(*args, **of)
    boundary = str(table["boundary"].iloc[0])
    treatments = ("file_system", "option")
    return Source(table, 0.05, OF_PAPER.needs, boundary, treatments=treatments)


def parts(slug, of):
    return parts_of(OF_PAPER, slug, of, CHECKS)


def verdict(slug, of):
    return combine(parts(slug, of))[0]


def slow_f2fs(factor):
    return lambda cell: factor if cell["file_system"] == "f2fs" else 1.0


def test_every_claim_is_judged_or_says_what_it_needs():
    """27 claims; a check that no claim names would be dead."""
    assert len(OF_PAPER.entries) == 27
    assert {entry.check for entry in OF_PAPER.entries.values() if entry.check} == set(CHECKS)
    ledger = judge_claims(OF_PAPER, {"loop": usual()}, CHECKS, RECOMPUTED, Printed.load())
    for slug, parts in ledger.items():
        assert all(part.tested or part.needs or part.lacks for part in parts), slug


@pytest.mark.parametrize(
    ("factor", "expected"), [(0.5, "reproduced"), (2.0, "reversed"), (1.0, "inconclusive")]
)
def test_how_fast_f2fs_is_at_4_kib_decides(factor, expected):
    """No verdict is written down: the same claim goes three ways."""
    found = verdict("m_obs3", source(slow_f2fs(factor)))
    assert found == expected or (expected == "inconclusive" and found != "reproduced")


@pytest.mark.parametrize(
    ("factor", "writes", "reads"),
    [(0.5, "reproduced", "not reproduced"), (1.0, None, "reproduced"), (2.0, "reversed", None)],
)
def test_how_fast_rocksdb_is_on_f2fs_decides(factor, writes, reads):
    """Figures 7 to 9: behind where it writes, alike where it reads."""
    of = source(slow_f2fs(factor), of=OF_ROCKSDB)
    assert writes is None or verdict("m_ycsb_writes", of) == writes
    assert reads is None or verdict("m_ycsb_reads", of) == reads
    assert verdict("m_ycsb_xfs", on_a_model()) == "not testable here"


@pytest.mark.parametrize(("share", "expected"), [(0.9, "reproduced"), (1.1, "not reproduced")])
def test_f2fs_falls_behind_only_if_its_standing_falls(share, expected):
    """A file system that is slow alike at all numbers of processes does not fall behind."""
    steps = {count: share**nth for nth, count in enumerate(PROCESSES)}
    found = verdict(
        "m_obs3_growth",
        source(lambda cell: steps[cell["processes"]] if cell["file_system"] == "f2fs" else 1.0),
    )
    assert found in (expected, "reversed" if share > 1 else expected)


def test_xfs_wins_by_watts_at_equal_speed_where_a_meter_says_so():
    """Power that is modelled decides nothing about efficiency (rule 19)."""

    def watts(cell):
        return 90.0 if cell["file_system"] == "xfs" else 100.0

    assert verdict("m_obs4", source(watts=watts)) == "reproduced"
    assert verdict("m_obs4", usual()) != "reproduced"
    modelled = source(watts=watts, boundary="modelled")
    assert verdict("m_obs4", modelled) == "not testable here"


def test_shares_and_ranges_have_no_power_and_are_never_pooled():
    """From what was surely won to what was not surely lost is no interval of Student's."""
    (part,) = parts("m_obs4", usual())
    assert math.isnan(part.ours.degrees) and math.isnan(part.power)


def test_how_far_f2fs_falls_behind_has_an_interval_by_blocks():
    """The ends of both ratios were taken together, wider than it needs be and with no error."""
    of = source(slow_f2fs(0.8))
    for part in parts("m_obs3_growth", of):
        assert part.ours.degrees == part.ours.n - 1 == 4
        assert part.power > 0


def test_fewer_runs_than_the_paper_made_refute_nothing():
    """A campaign of five blocks called it "not reproduced" that the paper has ten runs."""
    (part,) = parts("m_stat", usual())
    assert part.verdict == "not testable here"
    assert part.needs == OF_PAPER.needs["ten-runs"]


def test_an_experiment_without_an_interval_is_not_lost():
    """Two blocks once decided that no experiment was won."""
    assert verdict("m_obs4", source(blocks=2)) == "inconclusive"


def test_claims_are_judged_on_all_requests_and_not_on_those_of_the_baseline(tmp_path, monkeypatch):
    """Of five patterns, two sizes and three counts only one was looked at."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    of = [requests("xfs", *levels) for levels in product(PATTERNS[:2], REQUESTS_KIB, PROCESSES[:1])]
    factors = tuple(known for known in STUDY.factors if known.name in of[0])
    plan = synthetic.make_plan(of, blocks=1, study=PAPER, factors=factors)
    synthetic.write_raw("small", plan)
    reduce.write("small")
    (judged_on,) = claims.sources_of("small", OF_PAPER).values()
    assert all(len(judged_on.cell(cell)) == 1 for cell in of)


def test_printed_numbers_are_held_against_each_other():
    """54,000 requests of 128 KiB are 6.6 GiB a second; 46 billion USD over 460 TWh are 0.1."""
    printed = Printed.load()
    for slug, function in RECOMPUTED.items():
        parts = list(function(printed, OF_PAPER.stated[slug]["numbers"]))
        tested = [part for part in parts if part.tested]
        assert tested and all(part.verdict == "reproduced" for part in tested), slug


def test_figures_show_what_ran_and_say_what_did_not():
    """Three panels with a mark for each file system; a sentence where no cell is the figure's."""
    both = [*OF_FIGURE_3, requests("xfs", "randread", 128, 1)]
    both += [cell for cell in OF_ROCKSDB if cell["threads"] == 8]
    database = cells_table(trials(of=both), synthetic.BOUNDS)
    cells = database[database["workload"] != ROCKSDB].drop(columns=["mix", "threads"])
    drawn = by_pattern(cells, 4, 8)
    assert [axes.get_title("left") for axes in drawn.axes][1:] == ["watts", "requests per joule"]
    names = drawn.axes[0].get_legend_handles_labels()[1]
    assert names == ["Ext4", "XFS", "F2FS"]
    assert "no trials of RocksDB" in by_mix(cells, 8).axes[0].texts[0].get_text()
    ticks = [tick.get_text() for tick in by_mix(database, 8).axes[0].get_xticklabels()]
    assert ticks == ["A", "B", "C", "D", "E", "F"]
    assert len(by_pattern(database, 4, 8).axes[0].get_xticks()) == len(PATTERNS)
    works = list(experiments(database)["work"])
    assert works[0] == "randread, 128 KiB x 1" and works[-1] == "YCSB F x 8"
    assert "No cell has 16 processes" in by_pattern(cells, 4, 16).axes[0].texts[0].get_text()
    assert "differ in allocation groups" in by_groups(cells).axes[0].texts[0].get_text()
    few = cells_table(trials(of=OF_FIGURE_3, blocks=1), synthetic.BOUNDS)
    small_print = [by_pattern(table, 4, 8).get_supxlabel() for table in (cells, few)]
    assert [text.partition(";")[0] for text in small_print] == [
        "95 % intervals",
        "no interval: 1 trial",
    ]


def test_the_report_has_the_figures_that_have_cells():
    """Frames of RocksDB and of four processes were empty."""
    of = [requests("xfs", "read", *levels) for levels in product(REQUESTS_KIB, (1, 8))]
    assert with_cells(cells_table(trials(of=of), synthetic.BOUNDS)) == [
        *("fig1", "fig3", "fig4", "fig6")
    ]
    of_xfs = [cell for cell in OF_ROCKSDB if cell["file_system"] == "xfs"]
    of_database = cells_table(trials(of=of_xfs), synthetic.BOUNDS)
    assert with_cells(of_database) == ["fig7", "fig8", "fig9"]


def test_what_became_of_a_reason_stands_beside_it_and_in_no_plan():
    """That nothing drives a database was so when the campaign was planned, and is not any more."""
    plan = design.make_plan(STUDY, "guest")
    reasons = dict(left_out(plan, STUDY))
    told = [entry for entry in STUDY.exclusions if entry.since]
    assert told
    for entry in told:
        assert entry.why in reasons[entry.what]
        assert reasons[entry.what].endswith(f"since then: {entry.since})")
        kept = [own for own in plan.exclusions if own["what"] == entry.what]
        assert kept and all("since" not in own for own in kept)


def test_groups_are_read_from_the_option():
    """`noatime` alone is the default of mkfs.xfs."""
    assert [groups_count(name) for name in ("noatime", "noatime+agcnt32")] == [4, 32]
