"""Rules that fire for more than one cause: each of the others."""

from dataclasses import replace

import numpy as np
import pytest
import sound_campaign
from sound_campaign import answer, retabled, with_check, with_plan, with_record

from fsgreen.rules.reporting import verdict_per_claim


def test_a_frugal_disk_idles_below_a_band_of_its_own(sound):
    """Rule 11: the band of the hungriest disk would let another's trials begin at work."""
    identity = {**sound.identity, "idle_bands_w": {"frugal": 5.0, "hungry": 20.0}}
    disks = np.where(sound.trials["order"] % 2, "frugal", "hungry")
    idle_w = np.where(disks == "frugal", 4.0, 15.0)
    trials = sound.trials.assign(disk=disks, idle_power_before_w=idle_w)
    held = replace(sound, identity=identity, trials=trials)
    assert answer(11, held).state == "quiet"
    late = trials.assign(idle_power_before_w=15.0)
    found = answer(11, replace(held, trials=late))
    assert found.state == "fired"
    assert f"{(disks == 'frugal').sum()} of {len(trials)}" in found.found


def test_a_trial_that_ran_in_another_block_is_named(sound):
    """It would be compared with trials that are half an hour away."""
    first = sound.records[0]
    late = with_record(sound, clock={**first["clock"], "unix_s": 1.9e9})
    found = answer(3, late)
    assert found.state == "fired"
    assert f"1 of them apart from the rest of the block: {first['trial']}" in found.found


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
    trial = sound.records[0]["trial"]
    ends = {**sound.audits[trial], slow: {**sound_campaign.AUDIT, "speed_loops_s": 0.5e7}}
    found = answer(9, replace(sound, audits={**sound.audits, trial: ends}))
    assert found.state == "fired"
    assert "50.0 % off" in found.found


def test_machines_that_differ_are_named_by_the_key(sound):
    other = {**sound_campaign.AUDIT, "kernel": "Linux 7"}
    changed = {**sound.audits, sound.records[3]["trial"]: {"start": other, "end": other}}
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
    records = [r if "state" in r["mount"] else {**r, "mount": mounts[1]} for r in sound.records]
    assert answer(9, replace(sound, records=records)).state == "quiet"
    records[0] = {**records[0], "mount": {**mounts[0], "state": {"name": "steady"}}}
    assert answer(9, replace(sound, records=records)).state == "fired"


def test_memory_cannot_be_declared_cold(sound):
    identity = {**sound.identity, "testbed": {"kind": "directory", "cold_cache": False}}
    assert "no cold cache" in answer(7, replace(sound, identity=identity)).found


@pytest.mark.parametrize(("number", "factor"), [(7, "cache"), (8, "device")])
def test_a_state_that_is_neither_constant_nor_factor_fires(number, factor, sound):
    constants = {k: v for k, v in sound.plan.constants.items() if k != factor}
    assert (
        "neither constant nor as a factor"
        in answer(number, with_plan(sound, constants=constants)).found
    )


def test_another_scheduler_than_declared_fires(sound):
    mount = {**sound_campaign.MOUNT, "scheduler": "bfq"}
    assert "another scheduler" in answer(40, with_record(sound, mount=mount)).found


@pytest.mark.parametrize("number", [13, 14, 20, 21, 40])
def test_a_trial_that_counts_in_spite_of_a_failed_check_fires(number, sound):
    assert answer(number, with_check(sound, number)).state == "fired"


def test_raw_bytes_that_were_not_kept_fire(sound):
    files = {k: v for k, v in sound.records[0]["files"].items() if k != "power.raw"}
    assert "bytes were not kept" in answer(22, with_record(sound, files=files)).found


def test_a_ratio_of_warm_cells_cannot_be_read_from_cold_ones(sound):
    """Rule 30: the absolute values are those of the same state."""
    found = answer(30, replace(sound, effects=sound.effects.assign(cache="warm")))
    assert found.state == "fired"
    assert "warm" in found.found


def test_what_ended_the_cells_is_told(sound):
    """Rule 27: by the target after five blocks, though there might have been ten."""
    profile = replace(sound.plan.profile, blocks=5, most_blocks=10)
    found = answer(27, with_plan(sound, profile=profile))
    assert found.state == "quiet"
    assert "ended by target: 3" in found.found


def test_a_campaign_that_ends_before_its_cells_do_has_whole_blocks(sound):
    """Rule 27 tells what was not reached; nothing is wrong with the order of what was (rule 3)."""
    five = retabled(sound, sound.trials[sound.trials["block"] <= 5])
    records = [record for record in sound.records if record["block"] <= 5]
    profile = replace(sound.plan.profile, blocks=5, most_blocks=10)
    bounds = {**sound.plan.bounds, "ci_half_width_percent": 1e-6}
    ended = with_plan(replace(five, records=records), profile=profile, bounds=bounds)
    assert answer(3, ended).state == "quiet"
    found = answer(27, ended)
    assert found.state == "fired"
    assert "ended by still open: 3, after 5 of up to 10 blocks" in found.found
    begun = replace(ended, records=[*records, sound.records[-1]])
    assert "missing" in answer(3, begun).found


def test_a_record_of_stopping_that_its_trials_deny_fires(sound):
    found = answer(27, replace(sound, stopping=stopping_of(sound, 0)))
    assert "not what their trials say" in found.found
    assert found.state == "fired"


def test_a_record_of_stopping_before_the_last_trials_is_no_answer(sound):
    """A campaign that was broken off would be told that its trials had been tampered with."""
    found = answer(27, replace(sound, stopping=stopping_of(sound, 1)))
    assert found.state == "unknown"
    assert "older than the trials" in found.found


def stopping_of(sound, missing_count):
    """A record that lacks so many trials of each cell and ends each with the last block."""
    counts = {cell: len(sound.trials) // len(sound.plan.cells) for cell in sound.plan.cells}
    return {
        "cells": [
            {"cell": cell.label, "n": n - missing_count, "ended": "maximum"}
            for cell, n in counts.items()
        ]
    }


def test_a_verdict_that_rests_on_modelled_power_fires():
    report = sound_campaign.make_report()
    claims = report.claims.assign(boundary=["modelled", None])
    assert "rest on modelled power" in verdict_per_claim(replace(report, claims=claims)).found
