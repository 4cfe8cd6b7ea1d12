"""One row per cell: centre, interval, variation, shape, steady state, and trials needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fsgreen import stats
from fsgreen.analysis import owncoverage
from fsgreen.design import Plan, metrics
from fsgreen.design.columns import CPU_SHARES, LATENCIES
from fsgreen.design.metrics import THROUGHPUT, USUAL, Metric
from fsgreen.reduce import at, blocks_by_clock, factors_of
from fsgreen.stats import coverage

VARIED = ("workload", "file_system", "option", "load_ops_s")
"""Factors that tables and figures of file systems vary. All others are held at the baseline."""

NOTHING = stats.Estimate.without_interval()
NO_VARIATION = stats.Variation(math.nan, math.nan, math.nan, math.nan)
"""For imported runs, which may lack a quantity."""


def cells_table(
    trials: pd.DataFrame,
    bounds: Mapping[str, float],
    measured_by: Sequence[Metric] = USUAL,
    *,
    least_n: int | None = None,
) -> pd.DataFrame:
    """Return the summary of each cell of `trials.csv`.

    `bounds` are the plan's. Besides throughput, each metric of `measured_by` gets a value and an
    interval. `least_n` is what `ended_from` returns: the interval of a cell that ends when it is
    narrow enough covers the truth less often (rule 27).
    """
    blocks = blocks_by_clock(trials)
    in_order = trials.assign(_block=blocks, **owncoverage.of_cells(trials, blocks)).sort_values(
        ["_block", "order"], kind="stable", ignore_index=True
    )
    keys = [*factors_of(trials), "boundary"]
    groups = in_order.groupby(keys, dropna=False, sort=True)
    return pd.DataFrame(
        [
            {
                **dict(zip(keys, key, strict=True)),
                **_summary(
                    cell,
                    bounds,
                    list(dict.fromkeys((THROUGHPUT, *measured_by))),
                    least_n,
                    cell["covers_percent"].iloc[0],
                    cell["covers_where"].iloc[0],
                ),
            }
            for key, cell in groups
        ]
    )


def at_baseline(
    table: pd.DataFrame, plan: Plan, treatments: Sequence[str] = VARIED
) -> pd.DataFrame:
    """Return the rows of trials, cells or comparisons in the state of the study's baseline.

    A study may measure warm caches as well as cold ones. What is printed beside one published
    number must not mix the two.
    """
    levels = plan.levels(plan.baseline)
    free = {"workload", "load_ops_s", *treatments}
    held = {factor: level for factor, level in levels.items() if factor not in free}
    return table[at(table, held)]


def ended_from(plan: Plan, trials: pd.DataFrame) -> int | None:
    """Return the least number of trials at which a cell could end, because its interval was narrow.

    None if the number of trials was fixed beforehand, or if all cells stopped at the same number.
    """
    profile = plan.profile
    went_on = profile.sequential and trials["block"].max() > profile.blocks
    return profile.blocks if went_on else None


def steady(cells: pd.DataFrame, metric: str = "throughput") -> pd.Series:
    """Return a boolean per cell: whether it has a steady state, and so a mean to rank (rule 24).

    For a metric of energy, the power must be steady, too, if a series of power was read.
    """
    has_mean = cells["state"] != "inconsistent"
    if metrics.get(metric).of_power and "power_state" in cells:
        has_mean &= cells["power_state"] != "inconsistent"
    return has_mean


def is_steady(trials: pd.DataFrame, metric: Metric) -> bool:
    """Return whether the trials of a cell have a steady state, as `steady` does of its row.

    Trials in virtual time have no series that could move.
    """
    series = ["steady", "steady_power"] if metric.of_power else ["steady"]
    classes = [stats.classify_cell(list(trials[name])) for name in series if name in trials]
    return "inconsistent" not in classes


def rate_text(cell: Mapping[str, Any]) -> str:
    """Return operations per second with their interval, and a star if `cells.csv` has one.

    A cell without a steady state has the range from the 5th to the 95th percentile instead.
    """
    if cell["state"] == "inconsistent":
        low, high = (cell[f"throughput_{end}_ops_s"] for end in ("p5", "p95"))
        return f"no steady state: {low:,.0f} to {high:,.0f}"
    value, low, high = (cell[f"throughput{end}_ops_s"] for end in ("", "_low", "_high"))
    low = max(low, 0.0)  # no rate is negative
    star = "*" if cell["starred"] else ""
    return f"{value:,.0f}" + ("" if pd.isna(low) else f" [{low:,.0f}, {high:,.0f}]{star}")


def estimator(least_n: int | None) -> str:
    """Return the name under which the interval of a rate was simulated in `stats.coverage`."""
    return "ratio of totals" if least_n is None else "ratio of totals, sequential stop"


def interval_to_read(normality_p: float, mean: stats.Estimate, median: stats.Estimate) -> str:
    """Return which of the two intervals to read (rule 31).

    The t interval needs normal trials. It gets a star if the trials are not normal and too few for
    an interval of the median.
    """
    if not mean.has_interval:
        return "none"
    if not normality_p < stats.LEVEL:
        return "mean, t"
    return "median, ranks" if median.has_interval else "mean, t, starred"


def _summary(
    cell: pd.DataFrame,
    bounds: Mapping[str, float],
    measured_by: Sequence[Metric],
    least_n: int | None,
    coverage_percent: float,
    covers_where: str,
) -> dict[str, Any]:
    target_percent = bounds["ci_half_width_percent"]
    rates = cell["throughput_ops_s"].dropna()
    estimates = {metric: _estimate(cell, metric) for metric in measured_by}
    scatter = stats.variation(rates) if len(rates) else NO_VARIATION
    known = [values for values in (rates, cell["energy_j"].dropna()) if len(values)]
    needed = [stats.trials_needed(values, target_percent / 100) for values in known]
    counts = [count for count in needed if count is not None]
    judged = cell.loc[cell["steady"] != "too short", "steady"]
    half_width_percent = estimates[THROUGHPUT].half_width_percent
    measured = {metric.column for metric in estimates}
    centres, tail = _centres(rates), _tail(cell, least_n)
    short = coverage_percent < stats.LEAST_PERCENT
    if short:
        own = f"covers about {coverage_percent:.0f} % where trials scatter as {covers_where}"
        tail["interval_note"] = "; ".join(filter(None, (tail["interval_note"], own)))
    return {
        "n": len(cell),
        "enough": len(cell) >= bounds["minimum_trials"],
        **{
            column: value
            for metric, estimate in estimates.items()
            for column, value in _columns(metric.name, metric.unit, estimate).items()
        },
        **_columns("bandwidth", "b_s", _estimate(cell, metrics.get("bandwidth"))),
        **_columns("power", "w", _mean(cell["power_w"])),
        **_columns("energy", "j", _mean(cell["energy_j"])),
        "idle_power_w": cell["idle_power_w"].mean(),
        **centres,
        **tail,
        "coverage_percent": coverage_percent,
        "starred": short or _starred(centres, tail),
        "cv_percent": scatter.cv_percent,
        "range_percent": scatter.range_percent,
        "throughput_p5_ops_s": scatter.p5,
        "throughput_p95_ops_s": scatter.p95,
        "half_width_percent": half_width_percent,
        "target_met": bool(half_width_percent < target_percent),
        "needed_count": max(counts) if len(counts) == len(needed) > 0 else math.nan,
        **_order(cell, rates),
        "state": stats.classify_cell(list(cell["steady"])),
        "steady_percent": 100 * (judged != "no steady state").mean(),
        **_power_state(cell),
        **{name: cell[name].mean() for name in CPU_SHARES},
        **{column: cell[column].median() for column in LATENCIES if column not in measured},
    }


def _centres(rates: pd.Series) -> dict[str, Any]:
    """Return mean and median side by side, and which one to read (rule 31)."""
    mean, median, normality_p = _mean(rates), NOTHING, math.nan
    if len(rates):
        median, normality_p = stats.median_ci(rates), stats.normality_p(rates)
    return {
        **_columns("mean_throughput", "ops_s", mean),
        **_columns("median_throughput", "ops_s", median),
        "harmonic_throughput_ops_s": _harmonic(rates),
        "normality_p": normality_p,
        "interval_to_read": interval_to_read(normality_p, mean, median),
    }


def _starred(centres: Mapping[str, Any], tail: Mapping[str, Any]) -> bool:
    """Return whether the interval of throughput gets a star: do not rely on it (rules 31, 33).

    Too few trials to show their shape are no reason: then every cell would have a star.
    """
    promises = centres["interval_to_read"] in ("mean, t", "none")
    return not promises or (bool(tail["interval_note"]) and tail["shape"] != stats.TOO_FEW)


def _tail(cell: pd.DataFrame, least_n: int | None) -> dict[str, Any]:
    """Return the shape of the trials (rule 33), and an interval of throughput for long tails."""
    rates = cell["throughput_ops_s"].dropna()
    shape, skewness_p, dip_p, low, high = stats.TOO_FEW, *(math.nan,) * 4
    if len(rates):
        shape, skewness_p, dip_p = stats.shape(rates), stats.skewness_p(rates), stats.dip_p(rates)
    above, below = THROUGHPUT.totals(cell.loc[rates.index, [*THROUGHPUT.needs, THROUGHPUT.column]])
    if len(rates) and (above > 0).all():
        studentised = stats.studentised_ratio(above, below)
        low, high = studentised.low, studentised.high
    return {
        "shape": shape,
        "skewness_p": skewness_p,
        "dip_p": dip_p,
        "studentised_low_ops_s": low,
        "studentised_high_ops_s": high,
        "interval_note": coverage.interval_note(
            estimator(least_n),
            shape,
            len(rates),
            better="ratio of totals, studentised",
            least_n=least_n,
        ),
    }


def _estimate(cell: pd.DataFrame, metric: Metric) -> stats.Estimate:
    """Return a metric of a cell as a ratio of totals, or as the mean of its trials (rule 29)."""
    above, below = np.broadcast_arrays(*(np.asarray(of, float) for of in metric.totals(cell)))
    known = ~(np.isnan(above) | np.isnan(below))
    if not known.any():
        return NOTHING
    if not metric.below:
        return stats.mean_ci(above[known])
    return stats.ratio_of_totals(above[known], below[known])


def _mean(values: pd.Series) -> stats.Estimate:
    known = values.dropna()
    return stats.mean_ci(known) if len(known) else NOTHING


def _harmonic(rates: pd.Series) -> float:
    if rates.empty:
        return math.nan
    return stats.harmonic_mean(rates).value if (rates > 0).all() else 0.0


def _order(cell: pd.DataFrame, rates: pd.Series) -> dict[str, float]:
    """Return the trend over the run order of the campaign (rule 25); NaN if it is not known.

    The index of `cell` is the run order.
    """
    if cell["block"].isna().any():
        return dict.fromkeys(("trend_tau_x", "trend_p", "trend_percent"), math.nan)
    tau, trend_p = stats.trend(rates.index, rates)
    return {
        "trend_tau_x": tau,
        "trend_p": trend_p,
        "trend_percent": stats.trend_percent(rates.index, rates),
    }


def _power_state(cell: pd.DataFrame) -> dict[str, str]:
    """Return the state of the cell's power, if a series of power was read (rule 23)."""
    if "steady_power" not in cell:
        return {}
    return {"power_state": stats.classify_cell(list(cell["steady_power"]))}


def _columns(name: str, unit: str, estimate: stats.Estimate) -> dict[str, float]:
    return {
        f"{name}_{unit}": estimate.value,
        f"{name}_low_{unit}": estimate.low,
        f"{name}_high_{unit}": estimate.high,
    }
