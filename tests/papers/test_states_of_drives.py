"""What is claimed of solid-state drives is judged where memory did there what it does here."""

from functools import cache
from itertools import product

import pandas as pd
import pytest
import servers
import synthetic

from fsgreen import design, paths
from fsgreen.analysis.claims import Claims, Source
from fsgreen.analysis.claims.ledger import parts_of
from fsgreen.claims import OTHER_STATE, UNTESTED, combine, load_claims, missing
from fsgreen.papers.massie25 import claims as massie25
from fsgreen.papers.massie25 import reference as fio
from fsgreen.papers.sun14 import claims as sun14
from fsgreen.papers.sun14 import reference as ssd

STUDY = design.load_study("massie25")  # which declares factors of its own
OF_SSDS = Claims.of("sun14", sun14.CHECKS, sun14.RECOMPUTED)
OF_FIO = Claims.of("massie25", massie25.CHECKS, massie25.RECOMPUTED)
PAIRS = [cell for workload in ssd.WORKLOADS for cell in ssd.pairs(workload)]
REQUESTS = [
    *(
        fio.requests(*levels)
        for levels in product(fio.FILE_SYSTEMS, fio.PATTERNS, fio.REQUESTS_KIB, fio.PROCESSES)
    ),
    *(
        design.Cell(workload=fio.ROCKSDB, file_system=name, option="noatime", mix=mix, threads=n)
        for name, mix, n in product(fio.FILE_SYSTEMS, fio.MIXES, fio.THREADS)
    ),
]
AS_THERE = {
    "varmail-sun14": {
        "device_read_percent": 0.2,
        "device_write_percent": 200.0,
        "device_busy_percent": 60.0,
    },
    "fileserver-sun14": {
        "device_read_percent": 50.0,
        "device_write_percent": 120.0,
        "device_busy_percent": 100.0,
    },
    "webserver-sun14": {
        "device_read_percent": 0.01,
        "device_write_percent": 130.0,
        "device_busy_percent": 20.0,
    },
}
"""What memory and drive of sun14 did for each workload."""


@cache
def ssds_as_there():
    return of_ssds()


@cache
def fio_as_there():
    return of_fio()


def of_ssds(**found):
    """Pairs of sun14 whose trials were as there, but for what was `found` of one workload."""
    table = synthetic.frame_of(PAIRS, lambda cell: 1.0, lambda cell: 2.0, "modelled")
    for workload, columns in AS_THERE.items():
        own = found.get(workload.removesuffix("-sun14"), {})
        for column, value in {**columns, **own}.items():
            table.loc[table["workload"] == workload, column] = value
    table = table.assign(power_range_w=0.5)
    return sun14.OfSimulatedDrive(table, 0.05, OF_SSDS.needs, "modelled", treatments=())


def of_fio(**found):
    """Requests and databases of massie25 at a meter, as there but for what was `found`."""
    table = synthetic.frame_of(REQUESTS, lambda cell: 1.0, lambda cell: 100.0, "wall")
    as_there = {"device_read_percent": 100.0, "resident_percent": 0.0, "data_over_memory_x": 2.86}
    table = table.assign(allocation_groups_count=4.0, **{**as_there, **found})
    return Source(table, 0.05, OF_FIO.needs, "wall", treatments=())


def parts(slug, source, claims=OF_SSDS):
    checks = sun14.CHECKS if claims is OF_SSDS else massie25.CHECKS
    return parts_of(claims, slug, source, checks)


SLOWED = {"webserver": {"device_busy_percent": 99.0}}
COLD = {"varmail": {"device_read_percent": 50.0}}
KEPT = {"fileserver": {"device_write_percent": 1.0}}
UNSYNCED = {"varmail": {"device_write_percent": 50.0}}


@pytest.mark.parametrize(
    ("slug", "found"),
    [
        ("s_vm_ext", COLD),
        ("s_vm_noop_ai", COLD),
        ("s_vm_best", UNSYNCED),
        ("s_fs_i_ext", KEPT),
        ("s_fs_best", KEPT),
        ("s_ws_ext2", {"webserver": {"device_read_percent": 60.0}}),
        ("s_ws_ext2", SLOWED),
        ("s_sched_read", SLOWED),
        ("s_ws_cfq", {"webserver": {"device_write_percent": 0.0}}),
        ("s_ws_best", {"webserver": {"device_read_percent": float("nan")}}),
        ("s_ext3_more_writes", {**UNSYNCED, **KEPT}),
    ],
)
def test_a_claim_on_a_drive_is_judged_in_its_state_and_in_no_other(slug, found):
    """Servers whose files were read for the first time were held against runs of ten minutes."""
    assert combine(parts(slug, ssds_as_there()))[0] not in UNTESTED
    elsewhere = parts(slug, of_ssds(**found))
    assert combine(elsewhere)[0] == OTHER_STATE
    assert all(one.way for part in elsewhere for one in part.found)


@pytest.mark.parametrize("slug", ["s_fs_lowest_perf", "s_fs_gc_swings", "s_ws_highest"])
def test_workloads_are_not_held_against_each_other_on_a_drive_that_alone_is_slowed(slug):
    """A drive ten times slower decided how far a server that memory answers leads the others."""
    parts_of_web = [part for part in parts(slug, of_ssds(**SLOWED)) if "webserver" in part.what]
    assert {part.verdict for part in parts_of_web} == {OTHER_STATE}
    assert "at rest" in missing(parts_of_web)


@pytest.mark.parametrize("slug", ["s_best_summary", "s_single_metric", "s_depends_combo"])
def test_one_workload_in_another_state_takes_no_other_with_it(slug):
    """A check asks for the pairs that a part of it was chosen from, the losers too."""
    ran = [part for part in parts(slug, of_ssds(**COLD)) if not (part.lacks or part.needs)]
    assert {part.verdict == OTHER_STATE for part in ran if "varmail" in part.what} == {True}
    assert {part.verdict == OTHER_STATE for part in ran if "varmail" not in part.what} == {False}


def test_how_much_ext3_writes_is_told_also_while_the_drive_reads():
    """What reaches the drive in any case keeps its verdict; what the drive draws does not."""
    cold = of_ssds(**COLD)
    assert combine(parts("s_ext3_more_writes", cold))[0] not in UNTESTED
    of_energy = parts("s_vm_ext2_ext3_energy", cold)
    assert {part.tested for part in of_energy if "device_write" in part.what} == {True}
    assert {part.tested for part in of_energy if "device_write" not in part.what} == {False}


RUN_S = 600
OFTEN = 20
READS_OF_MAIL = 2 / 13
"""Of its operations, two of thirteen read a whole file (docs/workloads.md)."""


@pytest.mark.parametrize(
    ("paper", "workload", "rate_ops_s"),
    [
        ("sun14", "varmail-sun14", load_claims("sun14")["s_ws_iops"]["numbers"][2]["value"]),
        # "Two orders of magnitude" below a web server, which did 70,000 a second at best.
        ("fast10", "varmail", load_claims("fast10")["xfs_peak"]["numbers"][0]["value"] / 100),
    ],
)
def test_memory_is_asked_of_both_mail_servers_by_one_rule_on_print(paper, workload, rate_ops_s):
    """Of one it was asked and of the other not, and nobody could tell whether outcomes chose."""
    table = {"sun14": "sun14_table2", "fast10": "fast10_table1"}[paper]
    files = pd.read_csv(paths.reference() / f"{table}.csv").set_index("workload")
    count = files.loc["varmail", "number_of_files"]
    reads_of_a_file = rate_ops_s * RUN_S * READS_OF_MAIL / count
    states = {"sun14": OF_SSDS, "fast10": servers.OF_PAPER}[paper].states
    assert (workload in states["memory-reads"].of["workload"]) == (reads_of_a_file >= OFTEN)


@pytest.mark.parametrize(
    ("slug", "found"),
    [
        ("m_obs1", {"device_write_percent": 40.0}),
        ("m_obs2", {"device_read_percent": 0.0}),
        ("m_128_seqwrite", {"device_write_percent": 40.0}),
        ("m_obs4", {"device_read_percent": float("nan")}),
        ("m_ycsb_writes", {"data_over_memory_x": 0.5}),
        ("m_ycsb_reads", {"data_over_memory_x": float("nan")}),
    ],
)
def test_a_claim_on_what_a_drive_moves_is_not_judged_on_memory(slug, found):
    assert combine(parts(slug, fio_as_there(), OF_FIO))[0] not in UNTESTED
    assert combine(parts(slug, of_fio(**found), OF_FIO))[0] == OTHER_STATE


@pytest.mark.parametrize("slug", ["m_obs3", "m_obs3_single", "m_obs3_growth", "m_reads_equal"])
def test_a_claim_on_software_is_judged_past_the_page_cache_whoever_counts_for_the_device(slug):
    """As in a guest, whose disk the machine's kernel does not know."""
    unknown = dict.fromkeys(("device_read_percent", "device_write_percent"), float("nan"))
    of_software = parts(slug, of_fio(**unknown), OF_FIO)
    assert all(part.tested for part in of_software)
    cached = parts(slug, of_fio(**unknown, resident_percent=50.0), OF_FIO)
    assert {part.verdict for part in cached} == {OTHER_STATE}


def test_fio_asks_for_direct_requests_as_the_state_of_its_claims_says():
    assert "--direct=1" in STUDY.workloads["fio"]["command"]


@pytest.mark.parametrize(
    ("slug", "workload", "column", "most"),
    [
        ("s_vm_ext", "varmail-sun14", "device_read_percent", 5),
        ("s_vm_noop_ai", "varmail-sun14", "device_read_percent", 5),
        ("s_ws_cfq", "webserver-sun14", "device_busy_percent", 50),
        ("s_sched_read", "webserver-sun14", "device_busy_percent", 50),
    ],
)
def test_the_shipped_campaign_is_judged_on_what_memory_and_drive_did(slug, workload, column, most):
    """Rule 45 fired: no claim said which state it is about."""
    file = paths.root() / "data" / "results" / "sun14" / "trials.csv"
    if not file.is_file():
        pytest.skip("the results of sun14 have not been made: ./run reproduce sun14")
    trials = pd.read_csv(file)
    if column not in trials:
        pytest.skip("an older version made the results of sun14: ./run reproduce sun14")
    of_workload = trials[trials["workload"] == workload]
    was_there = of_workload[column].between(0, most).all()
    found = parts(slug, sun14.OfSimulatedDrive(trials, 0.05, OF_SSDS.needs, treatments=()))
    assert any(part.tested for part in found) == was_there
