"""Rule 47: would turns of the compared cells, or more of them, have made intervals narrower?"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from fsgreen import stats
from fsgreen.reduce import factors_of
from fsgreen.rules.answer import Answer, fired, not_asked, quiet, unknown
from fsgreen.rules.comparison import NOTHING
from fsgreen.rules.evidence import Evidence

HALF = 0.5
"""If turns would leave less than this share of an interval's width, they are the better design."""

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
    trials: pd.DataFrame, series: pd.DataFrame, beside: Mapping[str, tuple[str, ...]], column: str
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
