"""All 71 claims of greenfs08 get a verdict or say what they need, and it comes from the data."""

import math

import pandas as pd
import pytest

from fsgreen import design, outcome
from fsgreen.analysis.claims import Claims, Source
from fsgreen.analysis.claims.ledger import (
    VIRTUAL,
    claims_table,
    judge_claims,
    parts_of,
    parts_table,
)
from fsgreen.analysis.claims.together import parts_together
from fsgreen.analysis.claims.told import as_told
from fsgreen.claims import combine
from fsgreen.papers.greenfs08 import evaluation, figures, tables
from fsgreen.papers.greenfs08.claims import CHECKS, LIMIT, Days
from fsgreen.papers.greenfs08.days import DAY_S, DAYS
from fsgreen.papers.greenfs08.published import RECOMPUTED
from fsgreen.papers.greenfs08.reference import DISKS, PAPER, Printed, Way, crossover_mb
from fsgreen.papers.greenfs08.virtual import Simulated
from fsgreen.rules.reporting import Report
from fsgreen.rules.verdicts import in_the_state_of_the_claim

PRINTED = Printed.load()
STUDY = design.load_study(PAPER)  # which declares a factor of its own
OF_PAPER = Claims.of(PAPER, CHECKS, RECOMPUTED)
WEEK_S = DAYS * DAY_S


def simulated(*, awake_w=7.5, asleep_w=1.0, spin_ups=7, most=3, off=1.0, bent=1.0, growth=2):
    """Tables as `fsgreen simulate greenfs08` writes them, of invented numbers."""
    weeks = pd.DataFrame(
        {
            "trace": trace,
            "disk": disk,
            "block": block,
            "duration_s": WEEK_S,
            "work_ops": 1e7,
            "updates_count": 700_000,
            "requests_count": 1.3 * WEEK_S,
            "spin_ups_count": spin_ups,
            "most_in_a_day_count": 1,
            "copied_b": 1e9,
            "awake_j": awake_w * WEEK_S * (1 + block / 1e4),
            "asleep_j": asleep_w * WEEK_S,
            "network_j": 100.0,
            "server_j": 1.8 * WEEK_S,
        }
        for trace in ("JEFF", "PURCELL")
        for disk in DISKS.values()
        for block in range(1, 6)
    )
    transfers = pd.DataFrame(
        {
            "disk": disk,
            "size_mb_count": size_mb,
            "energy_j": off * PRINTED.ways[name].energy_j(size_mb) * bent ** (size_mb == 100),
            "duration_s": 3 + size_mb / PRINTED.ways[name].bandwidth_mb_s,
            "equation_j": PRINTED.ways[name].energy_j(size_mb),
        }
        for name, disk in DISKS.items()
        for size_mb in (1, 100, 1000)
    )
    states = {"idle_w": 7.5, "standby_w": 1.0, "transfer_w": 11.0}
    return Simulated(
        weeks,
        transfers,
        pd.DataFrame({"disk": disk, **states} for disk in DISKS.values()),
        pd.DataFrame({"most_in_a_day_count": [most], "runs_count": [1000], "days_count": [10_000]}),
        pd.DataFrame({"copied_b": [growth**nth * 2**30 for nth in range(3)]}),
        pd.DataFrame({"trip": ["elevator", "stairs"], "disk_stops_count": [0, 0]}),
    )


def parts(slug, **of):
    source = Days(simulated(**of), PRINTED, OF_PAPER.needs)
    return parts_of(OF_PAPER, slug, source, CHECKS)


def verdict(slug, **of):
    return combine(parts(slug, **of))[0]


def test_every_claim_is_judged_or_says_what_it_needs():
    """71 claims; a check that no claim names would be dead, and so would a need."""
    entries = OF_PAPER.entries
    assert len(entries) == 71
    assert {entry.check for entry in entries.values() if entry.check} == set(CHECKS)
    source = Days(simulated(), PRINTED, OF_PAPER.needs)
    ledger = judge_claims(OF_PAPER, {VIRTUAL: source}, CHECKS, RECOMPUTED, PRINTED)
    for slug, found in ledger.items():
        assert all(part.tested or part.needs for part in found), slug
    bases = {part.basis for found in ledger.values() for part in found if part.tested}
    assert bases == {"simulated", "by construction", "published"}, "no trial is among them"
    told = "; ".join(part.needs for found in ledger.values() for part in found)
    unused = [name for name, text in OF_PAPER.needs.items() if text not in told]
    assert unused == ["wall-meter"], "every study may lack a meter"


def test_weeks_in_virtual_time_are_no_trials_of_the_campaign_beside_them():
    """Its outcome had "2 of them by its trials", and rule 45 asked for the state of these."""
    source = Days(simulated(), PRINTED, OF_PAPER.needs)
    ledger = judge_claims(OF_PAPER, {VIRTUAL: source}, CHECKS, RECOMPUTED, PRINTED)
    table = claims_table(OF_PAPER, ledger, "simdisk", "simulated")
    of_weeks = table[table["basis"] == "simulated"]
    assert {*of_weeks["slug"]} >= {"g_total_7", "g_storage_60"}
    first, *_ = outcome._verdicts("c", of_weeks.to_dict("records"))
    assert f"verdicts on {len(of_weeks)} claims, 0 of them by its trials" in first
    read = table.assign(testbed=table["testbed"].where(table["testbed"] != ""))
    found = in_the_state_of_the_claim(Report({}, read, frozenset(table["slug"])))
    assert found.state == "quiet"
    assert found.found.startswith("trials decide no claim")


def test_weeks_beside_two_campaigns_are_one_result():
    """The ledger of the study had two campaigns behind what both took from the same tables."""
    source = Days(simulated(), PRINTED, OF_PAPER.needs)
    parts = parts_table(judge_claims(OF_PAPER, {VIRTUAL: source}, CHECKS, RECOMPUTED, PRINTED))
    place = {"profile": "", "place": "", "testbed": "simdisk"}
    told = {name: as_told(parts, campaign=name, **place) for name in ("one", "two")}
    rows = parts_together(told)
    of_weeks = rows[(rows["slug"] == "g_storage_60") & (rows["kind"] == "simulated")]
    assert of_weeks["verdict"].tolist() == ["reproduced"]
    assert of_weeks["campaigns_count"].tolist() == [1]


@pytest.mark.parametrize("function", RECOMPUTED.values(), ids=RECOMPUTED)
def test_what_a_recomputation_lacks_has_a_name(function):
    slug = next(name for name, of in RECOMPUTED.items() if of is function)
    found = list(function(PRINTED, OF_PAPER.stated[slug]["numbers"]))
    assert any(part.tested for part in found)
    assert all(part.tested or part.needs in OF_PAPER.needs for part in found)


def test_equation_1_has_the_crossovers_that_follow_from_table_2():
    """As the reference data derive them: 153.2, 81.1 and 7.6 MB against 802.11g."""
    ways = PRINTED.ways
    found = {
        (disk, network): crossover_mb(ways[disk], ways[network])
        for disk in DISKS
        for network in ("100mbps_ethernet", "802.11g")
    }
    assert found["server_hdd", "802.11g"] == pytest.approx(153.2, abs=0.05)
    assert found["desktop_hdd", "802.11g"] == pytest.approx(81.1, abs=0.05)
    assert found["notebook_hdd", "802.11g"] == pytest.approx(7.6, abs=0.05)
    assert found["notebook_hdd", "100mbps_ethernet"] == pytest.approx(93.36, abs=0.005)
    assert math.isinf(found["server_hdd", "100mbps_ethernet"])
    disk, network = ways["server_hdd"], ways["802.11g"]
    size_mb = found["server_hdd", "802.11g"]
    assert disk.energy_j(size_mb) == pytest.approx(network.energy_j(size_mb))
    assert crossover_mb(network, disk) == 0.0


def test_a_network_that_starts_dearer_never_pays():
    disk, network = Way("disk", 1, 1, 10), Way("network", 2, 1, 1)
    assert crossover_mb(disk, network) == 0.0


@pytest.mark.parametrize(
    ("slug", "expected"),
    [
        ("g_t4_server", ["not reproduced"]),
        ("g_t4_desktop", ["reproduced"]),
        ("g_shares", ["reproduced", "not reproduced", "reproduced"]),
        ("g_hdd_share_cited", ["reproduced", "not reproduced", "not reproduced"]),
        ("g_total_7", ["reproduced", "direction only, size excluded"]),
        ("g_server_spikes", ["reproduced"]),
    ],
)
def test_printed_numbers_are_held_against_each_other(slug, expected):
    """12 % saved on SERVER is what table 4 prints, and not what its watts give."""
    found = RECOMPUTED[slug](PRINTED, OF_PAPER.stated[slug]["numbers"])
    assert [part.verdict for part in found if part.tested] == expected


@pytest.mark.parametrize(
    ("slug", "of", "expected"),
    [
        ("g_storage_60", {}, "reproduced"),
        ("g_storage_60", {"awake_w": 5.0}, "direction only, size excluded"),
        ("g_storage_60", {"asleep_w": 7.0}, "reversed"),
        ("g_total_7", {}, "reproduced"),
        ("g_one_spinup", {}, "by construction"),
        ("g_one_spinup", {"spin_ups": 14}, "not reproduced"),
        ("g_spinup_limit", {}, "by construction"),
        ("g_spinup_limit", {"most": LIMIT + 1}, "not reproduced"),
        ("g_spinup_limit", {"growth": 1}, "not reproduced"),
        ("g_eq1", {}, "by construction"),
        ("g_eq1", {"bent": 1.02}, "not reproduced"),
        ("g_t2_desktop_hdd", {}, "by construction"),
        ("g_t2_desktop_hdd", {"off": 1.5}, "not reproduced"),
        ("g_standby_vs_busy", {}, "by construction"),
        ("g_server_rate", {}, "by construction"),
    ],
)
def test_verdicts_in_virtual_time_follow_the_tables(slug, of, expected):
    assert verdict(slug, **of) == expected


def test_an_order_of_four_is_not_reproduced_by_its_ends():
    """Only the local disk and GreenFS were compared; that GreenFS and flash are level was not."""
    files = {
        "ext3": (None, 2.0),
        "ext3 ": ("x25-m-g2-slowed", 1.06),
        "greenfs": ("x25-m-g2-slowed", 1.0),
    }
    rows = [
        {
            **{"workload": "startup", "file_system": name.strip(), "option": "default"},
            **{"flash": flash, "load_ops_s": None, "block": block, "resident_percent": 0.0},
            "events_count": 0,
            "duration_s": took_s * (1 + block / 1000),
        }
        for name, (flash, took_s) in files.items()
        for block in range(1, 6)
    ]
    source = Source(pd.DataFrame(rows), 0.01, OF_PAPER.needs)
    found = {
        part.published: part.verdict
        for part in parts_of(OF_PAPER, "g_em_order", source, CHECKS)
        if part.what.startswith("startup")
    }
    assert found == {
        "slower from the local disk than on GreenFS": "reproduced",
        "slower from the local disk than by NFS": "not testable here",
        "flash and GreenFS level": "not reproduced",
    }


@pytest.mark.parametrize(
    ("events_count", "expected"), [(0, "reproduced"), (4, "not in the state of the claim")]
)
def test_what_was_disturbed_decides_no_claim_on_what_was_not(events_count, expected):
    """A compilation while the cable is out would pass for GreenFS's own slowness."""
    rows = [
        {
            **{"workload": "compile", "file_system": name, "option": "default", "flash": flash},
            **{"load_ops_s": None, "block": block, "resident_percent": 0.0},
            **{"events_count": events_count, "duration_s": took_s * (1 + block / 1000)},
        }
        for name, flash, took_s in (("ext3", None, 2.0), ("greenfs", "x25-m-g2-slowed", 2.18))
        for block in range(1, 6)
    ]
    source = Source(pd.DataFrame(rows), 0.01, OF_PAPER.needs)
    text, program = parts_of(OF_PAPER, "g_ssh_greenfs", source, CHECKS)
    assert text.verdict == expected
    assert program.what.startswith("openssh") and program.verdict == "not testable here"


@pytest.mark.parametrize(("cpu_s", "expected"), [(48.0, "reproduced"), (15.0, "not reproduced")])
def test_a_compilation_that_waits_is_not_dominated_by_the_processor(cpu_s, expected):
    rows = [
        {
            **{"workload": "openssh", "file_system": "ext3", "option": "default", "flash": None},
            **{"load_ops_s": None, "block": block, "resident_percent": 0.0, "events_count": 0},
            **{"duration_s": 50 + block, "workload_cpu_s": cpu_s},
        }
        for block in range(1, 6)
    ]
    source = Source(pd.DataFrame(rows), 0.01, OF_PAPER.needs)
    (part,) = parts_of(OF_PAPER, "g_ssh_cpu_bound", source, CHECKS)
    assert part.verdict == expected


def test_trips_count_what_greenfs_does_and_leave_aps_open():
    """Nothing comes near the limits in so short a time: asleep it stays by construction."""
    found = parts("g_t5_elevator")
    assert [part.verdict for part in found] == ["by construction", "not testable here"]
    assert "accelerometer" in found[1].needs


def test_a_campaign_has_no_generated_days():
    """Checks of days must give no part, and no error, on the trials of a campaign."""
    assert all(list(check(object(), [])) == [] for check in CHECKS.values())


def test_figures_and_tables_say_what_they_rest_on():
    """A simulated watt without a mark would be taken for a measured one."""
    days = simulated()
    for drawn in (evaluation.equation(PRINTED, days), evaluation.storage(days)):
        texts = [text.get_text() for axes in drawn.axes for text in axes.texts]
        assert "simulated disk" in texts
    assert "virtual time" in evaluation.budget(days).get_supxlabel()
    for bars, printed_count in ((figures.COMPILE, 6), (figures.STARTUP, 4)):
        drawn = figures.elapsed(bars, PRINTED)
        assert "no trial is in this figure" in drawn.get_supxlabel()
        assert len(drawn.axes[0].patches) == printed_count
    for _, title, table in tables.tables(PRINTED, days):
        assert len(table) and not table.isna().any(axis=None), title
    without = {name: table for name, _, table in tables.tables(PRINTED, None)}
    assert (without["table2"].iloc[:, -1] == tables.NOTHING).all()


def test_a_campaigns_cells_stand_beside_the_printed_bars():
    cells = pd.DataFrame(
        {
            "workload": "compile",
            "file_system": ["ext2", "ext3", "greenfs"],
            "option": "default",
            "flash": [None, None, "memory"],
            "duration_s": [9.0, 10.0, 8.0],
        }
    )
    drawn = figures.elapsed(figures.COMPILE, PRINTED, cells)
    labels = [label.get_text() for label in drawn.axes[0].get_yticklabels()]
    ours = ["ext2, compile here", "ext3, compile here", "greenfs on flash, compile here"]
    assert labels[-3:] == ours
    assert [patch.get_width() for patch in drawn.axes[0].patches][-3:] == [0.9, 1.0, 0.8]


@pytest.mark.parametrize("profile", STUDY.profiles)
def test_its_profiles_can_be_planned(profile):
    plan = design.make_plan(STUDY, profile)
    assert {cell["file_system"] for cell in plan.cells} >= {"ext3", "greenfs"}
