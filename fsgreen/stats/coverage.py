"""How often each interval covers the truth and each test errs, as `bench.coverage` simulated it.

The table beside this file is all that is known of it; docs/statistics.md prints it, and notes on
results are made from it.
"""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import Literal

import pandas as pd

from fsgreen.stats.shape import TOO_FEW, Shape

FILE = Path(__file__).with_name("coverage.csv")
COLUMNS = [
    "estimator",
    "kind",
    "distribution",
    "n",
    "rate_percent",
    "repetitions_count",
]

Kind = Literal["interval", "test", "power"]
"""interval: rate of covering, nominally 95 %. test: rate of false alarms, nominally 5 %. power:
rate of finding what is there, which has no nominal value."""

SHORT_PERCENT, LONG_PERCENT = 93.0, 97.0
"""An interval holds if it covers so often, a test if it errs no more than 100 less the first."""

LOOKS_LIKE: dict[Shape, tuple[str, ...]] = {
    "unremarkable": ("normal",),
    "long-tailed": ("log-normal",),
    "bimodal": ("bimodal", "uneven bimodal"),
    TOO_FEW: ("log-normal",),
}
"""Distributions of the simulation that stand for the shape of a cell."""


@functools.cache
def table() -> pd.DataFrame:
    """Return the simulated rates: the columns `COLUMNS`."""
    return pd.read_csv(FILE)


@functools.cache
def rate_percent(estimator: str, distribution: str, n: int) -> float:
    """Return how often an estimator covers or errs, at the largest simulated n that is not above.

    NaN below the smallest n, and where the estimator has no interval.
    """
    rows = table()
    rows = rows[(rows["estimator"] == estimator) & (rows["distribution"] == distribution)]
    rows = rows[rows["n"] <= n].sort_values("n")
    return float(rows["rate_percent"].iloc[-1]) if len(rows) else math.nan


def verdict(kind: Kind, percent: float) -> str:
    """Return `holds`, or how the nominal rate is missed: `short`, `long`, `liberal`, `strict`.

    short and liberal mislead; long and strict ask for more trials than are needed. Empty for power
    and where there is no rate.
    """
    if kind == "power" or math.isnan(percent):
        return ""
    covers = percent if kind == "interval" else 100 - percent
    if covers < SHORT_PERCENT:
        return "short" if kind == "interval" else "liberal"
    if covers > LONG_PERCENT:
        return "long" if kind == "interval" else "strict"
    return "holds"


def simulated_n(n: int) -> int | None:
    """Return the number of trials that was simulated and whose rates hold for `n`; None below."""
    known = table()
    known = known[(known["kind"] == "interval") & (known["n"] <= n)]["n"]
    return int(known.max()) if len(known) else None


def interval_note(
    estimator: str, shape: Shape, n: int, better: str, least_n: int | None = None
) -> str:
    """Return what a reader of an interval must know, given the shape of the cell; empty if nothing.

    `better` is the estimator beside it that stands a long tail. Of a cell that could end by the
    width of its interval, `least_n` is the number of trials from which on.
    """
    if n < 2:
        return ""
    at_n = n if least_n is None else least_n
    rates = {rate_percent(estimator, name, at_n): name for name in LOOKS_LIKE[shape]}
    if any(math.isnan(rate) for rate in rates):
        return f"{n} trials are fewer than any for which the coverage of this interval is known"
    worst = min(rates)
    if verdict("interval", worst) != "short":
        return ""
    other = rate_percent(better, rates[worst], at_n)
    covers = f"covers about {worst:.0f} %, the studentised one {other:.0f} %"
    if shape == TOO_FEW:
        return f"{n} trials cannot show a long tail, with which this interval {covers}"
    return f"too short for {shape} trials at n = {n}: {covers}"
