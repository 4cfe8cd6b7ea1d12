"""What runs of unknown design can tell: a row a cell, pairs of cells, and what stays open."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats as distributions

from fsgreen import stats
from fsgreen.design import factors
from fsgreen.reduce import factors_of

Floats = NDArray[np.float64]

NOTHING = stats.Estimate(math.nan, math.nan, math.nan, 0)
LEAST_RUNS = 5
"""Rule 26: fewer conclude nothing (fast10, section 4)."""

METRICS: Mapping[str, tuple[str, str, str]] = {
    "throughput": ("throughput_ops_s", "work_ops", "duration_s"),
    "efficiency": ("efficiency_ops_j", "work_ops", "energy_j"),
    "bandwidth": ("bandwidth_b_s", "", ""),
    "energy": ("energy_j", "", ""),
    "power": ("power_w", "energy_j", "duration_s"),
    "duration": ("duration_s", "", ""),
}
"""Column, and the totals of which it is a rate; a rate without them is averaged harmonically."""

COSTS = ("energy", "duration")

PAIR_COLUMNS = (
    *("metric", "varies", "candidate", "baseline", "where", "candidate_count", "baseline_count"),
    *("paired", "ratio_x", "ratio_low_x", "ratio_high_x", "difference_p", "difference_holm_p"),
    "outcome",
)

UNTOLD = (
    ("1, 27", "what was planned and when to stop: no plan came with the runs"),
    ("2", "whether each run had a fresh file system, or followed others on the same files"),
    ("3, 4, 25", "whether runs of different cells took turns: drift may look like an effect"),
    ("7, 8", "whether the cache was cold and the device in the state that it should be"),
    ("9, 10, 11", "whether the machine was the same, calm and cool"),
    ("12", "whether dirty pages were flushed inside the interval"),
    ("13 to 18, 21", "gaps, sentinels, errors and idle power of the meter: no raw trace"),
    ("20", "whether work and energy are of the same interval"),
    ("23, 24", "whether a run was steady: no series inside it"),
    ("37", "whether cells are equal: no bound was declared before"),
    ("39 to 42", "place on the device, queue depth, fairness and upper bounds"),
)
"""Rules of the statistics that nothing in a table of runs can answer."""


def cells_of_runs(trials: pd.DataFrame) -> pd.DataFrame:
    """Return a row per cell: `n`, and each metric that is known with its 95 % interval.

    Rates are total over total where both are known, else harmonic means; costs arithmetic ones
    (rule 29), each by Student's t. Runs without a value are left out of its column.
    """
    known = {name: spec for name, spec in METRICS.items() if spec[0] in trials}
    rows = []
    for levels, cell in _cells(trials):
        row: dict[str, Any] = {**levels, "n": len(cell), "enough": len(cell) >= LEAST_RUNS}
        for name, (column, _, _) in known.items():
            unit = column.removeprefix(f"{name}_")
            estimate = _estimate(cell, name)
            row |= {
                column: estimate.value,
                f"{name}_low_{unit}": estimate.low,
                f"{name}_high_{unit}": estimate.high,
                f"{name}_cv_percent": _cv_percent(cell[column].dropna()),
            }
        rows.append(row)
    return pd.DataFrame(rows)


def comparisons_of_runs(trials: pd.DataFrame) -> pd.DataFrame:
    """Return a row per metric and pair of cells that differ in one factor, not in the workload.

    `ratio_x` is candidate over baseline, a ratio of geometric means; its interval and p-value are
    those of Student's t over blocks where the runs have blocks in common, else of Welch's t. The
    pairs of a metric are one family (Holm). Equality cannot be shown: no bound was declared. How
    long runs took is compared where it is not known what they did.
    """
    cells = list(_cells(trials))
    rows = [
        {"metric": name, **_names(one, other), **_compare(cell, base, METRICS[name][0])}
        for name in METRICS
        if METRICS[name][0] in trials and not (name == "duration" and "work_ops" in trials)
        for (other, base), (one, cell) in itertools.combinations(cells, 2)
        if len(_varying(one, other)) == 1 and _varying(one, other) != ["workload"]
    ]
    table = pd.DataFrame(rows, columns=list(PAIR_COLUMNS))
    table["difference_holm_p"] = table.groupby("metric")["difference_p"].transform(
        lambda p: stats.holm(list(p))
    )
    few = table[["candidate_count", "baseline_count"]].min(axis=1) < LEAST_RUNS
    different = (table["difference_holm_p"] < stats.LEVEL) & ~few
    table["outcome"] = different.map({True: "different", False: "inconclusive"})
    return table


def describe(trials: pd.DataFrame) -> list[str]:
    """Return lines for a person: cells, comparisons, and what cannot be told."""
    cells, pairs = cells_of_runs(trials), comparisons_of_runs(trials)
    lines = [line for cell in cells.to_dict("records") for line in _cell_lines(cell)]
    few = int((~cells["enough"]).sum())
    if few:
        lines.append(f"{few} of {len(cells)} cells have fewer than {LEAST_RUNS} runs (rule 26).")
    for row in pairs.to_dict("records"):
        text = f"{row['metric']}: {row['candidate']} over {row['baseline']}"
        text += f" ({row['where']})" if row["where"] else ""
        ratio = _with_interval(*(row[f"ratio{end}_x"] for end in ("", "_low", "_high")))
        lines.append(f"{text} {ratio}: {row['outcome']}")
    lines.append("What these runs cannot tell:")
    untold = UNTOLD if "block" not in trials else [e for e in UNTOLD if e[0] != "3, 4, 25"]
    return lines + [f"  rule {rules}: {what}" for rules, what in untold]


def _cell_lines(cell: Mapping[str, Any]) -> Iterator[str]:
    levels = [str(cell[name]) for name in factors.names(cell) if pd.notna(cell[name])]
    yield f"{' '.join(levels) or 'all runs'}, n = {cell['n']}"
    for name, (column, _, _) in METRICS.items():
        unit = column.removeprefix(f"{name}_")
        if pd.notna(cell.get(column)):
            ends = (cell[f"{name}_{end}_{unit}"] for end in ("low", "high"))
            yield f"  {column:18}{_with_interval(cell[column], *ends)}"


def _with_interval(value: float, low: float, high: float) -> str:
    """Return a value with its 95 % interval, which a single run does not have."""
    return f"{value:.4g}" + (f" [{low:.4g}, {high:.4g}]" if math.isfinite(low) else "")


def _cells(trials: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield the levels and the runs of each cell; `default` comes before other options."""
    known = factors_of(trials)
    if not known:
        yield {}, trials
        return
    groups = [
        (dict(zip(known, levels, strict=True)), cell)
        for levels, cell in trials.groupby(known, dropna=False)
    ]
    yield from sorted(
        groups, key=lambda group: [(v != "default", str(v)) for v in group[0].values()]
    )


def _varying(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    return [name for name in one if str(one[name]) != str(other[name])]


def _names(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, str]:
    (varies,) = _varying(one, other)
    where = " ".join(str(level) for name, level in one.items() if name != varies)
    return {
        "varies": varies,
        "candidate": str(one[varies]),
        "baseline": str(other[varies]),
        "where": where,
    }


def _estimate(cell: pd.DataFrame, name: str) -> stats.Estimate:
    column, above, below = METRICS[name]
    if {above, below} <= set(cell):
        both = cell[[above, below]].dropna()
        if len(both) == cell[column].notna().sum() > 0 and (both[below] > 0).all():
            return stats.ratio_of_totals(both[above], both[below])
    values = cell[column].dropna()
    if values.empty:
        return NOTHING
    if name in COSTS or (values <= 0).any():
        return stats.mean_ci(values)
    return stats.harmonic_mean(values)


def _cv_percent(values: pd.Series) -> float:
    return stats.variation(values).cv_percent if len(values) else math.nan


def _compare(candidate: pd.DataFrame, baseline: pd.DataFrame, column: str) -> dict[str, Any]:
    cells = [cell[cell[column].notna()] for cell in (candidate, baseline)]
    if any(cell.empty or (cell[column] <= 0).any() for cell in cells):
        return _result(len(cells[0]), len(cells[1]), False, NOTHING, math.nan)
    logs = [np.log(cell[column]) for cell in cells]
    if "block" in candidate:
        means = [log.groupby(cell["block"]).mean() for log, cell in zip(logs, cells, strict=True)]
        pairs = (means[0] - means[1]).dropna().to_numpy()
        if len(pairs):
            ratio = stats.LogRatio.of_blocks(pairs)
            return _result(len(pairs), len(pairs), True, stats.mean_ci(pairs), ratio.difference_p())
    return _result(len(logs[0]), len(logs[1]), False, *_welch(*(log.to_numpy() for log in logs)))


def _result(
    candidate_count: int, baseline_count: int, paired: bool, log: stats.Estimate, p_value: float
) -> dict[str, Any]:
    return {
        "candidate_count": candidate_count,
        "baseline_count": baseline_count,
        "paired": paired,
        "ratio_x": math.exp(log.value),
        "ratio_low_x": math.exp(log.low),
        "ratio_high_x": math.exp(log.high),
        "difference_p": p_value,
    }


def _welch(one: Floats, other: Floats) -> tuple[stats.Estimate, float]:
    """Return the difference of two means with its interval and p-value (Welch 1947)."""
    difference = float(one.mean() - other.mean())
    n = min(len(one), len(other))
    if n < 2:
        return stats.Estimate(difference, math.nan, math.nan, n), math.nan
    errors = [float(sample.var(ddof=1)) / len(sample) for sample in (one, other)]
    error = math.sqrt(sum(errors))
    if error == 0:
        return stats.Estimate(difference, difference, difference, n), float(difference == 0)
    parts = [e**2 / (len(s) - 1) for e, s in zip(errors, (one, other), strict=True)]
    degrees = error**4 / sum(parts)
    half = float(distributions.t.ppf(0.5 + (1 - stats.LEVEL) / 2, degrees)) * error
    p_value = float(2 * distributions.t.sf(abs(difference) / error, degrees))
    return stats.Estimate(difference, difference - half, difference + half, n), p_value
