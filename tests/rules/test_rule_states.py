"""Where the data cannot tell, or a rule does not apply, the answer says so and why."""

from dataclasses import replace

import pandas as pd
import pytest
import sound_campaign
from sound_campaign import answer, retabled, with_mounts, with_plan, with_work, without_checks

from fsgreen import rules
from fsgreen.rules import reach
from fsgreen.stats import WILD

NOTHING = pd.DataFrame()


# --- older records and tables hold less ---------------------------------------------------------


@pytest.mark.parametrize("number", [7, 8, 10, 11])
def test_a_state_that_was_not_looked_at_is_unknown(number, sound):
    """Rules 7, 8, 10 and 11 must not be called kept because today's code keeps them."""
    found = answer(number, without_checks(sound, number))
    assert found.state == "unknown"
    assert "0 of 30 trials" in found.found


COUNTERS = {"name": "initial", "written_b": 0, "discarded_b": 0}
"""What records hold of a device that are older than why it was left."""


@pytest.mark.parametrize(
    ("testbed", "state", "words"),
    [
        ({"kind": "loop"}, "unknown", "no record says why"),
        ({"kind": "loop", "in_memory": True}, "quiet", "no state to restore in memory"),
        ({"kind": "loop", "rotational": True}, "quiet", "a disk that calls itself rotating"),
        ({"kind": "simdisk", "in_memory": True}, "quiet", "a simulated disk"),
    ],
)
def test_an_older_record_of_a_device_that_was_left_is_not_called_verified(
    testbed, state, words, sound
):
    """Rule 8: 0 B written and 0 B discarded restored nothing."""
    identity = {**sound.identity, "testbed": testbed}
    found = answer(8, with_mounts(replace(sound, identity=identity), state=COUNTERS))
    assert found.state == state
    assert words in found.found
    assert "verified" not in found.found


@pytest.mark.parametrize(("discarded_b", "state"), [(9 << 20, "quiet"), (8 << 20, "unknown")])
def test_an_older_record_is_verified_by_counters_that_reach_the_size(discarded_b, state, sound):
    identity = {**sound.identity, "testbed": {"kind": "loop", "size_b": 9 << 20}}
    counted = {"name": "initial", "written_b": 9 << 20, "discarded_b": discarded_b}
    found = answer(8, with_mounts(replace(sound, identity=identity), state=counted))
    assert found.state == state


def test_an_audit_without_the_speed_of_the_processor_is_unknown(sound):
    audit = {k: v for k, v in sound_campaign.AUDIT.items() if k != "speed_loops_s"}
    older = {trial: {"start": audit, "end": audit} for trial in sound.audits}
    found = answer(9, replace(sound, audits=older))
    assert found.state == "unknown"
    assert "speed of the processor was not recorded" in found.found


def test_a_speed_without_a_bound_in_the_plan_is_unknown(sound):
    bounds = {k: v for k, v in sound.plan.bounds.items() if k != "speed_percent"}
    found = answer(9, with_plan(sound, bounds=bounds))
    assert found.state == "unknown"
    assert "the plan has no bound" in found.found


def test_settings_that_a_virtual_machine_hides_are_unknown(sound):
    hidden = {**sound_campaign.AUDIT, "governor": None, "turbo": None}
    found = answer(10, replace(sound, identity={**sound.identity, "audit": hidden}))
    assert found.state == "unknown"
    assert "governor and turbo cannot be read here" in found.found


@pytest.mark.parametrize(
    ("number", "table", "column"),
    [
        (15, "trials", "error_edges_j"),
        (31, "cells", "normality_p"),
        (34, "cells", "range_percent"),
        (37, "effects", "equivalence_holm_p"),
    ],
)
def test_a_table_without_a_column_is_unknown_and_names_it(number, table, column, sound):
    """Results of an older version must not stop the report."""
    older = replace(sound, **{table: getattr(sound, table).drop(columns=column)})
    found = rules.judge(older)[number]
    assert found.state == "unknown"
    assert column in found.found


@pytest.mark.parametrize(
    ("number", "table", "column"),
    [
        (23, "trials", "steady_power"),
        (33, "cells", "shape"),
        (36, "effects", "model"),
    ],
)
def test_a_test_that_was_not_made_is_no_test_that_was_passed(number, table, column, sound):
    older = replace(sound, **{table: getattr(sound, table).drop(columns=column)})
    assert answer(number, older).state == "unknown"


def test_few_trials_hide_a_second_mode(sound):
    """Silence of a test that cannot see is no finding."""
    few = replace(sound, cells=sound.cells.assign(shape="too few to tell"))
    assert answer(33, few).state == "unknown"


def test_power_that_changes_level_fires_as_throughput_does(sound):
    found = answer(23, replace(sound, cells=sound.cells.assign(power_state="warm-up")))
    assert found.state == "fired"


@pytest.mark.parametrize("column", ["steady", "steady_power"])
def test_a_series_too_short_for_a_change_is_not_quiet(column, sound):
    """Rule 23: a meter of one reading in ten seconds cannot show that power held its level."""
    short = retabled(sound, sound.trials.assign(**{column: "too short"}))
    found = answer(23, short)
    assert found.state == "unknown"
    assert "could not have been seen" in found.found


def test_cells_too_short_to_judge_are_not_passed_over_for_one_that_is_not(sound):
    """Rule 24: readers end by themselves, some of them within seconds."""
    states = sound.trials["steady"].where(sound.trials["file_system"] == "ext4", "too short")
    found = answer(24, retabled(sound, sound.trials.assign(steady=states)))
    assert found.state == "unknown"
    assert "too short to show a steady state" in found.found


@pytest.mark.parametrize(("over", "loss"), [("block", 0.005), ("order", 0.01)])
def test_a_machine_that_slows_down_fires_though_no_cell_shows_it(over, loss, sound):
    """Rule 25: a per cent from place to place is lost in the scatter of a single cell."""
    trials = sound.trials.copy()
    trials["throughput_ops_s"] *= 1 - loss * trials[over]
    found = answer(25, retabled(sound, trials))
    assert found.state == "fired"
    assert "none of 3 cells drifts by itself, but all together do" in found.found


def test_a_load_that_is_held_shows_no_drift(sound):
    """Rule 25: the rate of such cells is what was asked for."""
    slower = sound.trials["throughput_ops_s"] * (1 - 0.01 * sound.trials["order"])
    held = sound.trials.assign(throughput_ops_s=slower, load_ops_s=100.0)
    found = answer(25, replace(sound, trials=held))
    assert found.state == "quiet"
    assert "place" not in found.found


def test_one_trial_per_cell_tells_little(sound):
    """A campaign of one block has no interval, no trend, no variance and no order to check."""
    one = retabled(sound, sound.trials[sound.trials["block"] == 1])
    found = {number: answer(number, one) for number in (5, 25, 27, 28, 31, 33, 35, 38)}
    assert {number: answer.state for number, answer in found.items()} == dict.fromkeys(
        found, "unknown"
    )
    assert not any("nan" in answer.found for answer in found.values())


@pytest.mark.parametrize(
    ("bare_count", "n", "state", "words"),
    [
        (2, 4, "quiet", "; 2 of {} comparisons have too few blocks for an interval or a p-value"),
        (2, 10, "quiet", "too few blocks, or a baseline that may be zero, for an interval"),
        (None, 2, "unknown", "{0} of {0} comparisons have too few blocks"),
    ],
)
def test_a_comparison_with_neither_interval_nor_p_value_breaks_nothing(
    bare_count, n, state, words, sound
):
    """Rule 35: two blocks say nothing, which is counted; a p-value alone would say too much."""
    effects = sound.effects.copy()
    bare = effects.index[:bare_count]
    effects.loc[bare, ["ratio_low_x", "ratio_high_x", "difference_p"]] = float("nan")
    effects.loc[bare, "n"] = n
    found = answer(35, replace(sound, effects=effects))
    assert found.state == state
    assert words.format(len(effects)) in found.found


@pytest.mark.parametrize(("every", "state"), [(4, "quiet"), (1, "fired")])
def test_wild_cells_are_no_failure_of_the_model_unless_most_are(sound, every, state):
    """By the level of its test every fourth sound pair has one: that must not read as a fault."""
    count = len(sound.effects)
    wild = [row % every == 0 for row in range(count)]
    rows = sound.effects.assign(
        model=["bootstrap" if one else "mixed model" for one in wild],
        model_note=[WILD if one else "" for one in wild],
    )
    found = answer(36, replace(sound, effects=rows))
    assert found.state == state
    assert f"{sum(wild) if state == 'fired' else count - sum(wild)} of {count}" in found.found


def test_modelled_power_has_an_error_that_nobody_knows(sound):
    modelled = replace(sound, trials=sound.trials.assign(boundary="modelled"))
    found = answer(15, modelled)
    assert found.state == "unknown"
    assert "the error of the model is not known" in found.found


def test_a_bare_device_that_was_not_measured_bounds_nothing(sound):
    bare = replace(sound, probes={"offset": NOTHING, "queue": NOTHING, "cache": NOTHING})
    assert answer(42, bare).state == "unknown"
    assert answer(39, bare).state == "unknown"


def test_no_trial_moves_more_than_memory_does(sound):
    """Faster than the device may be the cache; faster than two cores read memory is a fault."""
    cache = pd.DataFrame({"cache": ["cold", "warm"], "bandwidth_b_s": [1e9, 4e9]})
    known = replace(sound, probes={**sound.probes, "cache": cache})
    assert "memory read by 2 cores 7629 MiB/s" in answer(42, known).found
    for bandwidth_b_s, above in ((6e9, "above the device"), (9e9, "above the memory")):
        trials = sound.trials.assign(bandwidth_b_s=bandwidth_b_s)
        assert above in answer(42, replace(known, trials=trials)).found


@pytest.mark.parametrize(
    ("number", "confound"), [(39, "place on the device"), (40, "requests in flight")]
)
def test_a_comparison_that_the_gate_flagged_fires(number, confound, sound):
    """Rules 39 and 40: what differs beside what is compared, with the reason of the gate."""
    ruled = {"gate": "flagged", "confound": confound, "gate_reason": f"{confound} differs"}
    found = answer(number, replace(sound, effects=sound.effects.assign(**ruled)))
    assert found.state == "fired"
    assert f"in {len(sound.effects)} comparisons: {confound} differs" in found.found
    passed = sound.effects.assign(**{**ruled, "gate": "passed"})
    assert answer(number, replace(sound, effects=passed)).state == "quiet"


def test_threads_that_are_summed_up_may_hide_a_starved_one(sound):
    found = answer(41, with_work(sound, threads=[]))
    assert found.state == "unknown"
    assert "100 threads" in found.found


def test_a_few_long_windows_are_a_few_samples(sound):
    """Rule 24: eight windows of nine seconds are long, and show no change in their last quarter."""
    trials = sound.trials.assign(windows_count=8, duration_s=72.0)
    found = answer(24, replace(sound, trials=trials))
    assert found.state == "unknown"
    assert "last quarter of 8 windows" in found.found


# --- what does not apply -------------------------------------------------------------------------


def test_a_meter_read_by_the_host_has_no_clock_to_fit(sound):
    assert answer(17, replace(sound, attached=NOTHING)).state == "not asked"


def test_a_device_without_platters_has_no_zones(sound):
    identity = {**sound.identity, "testbed": {"kind": "loop", "rotational": False}}
    assert answer(39, replace(sound, identity=identity)).state == "not asked"


def test_a_thread_that_did_nothing_is_starved(sound):
    threads = [{"process": "p", "thread": "reader", "work_ops": [0, 130]}]
    starved = with_work(sound, threads=threads)
    assert "up to inf times" in answer(41, starved).found


def test_a_reader_that_takes_much_longer_with_the_same_work_is_starved(sound):
    """nfstricks03, section 5.3: the elevator's last of eight readers of a file each."""
    threads = [{"process": "p", "thread": "r", "work_ops": [3, 3], "ended_s": [1.04, 5.97]}]
    starved = with_work(sound, threads=threads)
    found = answer(41, starved)
    assert found.state == "fired"
    assert "5.74 times" in found.found


def test_one_reader_is_treated_fairly_by_itself(sound):
    alone = [r.but(workload=replace(r.work, variables={})) for r in sound.records]
    assert answer(41, replace(sound, records=alone)).state == "not asked"


@pytest.mark.parametrize("number", [23, 24])
def test_a_steady_state_is_asked_only_of_trials_that_measure_a_rate(number, sound):
    """Longer trials, the remedy, cannot be had of work that ends by itself."""
    whole = sound.trials.assign(steady="whole", steady_power="whole")
    assert answer(number, retabled(sound, whole)).state == "not asked"
    whole["duration_s"] = 1.0
    assert number not in reach.blind(retabled(sound, whole)), "it is not short, it has an end"
    whole.loc[0, "steady"] = "no steady state"
    assert answer(number, retabled(sound, whole)).state != "not asked"
    assert number in reach.blind(retabled(sound, whole))


@pytest.mark.parametrize("number", [30, 35, 36, 37, 38])
def test_without_comparisons_there_is_nothing_to_ask_of_them(number, sound):
    assert answer(number, replace(sound, effects=sound.effects.iloc[:0])).state == "not asked"
