"""Rules that fire for more than one cause: each of the others."""

import itertools
from dataclasses import replace

import pandas as pd
import pytest
import sound_campaign
from sound_campaign import answer, with_check, with_plan, with_record, with_states
from synthetic import edited

from fsgreen.design import factors


def test_a_frugal_disk_idles_below_a_band_of_its_own(sound):
    """Rule 11: the band of the hungriest disk would let another's trials begin at work."""
    held = of_two_bands(sound, "disk", {"frugal": 4.0, "hungry": 15.0})
    identity = {**sound.identity, "idle_bands_w": {"frugal": 5.0, "hungry": 20.0}}
    assert_bands_apart(replace(held, identity=identity))


def test_a_power_state_has_an_idle_band_of_its_own(sound):
    """Rule 11: in the band of a drive that may not rest, one that rests would begin at work."""
    held = of_two_bands(sound, "nvme_power_state", {4: 4.0, 0: 15.0})
    state = factors.Factor("nvme_power_state", owner="device", kind="number")
    bands_w = {"nvme_power_state 4": 5.0, "nvme_power_state 0": 20.0}
    constants = {**sound.plan.constants, "nvme_power_state": 0}
    plan = replace(held.plan, factors=(state,), constants=constants)
    identity = {**sound.identity, "idle_bands_w": bands_w}
    assert_bands_apart(replace(held, plan=plan, identity=identity))


def of_two_bands(sound, factor, idle_w):
    """The sound campaign with two levels of a factor by turns, which idle at these watts."""
    levels = itertools.cycle(idle_w)
    records = [edited(r, cell={**r.cell, factor: next(levels)}) for r in sound.records]
    of_trial_w = {r.trial: idle_w[r.cell[factor]] for r in records}
    trials = sound.trials.assign(idle_power_before_w=sound.trials["trial"].map(of_trial_w))
    return replace(sound, records=records, trials=trials)


def assert_bands_apart(held):
    """Each of two bands holds for its own half of the trials."""
    assert answer(11, held).state == "quiet"
    late = held.trials.assign(idle_power_before_w=15.0)
    found = answer(11, replace(held, trials=late))
    assert found.state == "fired"
    assert f"{len(late) // 2} of {len(late)} trials idled above the band of 5.0 W or 20.0 W" in (
        found.found
    )


def test_a_trial_that_ran_in_another_block_is_named(sound):
    """It would be compared with trials that are half an hour away."""
    first = sound.records[0]
    late = with_record(sound, clock={"monotonic_s": first.clock.monotonic_s, "unix_s": 1.9e9})
    found = answer(3, late)
    assert found.state == "fired"
    assert f"1 of them apart from the rest of the block: {first.trial}" in found.found


def test_a_comparison_of_parts_of_a_disk_is_named_by_the_part(sound):
    """Numbers alone would not tell a partition from a depth."""
    outer = sound.effects.iloc[:1].assign(
        readers=8.0, partition=1.0, baseline_partition=4.0, ratio_low_x=float("nan")
    )
    found = answer(35, replace(sound, effects=outer)).found
    assert "8 readers partition 1 over" in found
    assert found.endswith("partition 4")


def test_a_missing_trial_breaks_its_block(sound):
    found = answer(3, replace(sound, records=sound.records[1:]))
    assert found.state == "fired"
    assert "29 of 30 trials that are due: 1 missing" in found.found


def test_a_trial_older_than_its_campaign_is_no_part_of_it(sound):
    early = with_record(sound, clock={"monotonic_s": 0.0, "unix_s": 1.0})
    assert "older than the campaign" in answer(1, early).found


@pytest.mark.parametrize("slow", ["start", "end"])
def test_a_processor_that_was_slow_at_one_end_of_a_trial_fires(slow, sound):
    """A trial that began at half the speed and ended at the whole was measured in between."""
    trial = sound.records[0].trial
    ends = {**sound.audits[trial], slow: {**sound_campaign.AUDIT, "speed_loops_s": 0.5e7}}
    found = answer(9, replace(sound, audits={**sound.audits, trial: ends}))
    assert found.state == "fired"
    assert "50.0 % off" in found.found


def test_machines_that_differ_are_named_by_the_key(sound):
    other = {**sound_campaign.AUDIT, "kernel": "Linux 7"}
    changed = {**sound.audits, sound.records[3].trial: {"start": other, "end": other}}
    found = answer(9, replace(sound, audits=changed))
    assert found.state == "fired"
    assert "kernel" in found.found


def test_a_cell_mounted_in_two_ways_is_two_cells(sound):
    mount = {**sound_campaign.MOUNT, "mount_options": ["rw", "noatime"]}
    found = answer(9, with_record(sound, mount=mount))
    assert found.state == "fired"
    assert "more than one way" in found.found


def test_another_number_of_the_same_device_is_no_other_machine(sound):
    mount = {**sound_campaign.MOUNT, "device": "/dev/loop7", "mkfs": ["mkfs", "/dev/loop7"]}
    assert answer(9, with_record(sound, mount=mount)).state == "quiet"


def test_what_was_written_to_reach_a_state_is_no_other_way_to_mount(sound):
    """A disk that was discarded before each trial but the first is not two machines."""
    mounts = [
        {**sound_campaign.MOUNT, "state": {"name": "initial", "written_b": b, "discarded_b": b}}
        for b in (0, 1 << 30)
    ]
    for place, mount in enumerate(mounts):
        sound = with_record(sound, place, mount=mount)
    records = [r if "state" in r.mount else r.but(mount=mounts[1]) for r in sound.records]
    assert answer(9, replace(sound, records=records)).state == "quiet"
    records[0] = records[0].but(mount={**mounts[0], "state": {"name": "steady"}})
    assert answer(9, replace(sound, records=records)).state == "fired"


def test_memory_cannot_be_declared_cold(sound):
    identity = {**sound.identity, "testbed": {"kind": "directory", "cold_cache": False}}
    assert "no cold cache" in answer(7, replace(sound, identity=identity)).found


def test_a_device_that_could_not_be_made_to_forget_fires(sound):
    """Rule 8: on most laptops the file system below is mounted without discard."""
    left = {"left": "not restored: /var is mounted without discard", "remembers": True}
    found = answer(8, with_states(sound, written_b=0, discarded_b=0, **left))
    assert found.state == "fired"
    assert "mounted without discard (30 trials)" in found.found


def test_a_device_that_was_left_is_not_called_verified(sound):
    """Rule 8: nothing was written to it or discarded; the answer must say what is true."""
    left = "no state to restore in memory"
    found = answer(8, with_states(sound, written_b=0, discarded_b=0, left=left))
    assert found.state == "quiet"
    assert found.found == f"declared initial: {left} (30 trials)"


def test_a_steady_device_is_verified_by_what_was_written_wherever_it_is(sound):
    found = answer(8, with_states(sound, name="steady", left="no state to restore in memory"))
    assert found.state == "quiet"
    assert "verified in 30 trials" in found.found


@pytest.mark.parametrize(
    ("level", "cells", "state"), [(0.938, 1, "fired"), (0.938, 3, "fired"), (0.89, 0, "quiet")]
)
def test_file_systems_that_resisted_aging_are_named(level, cells, state, sound):
    """Rule 8: an aged ext4 beside an xfs that hardly aged are two states under one name."""
    names = [cell["file_system"] for cell in sound_campaign.CELLS]
    aged = {
        name: {
            "layout_score_x": level if nth < cells else 0.89,
            "target_layout_score_x": 0.9,
            "shortfall_x": level - 0.9 if nth < cells else 0.0,
        }
        for nth, name in enumerate(names)
    }
    records = [
        r.but(mount={**r.mount, "fragmentation": aged[r.cell["file_system"]]})
        for r in sound.records
    ]
    found = answer(8, replace(sound, records=records))
    assert found.state == state
    if cells:
        assert f"in {cells} cell" in found.found
        assert f"webserver {names[0]}" in found.found
        assert "(layout score 0.938, asked for 0.9 at most)" in found.found


def test_what_the_preflight_table_warned_of_fires(sound):
    """Rule 10: also at the second start, which may be on another day."""
    starts = [
        {"unix_s": 1.8e9, "findings": [finding("SMT", "on", "note")]},
        {
            "unix_s": 1.9e9,
            "findings": [
                finding("timers", "cron may start jobs", "warning"),
                finding("CPU governor", "2 x ondemand", "warning"),
            ],
        },
    ]
    noted = replace(sound, identity={**sound.identity, "preflight": starts})
    found = answer(10, noted)
    assert found.state == "fired"
    assert "preflight, timers: cron may start jobs" in found.found
    assert "SMT" not in found.found
    assert "ondemand" not in found.found, "the audit says what it was"
    calm = {**sound.identity, "preflight": starts[:1]}
    assert answer(10, replace(sound, identity=calm)).state == "quiet"


def finding(subject, state, severity):
    """A row of the preflight table as a campaign keeps it."""
    return {"subject": subject, "state": state, "severity": severity, "remedy": ""}


@pytest.mark.parametrize(("number", "factor"), [(7, "cache"), (8, "device")])
def test_a_state_that_is_neither_constant_nor_factor_fires(number, factor, sound):
    constants = {k: v for k, v in sound.plan.constants.items() if k != factor}
    assert (
        "neither constant nor as a factor"
        in answer(number, with_plan(sound, constants=constants)).found
    )


@pytest.mark.parametrize(
    ("disks", "words"),
    [
        (["wd200bb"], "; one device"),
        ([None], "; one device"),
        (["wd200bb", "ddys-t36950n"], "2 devices (ddys-t36950n, wd200bb), each cell on one"),
        (["wd200bb", None], "2 devices (wd200bb, the testbed's own), each cell on one"),
    ],
)
def test_the_devices_of_a_campaign_are_counted(disks, words, sound):
    """Rule 5: what two disks have in common must not pass for what one of them is."""
    of_row = [disks[-1] if name == "xfs" else disks[0] for name in sound.trials["file_system"]]
    trials = sound.trials.assign(disk=pd.Series(of_row, sound.trials.index))
    assert words in answer(5, replace(sound, trials=trials)).found


def test_a_disk_and_the_flash_beside_it_are_two_devices(sound):
    of_row = ["memory" if name == "xfs" else None for name in sound.trials["file_system"]]
    trials = sound.trials.assign(flash=pd.Series(of_row, sound.trials.index))
    assert (
        "2 devices (the testbed's own, flash memory)"
        in answer(5, replace(sound, trials=trials)).found
    )


def modelled(sound):
    """The sound campaign as if its power were that of a model, but for the table of effects."""
    meters = {
        name: {**m, "boundary": "modelled"} for name, m in sound_campaign.at_the_wall().items()
    }
    records = [edited(r, boundary="modelled", meters=meters) for r in sound.records]
    return replace(
        sound,
        identity={**sound.identity, "boundary": "modelled"},
        records=records,
        trials=sound.trials.assign(boundary="modelled"),
        cells=sound.cells.assign(boundary="modelled"),
    )


def test_effects_of_modelled_power_are_labelled(sound):
    """Rule 19: work per energy is compared there, and the number leaves the report with its row."""
    model = modelled(sound)
    assert answer(19, labelled(model, "modelled")).state == "quiet"
    older = replace(model, effects=model.effects.drop(columns="boundary", errors="ignore"))
    bare = labelled(model, None)
    for unlabelled in (older, bare):
        found = answer(19, unlabelled)
        assert found.state == "fired"
        count = (sound.effects["metric"] == "efficiency").sum()
        assert f"{count} comparisons of work per energy in effects.csv" in found.found
    assert "different boundaries: modelled, wall" in answer(19, labelled(model, "wall")).found


def test_only_effects_of_modelled_power_need_the_label(sound):
    """Rule 19: speed has no boundary, and tables of before there was a label are of meters, too."""
    model = modelled(sound)
    assert answer(19, labelled(sound, None)).state == "quiet"
    assert answer(19, replace(model, effects=sound.effects.iloc[:0])).state == "quiet"
    speed = labelled(model, None).effects
    speed = speed[speed["metric"] == "throughput"]
    assert answer(19, replace(model, effects=speed)).state == "quiet"


def labelled(evidence, boundary):
    """The campaign with this boundary in its table of effects."""
    return replace(evidence, effects=evidence.effects.assign(boundary=boundary))


def test_trials_far_from_their_cells_median_are_named(sound):
    """Rule 32: flagged means that a reader can look at them; they stay."""
    trials = sound.trials.assign(throughput_ops_s=1000.0 + sound.trials["block"])
    assert (
        "0 of them far from their cell's median;" in answer(32, replace(sound, trials=trials)).found
    )
    far = trials.index[[2, 7]]
    trials.loc[far, "throughput_ops_s"] *= 3
    found = answer(32, replace(sound, trials=trials))
    assert found.state == "quiet"
    names = ", ".join(trials.loc[far, "trial"])
    assert f"2 of them far from their cell's median ({names})" in found.found


@pytest.mark.parametrize("number", [13, 14, 20, 21, 40])
def test_a_trial_that_counts_in_spite_of_a_failed_check_fires(number, sound):
    assert answer(number, with_check(sound, number)).state == "fired"


def test_raw_bytes_that_were_not_kept_fire(sound):
    files = {k: v for k, v in sound.records[0].files.items() if k != "power.raw"}
    assert "bytes were not kept" in answer(22, with_record(sound, files=files)).found


def test_a_ratio_of_warm_cells_cannot_be_read_from_cold_ones(sound):
    """Rule 30: the absolute values are those of the same state."""
    found = answer(30, replace(sound, effects=sound.effects.assign(cache="warm")))
    assert found.state == "fired"
    assert "warm" in found.found
