"""An odd trial is named in every quantity that a campaign decides by, not in throughput alone."""

from dataclasses import replace

from sound_campaign import answer
from synthetic import edited


def test_a_trial_that_is_odd_in_energy_alone_is_named(sound):
    """Rule 32 looked at throughput, and the study compared joules, too."""
    block = sound.trials["block"]
    trials = sound.trials.assign(energy_j=sound.trials["work_ops"] / (10 + block / 10))
    assert "far in efficiency" not in answer(32, replace(sound, trials=trials)).found
    odd = trials.index[7]
    trials.loc[odd, "energy_j"] *= 3
    found = answer(32, replace(sound, trials=trials))
    assert found.state == "quiet"
    assert found.found.endswith(f"; far in efficiency: {trials.loc[odd, 'trial']}")


def test_a_metric_that_nothing_compares_is_not_looked_at(sound):
    speed = sound.effects[sound.effects["metric"] == "throughput"]
    for effects in (speed, speed.iloc[:0]):
        assert "far in" not in answer(32, replace(sound, effects=effects)).found


def test_a_trial_whose_threads_differ_unlike_those_of_its_cell_is_named(sound):
    """In one trial of fourteen the last reader took 4 times as long as the first, and else 7."""
    odd = sound.records[5]
    records = [
        with_threads(one, 100, 600 if one is odd else 700 + one.block) for one in sound.records
    ]
    found = answer(41, replace(sound, records=records))
    assert found.state == "fired"
    assert found.found.endswith(f"; far from the median of their cell: {odd.trial}")


def with_threads(record, *work_ops):
    """The record with threads of one kind that did so much work."""
    threads = [{"process": "p", "thread": "reader", "work_ops": work_ops}]
    return edited(record, workload={**record.to_json()["workload"], "threads": threads})
