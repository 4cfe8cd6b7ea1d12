"""For each rule a way to break it: what is done to sound evidence, and what is then found."""

from dataclasses import replace

import numpy as np
import pandas as pd
import sound_campaign
from sound_campaign import retabled, with_check, with_plan, with_record, with_work

FIRING = {}
"""How the sound evidence is broken for each rule."""

REPORTS = {}
"""The same for the rules on the report."""


def breaks(number, words, table=FIRING):
    """Enter a function as the one that makes a rule fire, and what is then found."""

    def enter(function):
        assert number not in table
        table[number] = (function, words)
        return function

    return enter


@breaks(1, "not of the plan")
def a_trial_of_another_plan(sound):
    return with_record(sound, plan_hash="0" * 64)


@breaks(2, "no file system was made")
def a_file_system_that_was_not_made_anew(sound):
    return with_record(sound, mount={**sound_campaign.MOUNT, "mkfs": []})


@breaks(3, "not that of seed")
def a_block_in_the_order_of_the_declaration(sound):
    cells = sound_campaign.CELLS
    trials = [replace(t, cell=cells[t.order - 1]) for t in sound.plan.trials]
    return with_plan(sound, trials=tuple(trials))


@breaks(4, "in block 3")
def a_block_without_the_baseline(sound):
    base = sound.plan.baseline.label
    kept = [r for r in sound.records if not (r.block == 3 and r.trial.endswith(base))]
    return replace(sound, records=kept)


@breaks(5, "another block buys most")
def blocks_that_differ_more_than_trials(sound):
    day = np.where(sound.trials["block"] % 2, 1.0, 1.3)
    return replace(
        sound, trials=sound.trials.assign(throughput_ops_s=sound.trials["throughput_ops_s"] * day)
    )


@breaks(6, "have no reason")
def an_exclusion_without_a_reason(sound):
    return with_plan(sound, exclusions=({"what": "reiserfs", "why": ""},))


@breaks(7, "another state than declared")
def a_cache_that_was_not_cold(sound):
    return with_check(sound, 7)


@breaks(8, "another state than declared")
def a_device_that_was_not_restored(sound):
    return with_check(sound, 8)


@breaks(9, "50.0 % off its first speed")
def a_processor_that_became_slower(sound):
    slow = {**sound_campaign.AUDIT, "speed_loops_s": 0.5e7}
    return replace(sound, audits={**sound.audits, sound.records[0].trial: both_ends(slow)})


@breaks(10, "governor ondemand")
def a_governor_that_saves_power(sound):
    return replace(
        sound,
        identity={**sound.identity, "audit": {**sound_campaign.AUDIT, "governor": "ondemand"}},
    )


@breaks(11, "up to 300.0 W")
def power_above_the_idle_band(sound):
    return replace(sound, trials=sound.trials.assign(idle_power_before_w=300.0))


@breaks(12, "no phase for the flush")
def no_flush(sound):
    phases = [p for p in sound.records[0].to_json()["phases"] if p["name"] != "flush"]
    return with_record(sound, phases=phases)


@breaks(13, "a gap of 4 s")
def a_gap_in_a_trace(sound):
    return flawed(sound, 13, "a gap of 4 s")


@breaks(14, "0 W under load")
def a_sentinel_in_a_trace(sound):
    return flawed(sound, 14, "1 reading of 0 W under load")


@breaks(15, "at most 10 %")
def a_meter_that_is_off_by_a_tenth(sound):
    return replace(sound, trials=sound.trials.assign(error_gain_j=0.1 * sound.trials["energy_j"]))


@breaks(16, "above 2 %")
def a_trial_too_short_for_its_edges(sound):
    return replace(sound, trials=sound.trials.assign(error_edges_j=0.03 * sound.trials["energy_j"]))


@breaks(17, "unfit in 30 trials")
def a_clock_that_does_not_fit(sound):
    return replace(sound, attached=sound.attached.assign(error_clock_j=200.0))


@breaks(18, "more than 5 % apart")
def idle_power_that_drifts(sound):
    return replace(
        sound, trials=sound.trials.assign(idle_power_w=200.0 + 5 * sound.trials["block"])
    )


@breaks(19, "cpu, wall")
def two_boundaries(sound):
    return with_record(sound, boundary="cpu")


@breaks(20, "not of one phase")
def work_of_another_interval(sound):
    return with_work(sound, duration_s=12.0)


@breaks(21, "power_cycles")
def a_meter_that_lost_power(sound):
    meters = {name: {**m, "power_cycles": 4} for name, m in sound_campaign.at_the_wall().items()}
    return with_record(sound, meters=meters)


@breaks(22, "1 altered")
def a_raw_file_that_was_altered(sound):
    return replace(sound, altered=["b01-001: power.raw is not the file that was recorded"])


@breaks(23, "8 slow-down")
def a_cell_that_slows_down(sound):
    return retabled(sound, sound.trials.assign(steady=states(sound, "slow-down", 8)))


@breaks(24, "1 of 3 cells")
def a_cell_without_a_steady_state(sound):
    return retabled(sound, sound.trials.assign(steady=states(sound, "no steady state", 8)))


@breaks(25, "1 of 3 cells drift")
def a_cell_that_becomes_faster(sound):
    trials = sound.trials.copy()
    drifting = of_first_cell(sound)
    trials.loc[drifting, "throughput_ops_s"] = 1000.0 + trials.loc[drifting, "block"]
    return retabled(sound, trials)


@breaks(26, "fewer than 5 trials")
def a_cell_of_four_trials(sound):
    few = of_first_cell(sound) & (sound.trials["block"] > 4)
    return retabled(sound, sound.trials[~few])


@breaks(27, "1 of 3 cells not within 5 %")
def a_cell_that_is_too_wide(sound):
    return retabled(sound, scattered(sound, 0.3))


@breaks(28, "need more")
def a_cell_that_needs_more_trials(sound):
    return retabled(sound, scattered(sound, 0.3))


@breaks(29, "3 of 3 cells differ")
def a_rate_that_is_a_mean_of_rates(sound):
    return replace(
        sound, cells=sound.cells.assign(efficiency_ops_j=1.01 * sound.cells["efficiency_ops_j"])
    )


@breaks(30, "no absolute value")
def a_ratio_without_its_cell(sound):
    return replace(sound, cells=sound.cells.iloc[1:])


@breaks(31, "do not look normal")
def trials_that_do_not_look_normal(sound):
    return replace(sound, cells=sound.cells.assign(normality_p=1e-4))


@breaks(32, "on disk only")
def a_trial_that_is_on_disk_only(sound):
    return replace(sound, trials=sound.trials.iloc[1:])


@breaks(33, "3 bimodal")
def a_cell_with_two_modes(sound):
    return replace(sound, cells=sound.cells.assign(shape="bimodal"))


@breaks(34, "1 of 3 cells have none")
def a_mean_without_its_scatter(sound):
    return retabled(sound, sound.trials[~of_first_cell(sound) | (sound.trials["block"] == 1)])


@breaks(35, "a p-value and no interval")
def a_p_value_alone(sound):
    return replace(sound, effects=sound.effects.assign(ratio_low_x=np.nan, ratio_high_x=np.nan))


@breaks(36, "residuals are not normal")
def residuals_that_are_not_normal(sound):
    return replace(
        sound,
        effects=sound.effects.assign(model="bootstrap", model_note="residuals are not normal"),
    )


@breaks(37, "dashes without a test")
def a_dash_without_a_test(sound):
    return replace(
        sound, effects=sound.effects.assign(outcome="equivalent", equivalence_holm_p=0.4)
    )


@breaks(38, "not those of Holm")
def p_values_that_are_not_adjusted(sound):
    changed = sound.effects["difference_p"] / 2
    return replace(sound, effects=sound.effects.assign(difference_holm_p=changed))


@breaks(39, "declares no zone")
def no_zone_declared(sound):
    constants = {k: v for k, v in sound.plan.constants.items() if k != "zone"}
    return with_plan(sound, constants=constants)


@breaks(40, "no control with the queue off")
def a_deep_queue_without_a_control(sound):
    records = [
        record.but(mount={**sound_campaign.MOUNT, "queue_depth": 128}) for record in sound.records
    ]
    return replace(sound, records=records)


@breaks(41, "6.5 times")
def a_starved_reader(sound):
    threads = [{"process": "p", "thread": "reader", "work_ops": [20, 130]}]
    return with_work(sound, threads=threads)


@breaks(42, "30 of 30 trials are above the device")
def more_bytes_than_the_device(sound):
    return replace(sound, trials=sound.trials.assign(bandwidth_b_s=5e9))


@breaks(43, "9.4 times", REPORTS)
def a_typed_number(report):
    return replace(report, texts={"fast10.typ": "xfs is 9.4 times faster"})


@breaks(44, "not one verdict for each", REPORTS)
def a_claim_without_a_verdict(report):
    return replace(report, claims=report.claims.iloc[:1])


@breaks(45, "memory, which answered in 30 of 30", REPORTS)
def claims_decided_from_memory(report):
    bare = report.claims.assign(states=None)
    return replace(report, claims=bare, trials=report.trials.assign(device_read_b=0.0))


@breaks(46, "1 of them are underpowered", REPORTS)
def a_part_that_even_a_right_paper_would_seldom_pass(report):
    return replace(report, parts=report.parts.assign(power_p=0.4))


@breaks(47, "webserver 18 %")
def seconds_that_share_the_level_of_their_trial(sound):
    level = sound.series.groupby("trial")["throughput_ops_s"].transform("mean")
    nearer = level + 0.1 * (sound.series["throughput_ops_s"] - level)
    return replace(sound, series=sound.series.assign(throughput_ops_s=nearer))


@breaks(48, "3 of 6 comparisons come out differently")
def a_discard_that_decides(sound):
    first = sound.effects["outcome"].where(sound.effects["metric"] == "throughput", "other")
    numbers = {f"first_{of}_x": sound.effects[f"ratio_{of}_x"] for of in ("low", "high")}
    return replace(
        sound,
        discarded=sound.records[:3],
        effects=sound.effects.assign(first_outcome=first, **numbers),
    )


@breaks(49, "1 of them disagree", REPORTS)
def another_machine_that_disagrees(report):
    return replace(report, others={"elsewhere": report.parts.assign(**OTHER_NUMBERS)})


@breaks(50, "no second evidence")
def power_that_is_modelled_from_the_work(sound):
    return replace(sound, effects=sound.effects.assign(boundary="modelled"))


@breaks(51, "23 (5 s show no change of level)")
def a_judge_that_is_quiet_on_five_seconds(sound):
    return replace(sound, trials=sound.trials.assign(duration_s=5.0))


@breaks(52, "1 of 3 cells")
def a_cell_whose_interval_is_short(sound):
    short = [80.0, *sound.cells["coverage_percent"][1:]]
    starred = [True, *sound.cells["starred"][1:]]
    return replace(sound, cells=sound.cells.assign(coverage_percent=short, starred=starred))


OTHER_NUMBERS = {"ours_x": 3.0, "ours_low_x": 2.95, "ours_high_x": 3.05}


def both_ends(audit):
    return {"start": audit, "end": audit}


def flawed(sound, rule, detail):
    row = {"trial": sound.records[0].trial, "rule": rule, "detail": detail}
    return replace(sound, power=pd.DataFrame([row]))


def of_first_cell(sound):
    cell = sound_campaign.CELLS[0]
    trials = sound.trials
    return trials["file_system"] == cell["file_system"]


def states(sound, state, count):
    """The column `steady` with this state in the first trials of one cell."""
    steady = sound.trials["steady"].copy()
    steady.loc[steady.index[of_first_cell(sound)][:count]] = state
    return steady


def scattered(sound, scatter):
    """The trials, with the work of one cell scattered."""
    trials, chosen = sound.trials.copy(), of_first_cell(sound)
    noise = np.random.default_rng(1).normal(1, scatter, int(chosen.sum()))
    for name in ("work_ops", "throughput_ops_s"):
        trials[name] = trials[name].astype(float)
        trials.loc[chosen, name] *= noise
    return trials
