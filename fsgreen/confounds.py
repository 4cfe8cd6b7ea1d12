"""Would this have fooled you? The size of known confounds beside the effects under study.

After Ellard and Seltzer (nfstricks03, sections 5.1 and 5.2): a disk is faster at its edge than
inside, and a queue in the device reorders requests. Both can exceed what is being compared.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from scipy.stats import kruskal

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.reduce import read_table, write_table

LEVEL = 0.05


def write(campaign: str) -> Path:
    """Write `confounds.csv`, a row per confound; return its file.

    Raises
    ------
    FsgreenError
        If the campaign has no probe of its testbed.
    """
    table = confounds_table(read_probes(campaign), read_table(campaign, "trials"))
    return write_table(table, campaign, "confounds")


def read_probes(campaign: str) -> dict[str, pd.DataFrame]:
    """Return the curves `offset` and `queue` that were measured before the campaign.

    A testbed that could not be probed has an empty curve.
    """
    file = paths.raw(campaign) / "confounds.json"
    try:
        probes = json.loads(file.read_text())
    except (FileNotFoundError, ValueError) as error:
        raise FsgreenError(
            f"no probe of the testbed: {error}",
            where=file,
            next_step="./run reproduce (shipped data), or measure the campaign",
        ) from error
    return {name: pd.DataFrame(probes.get(name, [])) for name in ("offset", "queue")}


def confounds_table(probes: dict[str, pd.DataFrame], trials: pd.DataFrame) -> pd.DataFrame:
    """Return the size of each confound and how many comparisons it exceeds.

    Parameters
    ----------
    probes : dict
        The curves of `read_probes`.
    trials : DataFrame
        The table `trials.csv`.
    """
    effects = default_effects_percent(trials)
    rows = [
        {
            "confound": name,
            "size_percent": size_percent,
            "scatter_percent": scatter_percent,
            "difference_p": difference_p,
            "larger_than_count": sum(effect < size_percent for effect in effects),
            "comparisons_count": len(effects),
            "median_effect_percent": float(pd.Series(effects, dtype=float).median()),
            "verdict": _verdict(size_percent, difference_p, effects),
            "control": control,
        }
        for name, (size_percent, scatter_percent, difference_p), control in _confounds(
            probes, trials
        )
    ]
    return pd.DataFrame(rows)


def default_effects_percent(trials: pd.DataFrame) -> list[float]:
    """Return the differences in throughput between default file systems, per workload."""
    chosen = trials[(trials["option"] == "default") & trials["load_ops_s"].isna()]
    totals = chosen.groupby(["workload", "file_system"])[["work_ops", "duration_s"]].sum()
    rates = totals["work_ops"] / totals["duration_s"]
    return [
        100 * (max(pair) / min(pair) - 1)
        for _, of_workload in rates.groupby("workload")
        for pair in itertools.combinations(of_workload, 2)
    ]


def _confounds(
    probes: dict[str, pd.DataFrame], trials: pd.DataFrame
) -> Iterator[tuple[str, tuple[float, float, float], str]]:
    """Yield name, the figures of `_spread`, and what controls for it."""
    yield (
        "place on the device",
        _spread(probes["offset"], "offset_b", "bandwidth_b_s"),
        "every cell uses the same image, hence the same place",
    )
    yield (
        "requests in flight",
        _spread(probes["queue"], "queue_depth", "throughput_ops_s"),
        "scheduler and queue depth are constants of the campaign and in every record",
    )
    unlimited = trials[trials["load_ops_s"].isna()]
    rate = unlimited["throughput_ops_s"]
    level = rate / unlimited.groupby(["workload", "file_system", "option"])[
        "throughput_ops_s"
    ].transform("mean")
    yield (
        "time of measurement",
        _spread(pd.DataFrame({"block": unlimited["block"], "level_x": level}), "block", "level_x"),
        "cells are interleaved at random in complete blocks",
    )
    constant = 100 * (trials["error_constant_j"] / trials["energy_j"])
    yield (
        "constant error of the meter",
        (float(constant.max()), float(constant.max() - constant.min()), math.nan),
        "it is alike in all trials of one length and cancels in ratios of efficiency",
    )


def _spread(curve: pd.DataFrame, by: str, value: str) -> tuple[float, float, float]:
    """Return the range of medians along a curve, the typical range at one place, and a p-value.

    Ranges are in per cent. The p-value is that of Kruskal and Wallis for "no difference by place";
    NaN with a single repetition.
    """
    groups = [values for _, values in curve.groupby(by)[value]] if not curve.empty else []
    if len(groups) < 2:
        return math.nan, math.nan, math.nan
    medians = [values.median() for values in groups]
    scatter = pd.Series([values.max() / values.min() - 1 for values in groups]).median()
    repeated = min(len(values) for values in groups) > 1
    if curve[value].nunique() == 1:
        p = 1.0
    else:
        p = float(kruskal(*groups).pvalue) if repeated else math.nan
    return 100 * float(max(medians) / min(medians) - 1), 100 * float(scatter), p


def _verdict(size_percent: float, difference_p: float, effects: list[float]) -> str:
    if math.isnan(size_percent):
        return "not measured here"
    if difference_p >= LEVEL:
        return "not told from chance"
    if not effects:
        return "nothing to compare with"
    return "would have fooled you" if size_percent > min(effects) else "smaller than every effect"
