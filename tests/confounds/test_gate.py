"""The gate: what is held passes however large, what is not must be smaller than the effect."""

import json
import math

import pandas as pd
import pytest
import synthetic
import synthetic_readers

from fsgreen import confounds, paths, reduce
from fsgreen.analysis import standard
from fsgreen.analysis.comparisons import USUAL, pairs_of
from fsgreen.analysis.effects import effects_table
from fsgreen.analysis.scatter import TREATMENTS
from fsgreen.confounds import KNOWN, Gate, Size, sentence
from fsgreen.design import columns, factors, load_study
from fsgreen.stats import Estimate

LARGE = Size(43.0, 40.0, 46.0, 2.0, 1e-6, "3 and 1")
CHANCE = Size(8.0, -2.0, 19.0, 9.0, 0.4)
UNMEASURED = Size(math.nan, math.nan, math.nan, math.nan, math.nan)

PLACE = "place on the device"
OUTER = {"workload": "readers", "file_system": "ext4", "option": "default", "partition": 1}
INNER = {**OUTER, "partition": 4}
XFS = {**OUTER, "file_system": "xfs"}


def gate(trials, size=LARGE, **sizes):
    """The gate of trials given as (cell, levels of confounds that are not alike)."""
    rows = [
        {**dict.fromkeys(factors.names()), **dict.fromkeys(KNOWN, "alike"), **cell, **levels}
        for cell, levels in trials
    ]
    every = {name: sizes.get(name, size) for name in KNOWN}
    return Gate(pd.DataFrame(rows), every)


def change(percent, low, high):
    return Estimate(*(1 + value / 100 for value in (percent, low, high)), 5)


def test_what_was_held_endangers_nothing_however_large():
    """43 % by place, and a difference of 5 % on one place: it stands."""
    one_place = gate([(OUTER, {}), (XFS, {})])
    ruling = one_place.rule(XFS, OUTER, {"file_system"}, change(5, 4, 6))
    assert (ruling.state, ruling.confound) == ("passed", "none")


def test_a_difference_in_place_is_flagged_unless_it_is_smaller_than_the_effect():
    apart = gate([(OUTER, {PLACE: "quarter 1"}), (XFS, {PLACE: "quarter 4"})])
    small = apart.rule(XFS, OUTER, {"file_system"}, change(20, 15, 25))
    assert (small.state, small.confound, small.size_percent) == ("flagged", PLACE, 43.0)
    assert "differs (quarter 4, quarter 1)" in small.reason
    assert "43 % [40, 46]" in small.reason
    assert apart.rule(XFS, OUTER, {"file_system"}, change(20, 15, 25)) == small
    large = apart.rule(XFS, OUTER, {"file_system"}, change(300, 280, 320))
    assert large.state == "passed"
    assert large.confound == PLACE


def test_an_effect_near_the_confound_is_not_ruled_out():
    """45 % [30, 60] against 43 %: the larger estimate alone proves nothing."""
    apart = gate([(OUTER, {PLACE: "quarter 1"}), (XFS, {PLACE: "quarter 4"})])
    assert apart.rule(XFS, OUTER, {"file_system"}, change(45, 30, 60)).state == "flagged"


def test_slower_counts_as_much_as_faster():
    apart = gate([(OUTER, {PLACE: "quarter 1"}), (XFS, {PLACE: "quarter 4"})])
    halved = Estimate(0.25, 0.24, 0.26, 5)
    assert apart.rule(XFS, OUTER, {"file_system"}, halved).state == "passed"
    slightly = Estimate(0.9, 0.88, 0.92, 5)
    assert apart.rule(XFS, OUTER, {"file_system"}, slightly).state == "flagged"


def test_equivalence_is_endangered_as_well():
    """Two file systems that look alike because the slower lay further out."""
    apart = gate([(OUTER, {PLACE: "quarter 1"}), (XFS, {PLACE: "quarter 4"})])
    assert apart.rule(XFS, OUTER, {"file_system"}, change(0, -2, 2)).state == "flagged"


def test_what_is_studied_is_no_confound_of_itself():
    """Zones against zones is the experiment of nfstricks03, not a mistake."""
    zones = gate([(OUTER, {PLACE: "quarter 1"}), (INNER, {PLACE: "quarter 4"})])
    assert zones.rule(OUTER, INNER, {"partition"}, change(43, 40, 46)).confound == "none"
    assert zones.rule(OUTER, INNER, {"scheduler"}, change(43, 40, 46)).state == "flagged"


def test_read_ahead_that_is_studied_is_no_confound_of_itself():
    load_study("linux-read-ahead")  # which declares the factor
    usual, more = ({**OUTER, "kernel_read_ahead_kib": kib} for kib in (128, 1024))
    sizes = gate([(usual, {"read-ahead": "128 KiB"}), (more, {"read-ahead": "1024 KiB"})])
    studied = sizes.rule(more, usual, {"kernel_read_ahead_kib"}, change(43, 40, 46))
    assert studied.confound == "none"
    assert sizes.rule(more, usual, {"scheduler"}, change(43, 40, 46)).state == "flagged"


def test_a_second_difference_beside_the_studied_one_is_flagged():
    """Schedulers compared on different places."""
    elevator = {**OUTER, "scheduler": "elevator"}
    n_cscan = {**INNER, "scheduler": "n-cscan"}
    trials = [
        (elevator, {PLACE: "quarter 1", "order of requests": "elevator"}),
        (n_cscan, {PLACE: "quarter 4", "order of requests": "n-cscan"}),
    ]
    ruling = gate(trials).rule(elevator, n_cscan, {"scheduler"}, change(30, 25, 35))
    assert (ruling.state, ruling.confound) == ("flagged", PLACE)


@pytest.mark.parametrize(
    ("levels", "why"),
    [
        ([None, "whole"], "is not known to be the same"),
        ([None, None], "is not known to be the same"),
    ],
)
def test_what_nothing_recorded_is_not_held(levels, why):
    """In a directory a file may lie anywhere."""
    trials = [(cell, {PLACE: level}) for cell, level in zip((OUTER, XFS), levels, strict=True)]
    ruling = gate(trials).rule(XFS, OUTER, {"file_system"}, change(5, 4, 6))
    assert ruling.state == "flagged"
    assert why in ruling.reason


def test_trials_of_a_cell_that_differ_are_not_held():
    """Somebody set read_ahead_kb half way through the campaign."""
    trials = [(OUTER, {"read-ahead": level}) for level in ("128 KiB", "0 KiB")]
    trials += [(XFS, {"read-ahead": level}) for level in ("128 KiB", "0 KiB")]
    ruling = gate(trials).rule(XFS, OUTER, {"file_system"}, change(5, 4, 6))
    assert (ruling.state, ruling.confound) == ("flagged", "read-ahead")
    assert "varies between trials" in ruling.reason


def test_what_is_not_known_well_enough_is_unknown():
    """No size, or one that could be chance and could yet be as large as the effect."""
    trials = [(OUTER, {PLACE: None}), (XFS, {PLACE: None})]
    unknown = gate(trials, UNMEASURED).rule(XFS, OUTER, {"file_system"}, change(5, 4, 6))
    assert unknown.state == "unknown"
    assert "not measured" in unknown.reason
    coarse = gate(trials, CHANCE)
    hiding = coarse.rule(XFS, OUTER, {"file_system"}, change(5, 4, 6))
    assert hiding.state == "unknown"
    assert "could be chance, but may be as large" in hiding.reason
    clear = coarse.rule(XFS, OUTER, {"file_system"}, change(30, 25, 35))
    assert clear.state == "passed"
    assert clear.reason.endswith("could be chance")


def test_the_worst_of_several_counts():
    trials = [(OUTER, {PLACE: None, "read-ahead": "0 KiB"}), (XFS, {PLACE: None})]
    both = gate(trials, UNMEASURED, **{"read-ahead": LARGE})
    ruling = both.rule(XFS, OUTER, {"file_system"}, change(5, 4, 6))
    assert (ruling.state, ruling.confound) == ("flagged", "read-ahead")


def test_sharing_among_readers_does_not_change_a_total():
    trials = [(OUTER, {"sharing among readers": "bfq"}), (XFS, {"sharing among readers": "none"})]
    assert gate(trials).rule(XFS, OUTER, {"file_system"}, change(5, 4, 6)).confound == "none"


def test_a_table_gets_its_columns_and_the_report_its_sentence():
    """Numbers of a table that was read again are floats and NaN: they name the same cells."""
    trials = synthetic.trials_frame(synthetic.cells(["webserver"], ["ext3", "xfs"]))
    effects = effects_table(trials, pairs_of(trials, USUAL, TREATMENTS), synthetic.BOUNDS)
    of_cells = trials[factors.names(trials)].drop_duplicates()
    cells = of_cells.to_dict("records")
    held = gate([(cell, {}) for cell in cells]).flags(effects)
    assert held["gate"].tolist() == ["passed", "passed"]
    assert "None of the 2 comparisons is flagged" in sentence(held)
    loose = gate([(cell, {PLACE: None}) for cell in cells]).flags(effects)
    assert loose["gate"].tolist() == ["flagged", "flagged"]
    assert f"2 of 2 comparisons may be the work of {PLACE}" in sentence(loose)
    unmeasured = gate([(cell, {PLACE: None}) for cell in cells], UNMEASURED).flags(effects)
    assert "whose size is not known well enough" in sentence(unmeasured)
    assert sentence(effects.iloc[:0]) == "There is nothing to compare."


def test_a_cell_without_a_record_does_not_pass():
    """A level that is spelt in two ways would switch the gate off."""
    ruling = gate([(OUTER, {})]).rule(XFS, OUTER, {"file_system"}, change(5, 4, 6))
    assert ruling.state == "flagged"
    assert "no record" in ruling.reason


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    synthetic.write_raw("small", synthetic.make_plan(blocks=3))
    return "small"


MOUNT = {
    "scheduler": "none",
    "queue_depth": 128,
    "geometry": {"block_b": 4096, "read_ahead_b": 131072},
}


def rewrite(campaign, change):
    """Change the records of a campaign on disk, by a function of a record."""
    for file in (paths.raw(campaign) / "trials").glob("*/trial.json"):
        record = json.loads(file.read_text())
        change(record)
        file.write_text(json.dumps(record))


def test_levels_are_what_the_records_say(campaign):
    def as_measured(record):
        record["mount"] = MOUNT
        record["checks"] = [{"rule": 7, "ok": True, "detail": "cold"}]

    rewrite(campaign, as_measured)
    levels = confounds.recorded_levels(campaign)
    held = levels.drop(columns=factors.names(levels)).drop_duplicates()
    (row,) = held.to_dict("records")
    assert row == {
        PLACE: "the whole device",
        "requests in flight": "128 in the host",
        "order of requests": "none",
        "sharing among readers": "none",
        "state of the cache": "cold",
        "alignment": "blocks of 4096 B",
        "read-ahead": "128 KiB",
    }


def test_a_cache_whose_check_failed_was_not_held(campaign):
    def warm(record):
        record["mount"] = MOUNT
        record["checks"] = [{"rule": 7, "ok": False, "detail": "warm"}]

    rewrite(campaign, warm)
    assert confounds.recorded_levels(campaign)["state of the cache"].isna().all()


def test_in_a_directory_the_place_is_nobodys(campaign):
    file = paths.raw(campaign) / "campaign.json"
    identity = json.loads(file.read_text())
    identity["testbed"] = {"kind": "directory"}
    file.write_text(json.dumps(identity))
    found = confounds.recorded_levels(campaign)
    assert found[PLACE].isna().all()
    assert found["requests in flight"].isna().all()


def test_the_analysis_writes_what_the_gate_says(campaign):
    reduce.write(campaign)
    standard.write(campaign)
    effects = reduce.read_table(campaign, "effects")
    assert set(columns.GATE) <= set(effects.columns)
    assert effects["gate"].tolist() == ["unknown", "unknown"]


def test_who_waits_gates_what_is_said_of_single_readers():
    """Twice the time of the first reader may be the work of another scheduler."""
    trials = [(OUTER, {"sharing among readers": "bfq"}), (XFS, {"sharing among readers": "none"})]
    told = gate(trials).rule(XFS, OUTER, {"file_system"}, change(5, 4, 6), of_each_reader=True)
    assert (told.state, told.confound) == ("flagged", "sharing among readers")


def test_sizes_of_another_disk_or_of_one_quarter_let_nothing_pass():
    """The probe of a disk without a queue says nothing of one that has one."""
    ide = {**OUTER, "disk": "wd200bb"}
    scsi = {**OUTER, "disk": "ddys-t36950n"}
    quarters = {PLACE: "quarter 1"}, {PLACE: "quarter 4"}
    none = Size(4.0, 1.0, 7.0, 3.0, 0.4)

    def ruling(one, other, levels):
        facts = [
            {**dict.fromkeys(factors.names()), **dict.fromkeys(KNOWN, "alike"), **cell, **of}
            for cell, of in zip((one, other), levels, strict=True)
        ]
        probed = {"disk": "wd200bb", "partition": 1}
        every = Gate(pd.DataFrame(facts), dict.fromkeys(KNOWN, none), probed)
        return every.rule(one, other, {"file_system"}, change(20, 15, 25))

    depths = {"requests in flight": "1"}, {"requests in flight": "64"}
    assert ruling(ide, {**ide, "file_system": "xfs"}, depths).state == "passed"
    assert ruling(scsi, {**scsi, "file_system": "xfs"}, depths).state == "unknown"
    inner = {**ide, "partition": 4, "file_system": "xfs"}
    assert ruling(ide, inner, quarters).state == "unknown"
    assert ruling(ide, inner, depths).state == "passed"


def test_the_probe_of_several_disks_was_of_the_last(tmp_path, monkeypatch):
    """The sizes in confounds.json are those of one disk, whichever the baseline has."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    synthetic.write_raw("small", synthetic.make_plan(blocks=3))
    assert confounds.probed_place("small") == {}
    plan = synthetic_readers.make_plan("quick", blocks=2)
    synthetic_readers.write_raw("disks", plan)
    assert confounds.probed_place("disks") == {"disk": plan.cells[-1]["disk"], "partition": 1}
