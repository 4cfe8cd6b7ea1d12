"""Rules 23 to 28: were the trials steady, and are there enough of them?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

import pandas as pd

from fsgreen import design, stats
from fsgreen.reduce import blocks_by_clock, factors_of, measured
from fsgreen.rules.answer import Answer, Judge, fired, not_asked, quiet, unknown
from fsgreen.rules.evidence import Evidence
from fsgreen.words import listed, plural

STILL = ("flat", "too short", stats.WHOLE)
"""States of a cell whose mean no change of level makes doubtful."""

ENDS = "each trial does a fixed amount of work to its end, and its mean is over all of it"

STRICT_TRIALS = 10
"""Number of trials per cell of a strict reproduction (rule 26)."""


def changes_inside_trials(evidence: Evidence) -> Answer:
    """Rule 23: more than half of the trials of each cell stay on one level."""
    trials, cells = rated(evidence.trials), evidence.cells
    if trials.empty:
        return not_asked(ENDS)
    text, power = _counted(trials["steady"]), trials.get("steady_power")
    if power is not None:
        text += f"; power: {_counted(power)}"
    still = cells["state"].isin(STILL) & cells.get("power_state", cells["state"]).isin(STILL)
    moving = cells[~still]
    if len(moving):
        return fired(
            f"in {plural(len(moving), 'cell')} half of the trials or more are not on one level: "
            f"{listed(evidence.labels(moving))}; of all trials {text}"
        )
    if power is None:
        return unknown(f"throughput: {text}; changes of power are not in trials.csv")
    if "too short" in {*trials["steady"], *power}:
        return unknown(f"{text}: a change could not have been seen in so few seconds")
    return quiet(text)


def inconsistent_cells(evidence: Evidence) -> Answer:
    """Rule 24: no cell is inconsistent, that is, without a steady state in most of its trials."""
    trials = rated(evidence.trials)
    if trials.empty:
        return not_asked(ENDS)
    states = trials.groupby(factors_of(trials), dropna=False)["steady"].agg(
        lambda trials: stats.classify_cell(list(trials))
    )
    moving = states[states == "inconsistent"].reset_index()
    if len(moving):
        return fired(f"{len(moving)} of {len(states)} cells: {listed(evidence.labels(moving))}")
    shortest, unit = shortest_series(trials)
    if shortest < stats.SHORTEST_SETTLED and not (states == "too short").any():
        return unknown(
            f"a change in the last quarter of {shortest} {unit} cannot be seen: that takes trials "
            f"of {stats.SHORTEST_SETTLED} {unit}"
        )
    if short := int((states == "too short").sum()):
        return unknown(
            f"the trials of {short} of {plural(len(states), 'cell')} are too short to show a "
            "steady state"
        )
    return quiet(f"none of {len(states)} cells is inconsistent")


def rated(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the trials that measure a rate: their work has no end, so its level matters."""
    return trials[trials["steady"] != stats.WHOLE]


def shortest_series(trials: pd.DataFrame) -> tuple[int, str]:
    """Return the number of samples of the shortest trial, and their unit: "s" or "windows"."""
    if "windows_count" in trials:
        return int(trials["windows_count"].min()), "windows"
    return round(trials["duration_s"].min()), "s"


def trend_over_campaign(evidence: Evidence) -> Answer:
    """Rule 25: no cell drifts by Kendall's test, and all cells together do not drift either.

    All cells together are tested for a trend over blocks and over places in a block. Holm's
    correction takes the cells as one family, and these two tests as another.
    """
    tested = evidence.cells[evidence.cells["trend_p"].notna()]
    together, drifts, moved_percent = _drift_together(evidence.trials)
    if tested.empty and not together:
        return unknown("it takes four trials of a cell to see a trend")
    adjusted = stats.holm(list(tested["trend_p"]))
    drifting = tested[[p < stats.LEVEL for p in adjusted]]
    if len(drifting):
        return fired(
            f"{len(drifting)} of {len(tested)} cells drift: {listed(evidence.labels(drifting))}"
            f"{drifts}"
        )
    alone = f"none of {len(tested)} cells drifts by itself"
    if together:
        return fired(f"{alone}, but all together do{drifts}")
    fewest, blocks = int(tested["n"].min()), evidence.trials["block"].nunique()
    bound_percent = evidence.plan.bounds["equivalence_percent"]
    if abs(moved_percent) > bound_percent:
        return unknown(
            f"{alone}, and {blocks} blocks cannot tell from chance that the last is "
            f"{moved_percent:+.0f} % off the first{drifts}"
        )
    if least_p(fewest) * len(tested) >= stats.LEVEL and 2 * least_p(blocks) >= stats.LEVEL:
        return unknown(f"{fewest} trials in their best order are no trend of one of {len(tested)}")
    return quiet(f"{alone}: the smallest adjusted p is {min(adjusted):.2g}{drifts}")


def least_p(n: int) -> float:
    """Return the least p-value of Kendall's test: n values in perfect order, 2/n!."""
    return 2 / math.factorial(n) if n > 1 else 1.0


def enough_trials(evidence: Evidence) -> Answer:
    """Rule 26: each cell has enough trials, counted again."""
    least = evidence.plan.bounds["minimum_trials"]
    counts = evidence.trials.groupby(factors_of(evidence.trials), dropna=False).size()
    few = counts[counts < least].reset_index()
    if len(few):
        labels = listed(evidence.labels(few))
        return fired(f"fewer than {least:g} trials in {len(few)} of {len(counts)} cells: {labels}")
    strict = "" if counts.min() >= STRICT_TRIALS else f"; a strict reproduction has {STRICT_TRIALS}"
    return quiet(f"{counts.min()} trials or more in each of {len(counts)} cells{strict}")


def sequential_stop(evidence: Evidence) -> Answer:
    """Rule 27: the interval of each cell is narrow enough, and what ended the cell is recorded."""
    plan, target_percent = evidence.plan, evidence.plan.bounds["ci_half_width_percent"]
    progresses = design.progress_of_cells(plan, measured(evidence.trials))
    told = {cell["cell"]: (cell["n"], cell["ended"]) for cell in evidence.stopping.get("cells", ())}
    seen = {progress.cell.label: (progress.n, progress.ended) for progress in progresses}
    if told and told != seen:
        if any(told[label][0] < n for label, (n, _) in seen.items() if label in told):
            return unknown("stopping.json is older than the trials; fsgreen measure mends that")
        return fired("what ended the cells by stopping.json is not what their trials say")
    widths = {
        progress.cell.label: max(progress.half_width_percent.values())
        for progress in progresses
        if progress.n > 1
    }
    if not widths:
        return unknown("one trial of a cell has no interval")
    least = min(progress.n for progress in progresses)
    ended = f"all ended after {plan.profile.blocks} blocks, a number fixed beforehand"
    if least < plan.profile.blocks:
        ended = f"so far {least} of {plan.profile.blocks} blocks are whole"
    if plan.profile.most_blocks is not None:
        ends = Counter(progress.ended or "still open" for progress in progresses)
        ended = "ended by " + ", ".join(f"{end}: {count}" for end, count in sorted(ends.items()))
        blocks = evidence.trials["block"].max()
        ended += f", after {blocks} of up to {plan.profile.most_blocks} blocks"
    narrow = sum(width < target_percent for width in widths.values())
    if narrow < len(progresses):
        widest = max(widths, key=lambda label: widths[label])
        return fired(
            f"{len(progresses) - narrow} of {len(progresses)} cells not within "
            f"{target_percent:g} % in throughput and energy, the widest {widest} with "
            f"{widths[widest]:.0f} %; {ended}"
        )
    return quiet(f"all {narrow} cells within {target_percent:g} %; {ended}")


def trials_needed(evidence: Evidence) -> Answer:
    """Rule 28: each cell has the trials that its scatter requires for throughput and energy."""
    cells = evidence.cells
    known = cells[cells["needed_count"].notna()]
    if known.empty:
        return unknown("one trial of a cell cannot tell how many there should be")
    short = known[known["needed_count"] > known["n"]].sort_values("needed_count", ascending=False)
    if len(short):
        labels = evidence.labels(short)
        worst = [
            f"{label} {count:.0f}"
            for label, count in zip(labels, short["needed_count"], strict=True)
        ]
        return fired(f"{len(short)} of {len(cells)} cells need more: {listed(worst)}")
    return quiet(f"at most {known['needed_count'].max():.0f} in any of {len(known)} cells")


def _drift_together(trials: pd.DataFrame) -> tuple[bool, str, float]:
    """Return whether all cells drift together, how far in words, and the change over all blocks.

    The change is from the first to the last block, in per cent. Cells with a held load are left
    out, as they cannot show a drift of the machine.
    """
    free = trials[trials["load_ops_s"].isna()]
    if free.empty:
        return False, "", 0.0
    cells = free.groupby(factors_of(free), dropna=False).ngroup()
    blocks = blocks_by_clock(free)
    drift = stats.order_drift(cells, blocks, free["order"], free["throughput_ops_s"])
    within, p_values = drift.within_percent, stats.holm([drift.between_p, drift.within_p])
    drifts = ""
    if not math.isnan(drift.between_p):
        drifts += (
            f"; blocks by the clock: {drift.between_percent:+.1f} %, tau {drift.between_tau:+.2f}, "
            f"adjusted p {p_values[0]:.2g}"
        )
    if not math.isnan(drift.within_p):
        drifts += (
            f"; last over first place of a block: {within.value:+.1f} % "
            f"({within.low:+.1f} to {within.high:+.1f} %), adjusted p {p_values[1]:.2g}"
        )
    moved_percent = 0.0 if math.isnan(drift.between_percent) else drift.between_percent
    return any(p < stats.LEVEL for p in p_values), drifts, moved_percent


def _counted(states: pd.Series) -> str:
    return ", ".join(f"{count} {state}" for state, count in sorted(Counter(states).items()))


JUDGES: Mapping[int, Judge] = {
    23: changes_inside_trials,
    24: inconsistent_cells,
    25: trend_over_campaign,
    26: enough_trials,
    27: sequential_stop,
    28: trials_needed,
}
