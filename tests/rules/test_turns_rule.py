"""Rule 47: what scatters among cells that take turns, and which were not ready together."""

from dataclasses import replace

import numpy as np
from sound_campaign import answer, with_plan
from synthetic import edited

from fsgreen.design import Windows


def in_turns(sound, ready):
    """The sound campaign in windows: the trials of a block took turns, so many at a time."""
    profile = replace(sound.plan.profile, windows=Windows(10, 1.0, ready))
    of_block = {}
    for record in sound.records:
        of_block.setdefault(record.block, []).append(record.trial)
    beside = {
        name: names[nth - nth % ready : nth - nth % ready + ready]
        for names in of_block.values()
        for nth, name in enumerate(names)
    }
    records = [
        edited(record, beside={"trials": beside[record.trial], "order": [1] * 10})
        for record in sound.records
    ]
    return replace(with_plan(sound, profile=profile), records=records)


def test_cells_that_took_turns_say_what_dominates(sound):
    """Rule 47: a pilot tells whether to buy blocks or windows."""
    found = answer(47, in_turns(sound, 3))
    assert found.state == "quiet"
    assert "between makings" in found.found
    assert "so that another window buys most: a ratio is known to" in found.found


def test_what_the_host_took_is_told_where_windows_know_it(sound):
    """Rule 47: steal that makes windows slow is another cause than the file system."""
    steal = np.random.default_rng(1).uniform(0, 20, len(sound.series))
    slower = sound.series.assign(
        throughput_ops_s=sound.series["throughput_ops_s"] * np.exp(-0.05 * steal),
        cpu_steal_percent=steal,
        core_clock_hz=np.nan,
    )
    found = answer(47, in_turns(replace(sound, series=slower), 3)).found
    assert "(of which time that the host took 9" in found
    assert "clock" not in found


def test_cells_that_were_not_ready_together_are_told(sound):
    """Rule 47: their ratio is between different minutes, as it is without windows."""
    found = answer(47, in_turns(sound, 2))
    assert found.state == "fired"
    assert "in 10 of 10 blocks" in found.found


def test_windows_without_work_have_no_components(sound):
    """Rule 47: a logarithm of nothing must not pass for a small scatter."""
    idle = sound.series.assign(throughput_ops_s=0.0)
    assert "no logarithm" in answer(47, in_turns(replace(sound, series=idle), 3)).found
