"""A row per confound: its size, the differences that it exceeds, and what controls for it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from fsgreen.confounds.known import CACHE
from fsgreen.confounds.probes import read_probes
from fsgreen.confounds.recorded import recorded_levels
from fsgreen.confounds.size import Size, measured_sizes, spread
from fsgreen.design.metrics import THROUGHPUT
from fsgreen.reduce import factors_of, read_table, write_table


def write(campaign: str) -> Path:
    """Write `confounds.csv`, a row per confound; return its file.

    Raises FsgreenError if the campaign has no probe of its testbed.
    """
    probes, trials = read_probes(campaign), read_table(campaign, "trials")
    return write_table(
        confounds_table(probes, trials, recorded_levels(campaign)), campaign, "confounds"
    )


def confounds_table(
    probes: Mapping[str, pd.DataFrame], trials: pd.DataFrame, facts: pd.DataFrame
) -> pd.DataFrame:
    """Return the size of each confound and how many comparisons it exceeds.

    `probes` are the tables of `read_probes`, `trials` is `trials.csv`, and `facts` the table of
    `recorded_levels`, for what the campaign controlled.
    """
    effects = default_effects_percent(trials)
    rows = [
        {
            "confound": name,
            "size_percent": size.percent,
            "size_low_percent": size.low_percent,
            "size_high_percent": size.high_percent,
            "scatter_percent": size.scatter_percent,
            "difference_p": size.difference_p,
            "between": size.between,
            "larger_than_count": sum(effect < size.percent for effect in effects),
            "comparisons_count": len(effects),
            "median_effect_percent": float(pd.Series(effects, dtype=float).median()),
            "verdict": _verdict(size, effects),
            "control": control,
        }
        for name, size, control in _confounds(probes, trials, facts)
    ]
    return pd.DataFrame(rows)


def default_effects_percent(trials: pd.DataFrame) -> list[float]:
    """Return the differences in throughput between default file systems, all else being equal."""
    chosen = trials[(trials["option"] == "default") & trials["load_ops_s"].isna()]
    equal = [factor for factor in factors_of(trials) if factor != "file_system"]
    above, below = THROUGHPUT.totals(chosen)
    known = chosen.assign(above=above, below=below).dropna(subset=["above", "below"])
    cells = known.groupby([*equal, "file_system"], dropna=False)[["above", "below"]].sum()
    rates = cells["above"] / cells["below"]
    return [
        100 * (max(pair) / min(pair) - 1)
        for _, alike in rates.groupby(equal, dropna=False)
        for pair in itertools.combinations(alike, 2)
    ]


def _confounds(
    probes: Mapping[str, pd.DataFrame], trials: pd.DataFrame, facts: pd.DataFrame
) -> Iterator[tuple[str, Size, str]]:
    """Yield name, size, and what controls for it."""
    for name, size in measured_sizes(probes).items():
        yield name, size, _control(name, facts)
    unlimited = trials[trials["load_ops_s"].isna()]
    rate = unlimited["throughput_ops_s"]
    of_cell = [unlimited[name] for name in factors_of(trials)]
    level = rate / rate.groupby(of_cell, dropna=False).transform("mean")
    by_block = pd.DataFrame(
        {"block": unlimited["block"], "level_x": level, "pass": unlimited.index}
    )
    yield (
        "time of measurement",
        spread(by_block, "block", "level_x"),
        "nothing: no blocks are known"
        if by_block["block"].isna().any()
        else "cells are interleaved at random in complete blocks",
    )
    constant = 100 * (trials["error_constant_j"] / trials["energy_j"])
    yield (
        "constant error of the meter",
        Size(
            float(constant.max()),
            math.nan,
            math.nan,
            float(constant.max() - constant.min()),
            math.nan,
        ),
        "it is alike in all trials of one length and cancels in ratios of efficiency",
    )


def _control(name: str, facts: pd.DataFrame) -> str:
    """Return what the records say that was held."""
    levels = facts[name]
    unknown = int(levels.isna().sum())
    if levels.empty:
        return "nothing: no record says"
    if unknown:
        return f"nothing: not known in {unknown} of {len(levels)} trials"
    held = sorted(levels.unique())
    if len(held) == 1:
        verified = ", verified by rule 7" if name == CACHE.name else ""
        return f"the same in all {len(levels)} trials{verified}: {held[0]}"
    return f"a factor, or it differs: {', '.join(held)}"


def _verdict(size: Size, effects: list[float]) -> str:
    if not size.measured:
        return "not measured here"
    if size.by_chance:
        return "could be chance"
    if not effects:
        return "nothing to compare with"
    if size.least_percent > min(effects):
        return "would have fooled you"
    return (
        "may have fooled you" if size.most_percent > min(effects) else "smaller than every effect"
    )
