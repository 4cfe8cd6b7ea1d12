"""Rules 47, 48, 50 and 52: can this campaign decide, with all its trials, and no fact twice?"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from fsgreen import stats
from fsgreen.reduce import factors_of
from fsgreen.rules import repeated
from fsgreen.rules.answer import Answer, Judge, fired, named_trials, not_asked, quiet, unknown
from fsgreen.rules.comparison import NOTHING
from fsgreen.rules.evidence import Evidence
from fsgreen.words import listed, plural

HALF = 0.5
"""If turns would leave less than this share of an interval's width, they are the better design."""

RARE = 8
"""A rare slow mode is assumed to slow one in this many trials."""

COVARIATES = {"cpu_steal_percent": "time that the host took", "core_clock_hz": "the cores' clock"}
"""Columns of a window that may explain its rate, and their names in words."""


def turns_at_the_scale_of_noise(evidence: Evidence) -> Answer:
    """Rule 47: intervals would not be much narrower if compared cells took turns."""
    if evidence.effects.empty:
        return not_asked(NOTHING)
    trials = evidence.trials[evidence.trials["load_ops_s"].isna()]  # a held load does not scatter
    if evidence.plan.profile.windows is not None:
        return _turns(evidence, trials)
    shares = {
        workload: left_by_turns(these, evidence.series)
        for workload, these in trials.groupby("workload")
    }
    known = {name: share for name, share in shares.items() if not math.isnan(share)}
    if not known:
        return unknown(
            f"it takes {stats.FEWEST_WINDOWS} seconds a trial, and two cells in two blocks, to see "
            "whether neighbours share the level of the machine"
        )
    text = "if cells took turns second by second, intervals would be this wide (now 100 %): " + (
        ", ".join(f"{name} {100 * share:.0f} %" for name, share in sorted(known.items()))
    )
    if min(known.values()) < HALF:
        return fired(
            f"{text}; what moves between trials is not inside them, so it is the machine's time, "
            "or how each file system came out: a pilot of several makings tells which"
        )
    return quiet(text)


def _turns(evidence: Evidence, trials: pd.DataFrame) -> Answer:
    """Rule 47 for cells that took turns: all were ready together, and which variance dominates."""
    beside = {
        record.trial: record.beside.trials
        for record in evidence.records
        if record.beside is not None
    }
    of_workload = trials.groupby(["workload", "block"])["trial"]
    apart = sum(len({beside.get(name) for name in names}) > 1 for _, names in of_workload)
    parts = [
        f"{workload}: {_components(these, evidence.series, beside)}"
        for workload, these in trials.groupby("workload")
    ]
    text = f"cells take turns in windows; {'; '.join(parts)}"
    if apart:
        return fired(
            f"{text}; in {apart} of {len(of_workload)} blocks of a workload not all cells were "
            "ready together, so that some comparisons are between different minutes"
        )
    return quiet(text)


def components_of(
    trials: pd.DataFrame, series: pd.DataFrame, beside: Mapping[str, tuple[str, ...]]
) -> stats.TurnComponents:
    """Return the components of variance of a workload whose cells took turns.

    `trials` and `series` are rows of the tables of these names, of this workload. `beside` has for
    each trial the names of those that it took turns with.
    """
    cells = trials.groupby(factors_of(trials), dropna=False).ngroup()
    table = trials.assign(cell=cells).pivot_table("throughput_ops_s", "cell", "block")
    return stats.turn_components(_tables(trials, series, beside, "throughput_ops_s"), table)


def _tables(
    trials: pd.DataFrame,
    series: pd.DataFrame,
    beside: Mapping[str, tuple[str, ...]],
    column: str,
) -> list[np.ndarray]:
    """Return a column of `series`, one array of shape (cells, rounds) per group that took turns."""
    chosen = series[series["trial"].isin(trials["trial"])]
    together: dict[tuple[str, ...], list[np.ndarray]] = {}
    for name, of_trial in chosen.groupby("trial")[column]:
        together.setdefault(beside[str(name)], []).append(of_trial.to_numpy(dtype=float))
    return [np.array(group) for group in together.values()]


def _components(
    trials: pd.DataFrame, series: pd.DataFrame, beside: Mapping[str, tuple[str, ...]]
) -> str:
    chosen = series[series["trial"].isin(trials["trial"])]
    if not (chosen["throughput_ops_s"] > 0).all():
        return "windows in which nothing was done have no logarithm"
    components = components_of(trials, series, beside)
    if components.buys_most == "unknown":
        return "it takes two cells in two blocks and two rounds to tell what scatters"
    rates = _tables(trials, series, beside, "throughput_ops_s")
    shares = {
        what: stats.explained_share(rates, _tables(trials, series, beside, column))
        for column, what in COVARIATES.items()
        if column in chosen
    }
    told = [f"{what} {100 * share:.0f} %" for what, share in shares.items() if share >= 0]
    explained = f" (of which {' and '.join(told)} by itself)" if told else ""

    def known(times_blocks: int, times_windows: int) -> float:
        blocks, windows = times_blocks * components.blocks, times_windows * components.windows
        return components.half_width_percent(blocks, windows)

    return (
        f"{components.block_percent:.2g} % between blocks and {components.round_percent:.2g} % "
        "between rounds, which ratios are free of, "
        f"{components.making_percent:.2g} % between makings, "
        f"{components.window_percent:.2g} % between windows{explained}, so that another "
        f"{components.buys_most} buys most: a ratio is known to {known(1, 1):.2g} %, with twice "
        f"the blocks to {known(2, 1):.2g} %, with twice the windows to {known(1, 2):.2g} %"
    )


def measured_late(evidence: Evidence) -> list[str]:
    """Return the trials that ran after a later block, although no earlier attempt is kept.

    Testbeds that share the blocks each have their own, in the order in which they got them.
    """
    started_s: dict[tuple[str, int], list[float]] = {}
    for record in evidence.records:
        place = record.campaign, evidence.turn(record)
        started_s.setdefault(place, []).append(record.clock.unix_s)
    begun_s = {place: float(np.median(each_s)) for place, each_s in started_s.items()}
    kept = (*evidence.invalid, *evidence.discarded, *evidence.superseded)
    tried = {record.trial for record in kept}
    return [
        record.trial
        for record in evidence.records
        if record.trial not in tried
        and any(
            at_s < record.clock.unix_s
            for (campaign, turn), at_s in begun_s.items()
            if campaign == record.campaign and turn > evidence.turn(record)
        )
    ]


def begun_anew(evidence: Evidence) -> str:
    """Return, as the end of a sentence, how many trials were superseded with their block.

    Another testbed of the fleet then began that block anew. "" if there are none.
    """
    count = len(evidence.superseded)
    told = f"; {plural(count, 'trial')} kept of blocks that another testbed then began anew"
    return told if count else ""


def all_that_was_started(evidence: Evidence) -> Answer:
    """Rule 48: trials that were discarded after a look are kept, and change no comparison."""
    if late := measured_late(evidence):
        return fired(
            "measured after a later block, without what may have stood there before: "
            f"{named_trials(late)}"
        )
    refused, moved = plural(len(evidence.invalid), "refused trial"), begun_anew(evidence)
    if not evidence.discarded:
        return quiet(
            f"nothing was set aside after it was measured; {refused} kept with a reason{moved}"
        )
    names = named_trials(record.trial for record in evidence.discarded)
    kept = f"set aside after a look, and kept: {names}"
    effects = evidence.effects
    if "first_outcome" not in effects:
        return unknown(f"{kept}; whether verdicts rest on that was not looked at")
    known = repeated.once(effects[effects["first_outcome"].notna()])
    other = known[known["outcome"] != known["first_outcome"]]
    changes = (other["outcome"] + " became " + other["first_outcome"]).value_counts()
    widths = _half_widths_percent(known)
    text = (
        f"{kept}; with them in place of what was measured in their stead the median half-width is "
        f"{widths[1]:.1f} % instead of {widths[0]:.1f} %"
    )
    if len(other):
        told = ", ".join(f"{count} {change}" for change, count in changes.items())
        differ = f"{len(other)} of {len(known)} comparisons come out differently: {told}"
        return fired(f"{text}, and {differ}{moved}")
    return quiet(f"{text}, and all {len(known)} comparisons end the same{moved}")


def evidence_counts_once(evidence: Evidence) -> Answer:
    """Rule 50: work per joule says more than work per second."""
    effects = evidence.effects
    if effects.empty:
        return not_asked(NOTHING)
    if not (effects["boundary"] == "modelled").any():
        return quiet("no metric that is compared is modelled from another")
    if not {*repeated.BOTH} <= {*effects["metric"]}:
        return quiet("energy is modelled, and nothing that rests on it is compared")
    logs = repeated.in_both(effects)
    if len(logs) < repeated.FEWEST:
        return unknown("it takes three comparisons to see whether two metrics say the same")
    alike = repeated.likeness(logs)
    text = (
        f"{len(logs)} comparisons in work per joule, whose power is modelled, correlate by "
        f"{alike:.4f} with those in work per second"
    )
    if alike > repeated.SAME_EVIDENCE:
        return fired(f"{text}: they are no second evidence")
    return quiet(text)


def robust_intervals(evidence: Evidence) -> Answer:
    """Rule 52: intervals cover often enough, simulated from the campaign's residuals.

    The answer also says how far trials depend on the previous block (lag 1).
    """
    cells, effects = evidence.cells, evidence.effects
    if "coverage_percent" not in cells:
        return unknown("how often intervals cover on these residuals was not simulated")
    known = cells[cells["coverage_percent"].notna()]
    if known.empty:
        return unknown("it takes two cells in three blocks to draw campaigns from their residuals")
    short = known[known["coverage_percent"] < stats.LEAST_PERCENT]
    bare = short[~short["starred"].astype(bool)]
    if len(bare):
        return fired(f"{len(bare)} cells whose intervals are short bear no star")
    parts = [f"intervals of cells cover {_range(known['coverage_percent'])} on their residuals"]
    few = effects[effects.get("coverage_percent", pd.Series(dtype=float)) < stats.LEAST_PERCENT]
    if len(effects) and effects["coverage_percent"].notna().any():
        parts.append(f"those of ratios {_range(effects['coverage_percent'].dropna())}")
        broad = effects[effects["widened_x"] > 1]
        if len(broad):
            where = ", ".join(sorted(broad["workload"].unique()))
            parts.append(
                f"{len(broad)} ratios are up to {broad['widened_x'].max():.1f} times as wide: "
                f"trials keep up to {broad['lag1_x'].max():.2f} of what they were off in the "
                f"block before ({where})"
            )
    n = int(known["n"].min())
    parts.append(
        f"a mode of one cell alone that slows one trial in {RARE} is in none of its {n} trials in "
        f"{100 * (1 - 1 / RARE) ** n:.0f} % of cases, and nothing shows it then"
    )
    text = "; ".join(parts)
    if len(short) or len(few):
        return fired(
            f"{text}; {len(short)} of {len(known)} cells and {len(few)} of {len(effects)} ratios "
            f"below {stats.LEAST_PERCENT:.0f} %: {listed(evidence.labels(short))}"
        )
    if len(effects) and effects["lag1_p"].isna().all():
        return unknown(f"{text}; dependence between blocks takes four of them")
    return quiet(text)


def left_by_turns(trials: pd.DataFrame, series: pd.DataFrame) -> float:
    """Return the share of an interval's width that would be left if a workload's cells took turns.

    `trials` are the rows of `trials.csv` for this workload, and `series` is the table `series.csv`.
    """
    cells = trials.groupby(factors_of(trials), dropna=False).ngroup()
    logs = stats.logs_of_whole(cells, trials["block"], trials["throughput_ops_s"])
    trial_sd = stats.variance_components(np.exp(logs)).trial_percent / 100
    chosen = series[series["trial"].isin(trials["trial"])]
    return stats.left_by_turns(
        (of_trial.to_numpy() for _, of_trial in chosen.groupby("trial")["throughput_ops_s"]),
        trial_sd,
    )


def _half_widths_percent(effects: pd.DataFrame) -> list[float]:
    """Return the median half-width of ratios, without and with the discarded trials."""
    ends = (("ratio_low_x", "ratio_high_x"), ("first_low_x", "first_high_x"))
    halves = [np.sqrt(effects[high] / effects[low]) - 1 for low, high in ends]
    return [100 * float(half.median()) for half in halves]


def _range(percent: pd.Series) -> str:
    low, high = percent.min(), percent.max()
    return f"{low:.0f} %" if round(low) == round(high) else f"{low:.0f} to {high:.0f} %"


JUDGES: Mapping[int, Judge] = {
    47: turns_at_the_scale_of_noise,
    48: all_that_was_started,
    50: evidence_counts_once,
    52: robust_intervals,
}
