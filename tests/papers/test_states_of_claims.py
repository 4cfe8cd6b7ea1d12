"""Each claim of a paper is judged on trials in the state that it is about, and on no others."""

from dataclasses import replace

import pandas as pd
import pytest
import servers
import synthetic
import synthetic_readers
import yaml
from servers import OPTIONS, campaign, found_in, ledger_of

from fsgreen import design, paths
from fsgreen.analysis.claims import Claims
from fsgreen.analysis.claims.ledger import judge_claims
from fsgreen.claims import OTHER_STATE, UNTESTED, combine, missing
from fsgreen.papers.fast10.claims import Servers
from fsgreen.papers.massie25 import claims as massie25
from fsgreen.papers.nfstricks03.claims import CHECKS
from fsgreen.papers.nfstricks03.published import RECOMPUTED
from fsgreen.papers.nfstricks03.reference import Printed
from fsgreen.papers.nfstricks03.sources import Readers
from fsgreen.papers.sun14 import claims as sun14
from fsgreen.papers.sun14 import drives
from fsgreen.rules.reporting import COUNTED, RULE

SERVERS = list(synthetic.RATE)
READERS = Claims.of("nfstricks03", CHECKS, RECOMPUTED)
design.load_study("massie25")  # which declares factors of its own
DRIVES = [
    Claims.of("massie25", massie25.CHECKS, massie25.RECOMPUTED),
    Claims.of("sun14", sun14.CHECKS, sun14.RECOMPUTED),
]
OF_PAPERS = pytest.mark.parametrize(
    "claims", [servers.OF_PAPER, READERS, *DRIVES], ids=lambda of: of.study
)


@OF_PAPERS
def test_every_part_that_trials_decide_names_its_state(claims):
    """Most claims named none, and what memory answered was called reversed (rule 45)."""
    bare = [
        slug
        for slug, entry in claims.entries.items()
        for own in [*(part.state for _, _, part in entry.selectors), *([()] if entry.check else [])]
        if not (entry.state or own or entry.check in drives.CHECKS)  # of models, without trials
    ]
    assert not bare


@OF_PAPERS
def test_every_state_is_asked_for(claims):
    asked = {name for entry in claims.entries.values() for name in entry.states}
    assert asked == set(claims.states)


@OF_PAPERS
def test_no_caution_types_a_number(claims):
    """Rule 43: readers of 10 MB/s were said to show what the paper saw, and none had run."""
    for slug, entry in claims.entries.items():
        assert not COUNTED.search(RULE.sub("", entry.caution)), slug


# Claim, column of a trial's state, and what the shipped campaigns had in it, or might have.
ELSEWHERE = [
    ("iowait_order", "device_request_s", 3e-4),
    ("iowait_order", "cpu_iowait_percent", 0.28),
    ("web_rate_magnitude", "device_request_s", 3e-5),
    ("web_ext3_xfs", "device_read_percent", 60.0),
    ("web_blk_xfs", "block_b", 1024),
    ("web_xfs_isz", "inode_b", 512),
    ("web_dtlg", "device_request_s", 3e-4),
    ("web_wrbck", "device_request_s", 3e-4),
    ("web_groups", "device_request_s", 3e-4),
    ("append_micro_ext3", "device_request_s", 3e-5),
    ("file_ext2_ext3", "device_read_percent", 0.0),
    ("file_ag_perf", "device_write_percent", 0.3),
    ("file_journal", "device_request_s", 3e-4),
    ("file_blk_xfs", "device_busy_percent", 72.0),
    ("mail_fsync_penalty", "device_request_s", 2e-5),
    ("mail_fsync_penalty", "device_write_percent", 0.0),
    ("mail_fsync_micro", "device_request_s", 2e-5),
    ("mail_nofsync_micro", "device_request_s", 2e-5),
    ("db_blk2k", "device_read_percent", 0.6),
    ("db_blk1k", "device_request_s", 4e-5),
    ("db_ext2_isz", "inode_b", 256),
]


@pytest.fixture(scope="module")
def rightly():
    """A campaign of servers and micro-benchmarks whose trials are in every state."""
    micro = ["create-append-fsync", "create-append", "shared-append", "webserver-readonly"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synthetic, "RATE", synthetic.RATE | dict.fromkeys(micro, 1000.0))
        of = synthetic.cells(list(synthetic.RATE), list(OPTIONS))
        for file_system, names in OPTIONS.items():
            of += synthetic.cells(SERVERS, [file_system], names)
        return campaign(of)


@pytest.mark.parametrize(("slug", "column", "value"), ELSEWHERE)
def test_a_claim_is_judged_in_its_state_and_in_no_other(slug, column, value, rightly):
    """These were called reversed and not reproduced, on RAM and on inodes of another size."""
    assert combine(ledger_of(slug, rightly))[0] not in UNTESTED
    parts = ledger_of(slug, found_in(rightly, **{column: value}))
    assert combine(parts)[0] == OTHER_STATE
    assert column in missing(parts)
    assert all(found.way for part in parts for found in part.found)


AUDIT = {
    "fast10-19": {"cpu_iowait_percent": 0.28, "device_request_s": 3e-5},
    "fast10-44": {"inode_b": 512},
    "fast10-61": {"device_read_percent": 0.0},
    "fast10-65": {"device_request_s": 3e-5},
    "fast10-66": {"device_request_s": 3e-5},
    "fast10-75": {"device_read_percent": 0.1},
    "fast10-76": {"device_read_percent": 0.1},
    "fast10-79": {"inode_b": 256},
    "fast10-81": {"device_read_percent": 0.1},
}
"""The audit's own list: what was judged on memory, or on inodes of today, and in which state."""


@pytest.mark.parametrize("number", AUDIT)
def test_the_audits_list_of_claims_is_not_judged_out_of_its_state(number, rightly):
    slugs = {claim["id"]: slug for slug, claim in servers.OF_PAPER.stated.items()}
    assert combine(ledger_of(slugs[number], rightly))[0] not in UNTESTED
    parts = ledger_of(slugs[number], found_in(rightly, **AUDIT[number]))
    assert combine(parts)[0] == OTHER_STATE
    assert not any(part.tested for part in parts)


@pytest.mark.parametrize("slug", ["file_noatime_isz", "db_other_insensitive"])
def test_of_a_claim_on_several_options_those_on_inodes_of_another_size_are_not_judged(
    slug, rightly
):
    """Parts of 61 and 81: inodes of 1 KiB were held against today's 256 and 512 B."""
    parts = ledger_of(slug, found_in(rightly, inode_b=2048))
    of_inodes = [part for part in parts if "isz1k" in part.what]
    assert of_inodes
    assert not any(part.tested for part in of_inodes)
    assert any(part.tested for part in parts if part not in of_inodes)


def test_trials_that_do_not_tell_were_not_in_the_state(rightly):
    parts = ledger_of("db_blk2k", found_in(rightly, device_read_percent=float("nan")))
    assert combine(parts)[0] == OTHER_STATE
    assert "device_read_percent was not recorded" in missing(parts)


def test_one_file_system_that_waits_is_enough_to_compare_waits(rightly):
    """To ask it of the one that is claimed to wait would choose trials by what came of them."""
    waits = rightly.trials["file_system"].map({"ext3": 30.0, "xfs": 30.0}).fillna(0.1)
    parts = ledger_of("iowait_order", found_in(rightly, cpu_iowait_percent=waits))
    assert combine(parts)[0] == "reversed"


ANY_STATE = {
    "db_ext2_isz_groups": {"device_read_percent": 0.0},
    "stat_protocol": {"device_read_percent": 0.0},
}


@pytest.mark.parametrize("slug", ANY_STATE)
def test_a_claim_that_any_trial_decides_says_why(slug, rightly):
    entry = servers.OF_PAPER.entries[slug]
    assert all(servers.OF_PAPER.states[name].why for name in entry.state)
    in_memory = found_in(rightly, group_blocks_count=8192, **ANY_STATE[slug])
    assert combine(ledger_of(slug, in_memory))[0] not in UNTESTED


def of_readers(slug, clock="real time", scale=1.0, **state):
    runs = synthetic_readers.runs(clock=clock, scale=scale)
    source = found_in(Readers.of(runs, 0.05, READERS.needs), **state)
    claims = replace(READERS, stated={slug: READERS.stated[slug]})
    return judge_claims(claims, {"simdisk": source}, CHECKS, RECOMPUTED, Printed.load())[slug]


@pytest.mark.parametrize(
    ("slug", "scale", "state"),
    [
        ("zcav_obscures", 1.0, {"device_read_percent": 2.0}),
        ("tcq_off_27", 1.0, {"resident_percent": 80.0}),
        ("elev_ratio", 0.25, {}),
        ("elev_scsi1_times", 0.25, {}),
    ],
)
def test_readers_of_memory_or_of_smaller_files_are_no_readers_of_the_paper(slug, scale, state):
    """How far readers are apart hangs on how long their files are."""
    assert combine(of_readers(slug))[0] not in UNTESTED
    assert combine(of_readers(slug, scale=scale, **state))[0] == OTHER_STATE


def test_virtual_time_needs_no_counters_to_be_known_for_its_state():
    """It has no memory that could answer; how long its files are is told by its plan."""
    unknown = dict.fromkeys(("device_read_percent", "resident_percent", "files_b"))
    for scale, tested in ((1.0, True), (0.5, False)):
        parts = of_readers("elev_ratio", "virtual time", scale, **unknown)
        assert all(part.tested == tested for part in parts)


SHIPPED = yaml.safe_load((paths.root() / "params.yaml").read_text())["campaigns"]

# What was once called reversed or not reproduced: its workload, and what no trial of that reached.
AUDITED = [
    ("mail_fsync_penalty", "varmail", "device_request_s", 0.0005),
    ("mail_fsync_micro", "create-append-fsync", "device_request_s", 0.0005),
    ("iowait_order", "webserver", "device_request_s", 0.002),
    ("db_blk2k", "oltp", "device_read_percent", 30),
    ("db_blk1k", "oltp", "device_read_percent", 30),
    ("file_noatime_isz", "fileserver", "device_read_percent", 30),
    ("db_other_insensitive", "oltp", "device_read_percent", 30),
    ("db_ext2_isz", "oltp", "device_read_percent", 30),
]


@pytest.mark.parametrize("name", [n for n, of in SHIPPED.items() if of["study"] == "fast10"])
def test_the_shipped_campaigns_decide_no_claim_on_a_state_that_they_were_not_in(name):
    """Reads of memory, flushes that no disk turned for, inodes of another size: see the audit."""
    file = paths.root() / "data" / "results" / name / "trials.csv"
    if not file.is_file():
        pytest.skip(f"the results of {name} have not been made: ./run reproduce")
    trials = pd.read_csv(file)
    source = Servers(trials, 0.05, servers.OF_PAPER.needs, "modelled")
    for slug, workload, column, least in AUDITED:
        of_workload = trials[trials["workload"] == workload]
        if not of_workload.empty and not (of_workload[column] >= least).any():
            assert combine(ledger_of(slug, source))[0] in UNTESTED, slug
    xfs = trials[(trials["file_system"] == "xfs") & (trials["option"] == "default")]
    if not (xfs["inode_b"] == 256).any():
        assert combine(ledger_of("web_xfs_isz", source))[0] in UNTESTED
    assert combine(ledger_of("db_rmw", source))[0] in UNTESTED
