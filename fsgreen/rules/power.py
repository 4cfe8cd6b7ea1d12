"""Rules 13 to 22: does the energy belong to the work, and how well is it known?"""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from fsgreen.design.columns import ERROR_TERMS
from fsgreen.rules.answer import (
    SAME,
    Answer,
    Judge,
    failed_check,
    fired,
    named_trials,
    not_asked,
    quiet,
    set_aside,
    unknown,
)
from fsgreen.rules.evidence import Evidence
from fsgreen.trace import ErrorBudget, MeterInfo, identity_flaws
from fsgreen.trial import HarnessCost, TrialRecord
from fsgreen.words import listed, plural


def regular_readings(evidence: Evidence) -> Answer:
    """Rule 13: the traces of power are regular and without gaps."""
    return _traces(evidence, 13, "regular, without gaps")


def no_sentinels(evidence: Evidence) -> Answer:
    """Rule 14: the traces of power hold only values, and no marks for missing ones."""
    return _traces(evidence, 14, "values in the meter's range, and above 0 W")


def error_budget(evidence: Evidence) -> Answer:
    """Rule 15: the combined error of each energy (as in the GUM) is within the plan's target.

    The answer has the largest share of each term of the error budget.
    """
    trials = evidence.trials
    columns = [f"error_{term}_j" for term in ERROR_TERMS]
    shares = 100 * trials[columns].div(trials["energy_j"], axis="index").max()
    budgets = (ErrorBudget(*terms) for terms in trials[columns].itertuples(index=False))
    total_percent = 100 * max(
        budget.total_j / joules for budget, joules in zip(budgets, trials["energy_j"], strict=True)
    )
    told = zip(ERROR_TERMS, shares, strict=True)
    parts = ", ".join(f"{term} {share:.2g} %" for term, share in told)
    text = f"at most {total_percent:.2g} % of a trial's energy ({parts})"
    if total_percent > evidence.plan.bounds["ci_half_width_percent"]:
        return fired(text)
    if "modelled" in set(trials["boundary"]):
        return unknown(f"{text}: that of the emulated meter; the error of the model is not known")
    return quiet(text)


def long_enough(evidence: Evidence) -> Answer:
    """Rule 16: each trial is so long that its constant and edge errors are within the budget."""
    trials, limit_percent = evidence.trials, evidence.plan.bounds["budget_percent"]
    share_percent = (
        100 * (trials["error_constant_j"] + trials["error_edges_j"]) / trials["energy_j"]
    )
    over = trials[share_percent > limit_percent]
    text = f"constant and edges are {share_percent.max():.2f} % of the energy at most"
    if len(over):
        return fired(
            f"{text}, above {limit_percent:g} % in {len(over)} of {len(trials)} trials: "
            f"{listed(over['trial'])}"
        )
    return quiet(f"{text}, of {limit_percent:g} % allowed")


def one_clock(evidence: Evidence) -> Answer:
    """Rule 17: the fitted clock of an attached trace adds little error to each energy."""
    attached = evidence.attached
    if attached.empty:
        return not_asked("the host stamped every reading as it came: one clock only")
    share_percent = 100 * attached["error_clock_j"] / attached["energy_j"]
    limit_percent = evidence.plan.bounds["budget_percent"]
    unfit = attached[~(share_percent <= limit_percent) | (attached["flaws"].fillna("") != "")]
    text = f"the fitted clock adds {share_percent.max():.2g} % to an energy at most"
    if len(unfit):
        trials = unfit["trial"].drop_duplicates()
        return fired(f"{text}; unfit in {named_trials(trials)}")
    return quiet(f"{text}, in {plural(attached['trial'].nunique(), 'trial')}")


def idle_power(evidence: Evidence) -> Answer:
    """Rule 18: each trial has two idle phases, and idle power is alike in all blocks."""
    lacking = [
        record.trial
        for record in evidence.records
        if sum(phase.name == "idle" for phase in record.phases) < 2
    ]
    if lacking:
        return fired(f"not idle before and after in {named_trials(lacking)}")
    trials = evidence.trials
    totals = trials[["energy_j", "energy_above_idle_j", "idle_power_w"]]
    if totals.isna().any(axis=None):
        blank = trials[totals.isna().any(axis="columns")]["trial"]
        return fired(f"idle power is not known in {named_trials(blank)}")
    by_block = trials.groupby("block")["idle_power_w"].mean()
    text = f"{by_block.min():.4g} W to {by_block.max():.4g} W over {len(by_block)} blocks"
    band_percent = evidence.plan.bounds["idle_band_percent"]
    if 100 * (by_block.max() / by_block.min() - 1) > band_percent:
        return fired(f"{text}: more than {band_percent:g} % apart")
    return quiet(f"{text}, before and after every trial")


def one_boundary(evidence: Evidence) -> Answer:
    """Rule 19: all efficiencies have one boundary; effects of modelled power are labelled so."""
    effects = evidence.effects.reindex(columns=["metric", "boundary"])
    named = {
        *evidence.trials["boundary"],
        *evidence.cells["boundary"],
        *effects["boundary"].dropna(),
    }
    recorded = {evidence.identity["boundary"]}.union(*map(_added_up, evidence.records))
    attached = set(evidence.attached.reindex(columns=["boundary"])["boundary"].dropna())
    if len(recorded) > 1 or not named <= attached - recorded:
        named |= recorded
    boundaries = sorted(map(str, named))
    if len(boundaries) > 1:
        return fired(f"different boundaries: {', '.join(boundaries)}")
    bare = effects[(effects["metric"] == "efficiency") & effects["boundary"].isna()]
    if len(bare) and "modelled" in named:
        return fired(
            f"{plural(len(bare), 'comparison')} of work per energy in effects.csv without the "
            "label that power is modelled"
        )
    modelled = ": power here is no evidence about any machine" if "modelled" in named else ""
    return quiet(f"{boundaries[0]} in every trial and table{modelled}")


def _added_up(record: TrialRecord) -> set[str]:
    """Return the boundary of a trial's efficiency, and those of the meters that it adds up."""
    over = record.efficiency_meters or record.meters
    return {record.boundary, *(record.meters[name].boundary for name in over)}


def work_and_energy_together(evidence: Evidence) -> Answer:
    """Rule 20: work, time and energy are of the whole phase `measure`; capturing cost little."""
    rows = evidence.trials.set_index("trial")
    apart = []
    # A trial that is missing from trials.csv is a matter of rule 32.
    for record in (record for record in evidence.records if record.trial in rows.index):
        work, row = record.work, rows.loc[record.trial]
        measure_s = record.measured_s
        same = (
            math.isclose(work.duration_s, measure_s, rel_tol=SAME)
            and math.isclose(row["duration_s"], measure_s, rel_tol=SAME)
            and row["work_ops"] == work.work_ops
        )
        if not same or work.partial or work.errors:
            apart.append(record.trial)
    if apart:
        return fired(f"work and energy are not of one phase in {named_trials(apart)}")
    if failed := evidence.failed(20):
        return failed_check(failed)
    cost_percent = max(record.harness.cpu_percent for record in evidence.records)
    text = f"capturing took {cost_percent:.2f} % of one core at most"
    if cost_percent >= HarnessCost.LIMIT_PERCENT:
        return fired(text)
    return quiet(f"one phase for both in {len(rows)} trials; {text}")


def the_same_meter(evidence: Evidence) -> Answer:
    """Rule 21: each trial has the meters with which its campaign began on the same testbed."""
    first = {name: MeterInfo.from_dict(info) for name, info in evidence.identity["meters"].items()}
    began: dict[str, Mapping[str, MeterInfo]] = {}
    changes = {}
    for record in evidence.records:
        testbed = evidence.testbeds.get(record.trial, "")
        mine = began.setdefault(testbed, record.meters if testbed else first)
        if record.meters.keys() != first.keys():
            changes[record.trial] = "other meters"
        for name in record.meters.keys() & mine.keys():
            for flaw in identity_flaws(mine[name], record.meters[name]):
                changes[record.trial] = f"{name}: {flaw.detail}"
    if changes:
        trial, detail = next(iter(changes.items()))
        return fired(f"changed in {plural(len(changes), 'trial')}, first in {trial}: {detail}")
    traces = _traces(evidence, 21, "")
    if traces.state == "fired":
        return traces
    serials = ", ".join(f"{name} {info.serial}" for name, info in first.items())
    return quiet(f"{serials} in {len(evidence.records)} trials")


def raw_files_hashed(evidence: Evidence) -> Answer:
    """Rule 22: every file still has its recorded hash, and the meter's bytes are kept."""
    if evidence.altered:
        return fired(f"{len(evidence.altered)} altered: {listed(evidence.altered)}")
    if bare := [record.trial for record in evidence.records if "power.raw" not in record.files]:
        return fired(f"the meter's bytes were not kept in {named_trials(bare)}")
    count = sum(len(record.files) for record in evidence.records)
    return quiet(f"{count} files of {len(evidence.records)} trials hashed again: all as recorded")


def _traces(evidence: Evidence, rule: int, sound: str) -> Answer:
    """Return the answer of a rule on traces, from their flaws and from the records' own checks.

    `sound` describes traces without flaws.
    """
    flaws: pd.DataFrame = evidence.power[evidence.power["rule"] == rule]
    failed = evidence.failed(rule)
    again = set_aside(evidence, rule)
    if len(flaws):
        trial, detail = flaws.iloc[0][["trial", "detail"]]
        count = plural(flaws["trial"].nunique(), "trial")
        return fired(f"flaws in the traces of {count}, first {trial}: {detail}{again}")
    if failed:
        return failed_check(failed)
    return quiet(f"{len(evidence.records)} traces checked again: {sound}{again}")


JUDGES: Mapping[int, Judge] = {
    13: regular_readings,
    14: no_sentinels,
    15: error_budget,
    16: long_enough,
    17: one_clock,
    18: idle_power,
    19: one_boundary,
    20: work_and_energy_together,
    21: the_same_meter,
    22: raw_files_hashed,
}
