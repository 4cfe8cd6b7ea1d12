"""Metrics: the numbers in which cells are compared. Each is a ratio of totals (rule 29).

A study may declare more metrics of its own under `metrics`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from fsgreen.design.columns import OF_SSD
from fsgreen.design.registry import Registry


@dataclass(frozen=True)
class Metric:
    """A number of a cell: the sum of one quantity over its trials, divided by that of another."""

    name: str
    """The name in studies and tables."""
    above: str
    below: str = ""
    """Numerator and denominator: a column of `trials.csv`, or a product of columns ("bandwidth_b_s
    * duration_s"). Without `below`, the metric is a mean over trials."""
    unit: str = ""
    """The unit as the end of a column's name: "ops_s"."""
    higher_is_better: bool = True
    """Whether a higher value is better."""
    modelled_from: str = ""
    """The quantity from which a model computes it; "" if it is measured. A modelled metric decides
    no claim."""
    published_as: tuple[str, ...] = ()
    """Its names in `data/reference/claims.yaml`."""

    @property
    def column(self) -> str:
        """Return the name of its column in tables."""
        return f"{self.name}_{self.unit}"

    def end(self, end: str) -> str:
        """Return the name of the column for the `low` or `high` end of its interval."""
        return f"{self.name}_{end}_{self.unit}"

    @property
    def columns(self) -> tuple[str, str, str]:
        """Return the columns of `cells.csv` with its value and its interval."""
        return self.column, self.end("low"), self.end("high")

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the columns of `trials.csv` that it is computed from."""
        return (*_factors(self.above), *_factors(self.below))

    @property
    def of_power(self) -> bool:
        """Return whether it needs power or energy, and so has the boundary of a meter."""
        return any(name.startswith(("energy", "power")) for name in self.needs)

    def totals(self, trials: Any) -> tuple[Any, Any]:
        """Return numerator and denominator of each row of a table such as `trials.csv`.

        The denominator may be the number 1. Imported runs may have a rate without its totals. Then
        all runs count as the same amount of work, so that the ratio of totals is the harmonic mean.
        For a cost, or a rate that is zero, it is the arithmetic mean. Without a simulated SSD, its
        columns are lacking: then they are NaN.
        """
        lacking = [name for name in self.needs if name in OF_SSD and name not in trials]
        if lacking:
            trials = trials.assign(**dict.fromkeys(lacking, math.nan))
        if not (self.below and self._known_without_totals(trials)):
            return _product(self.above, trials), _product(self.below, trials)
        rates = trials[self.column]
        if not self.higher_is_better or (rates <= 0).any():
            return rates, 1.0
        return rates / rates, 1 / rates

    def _known_without_totals(self, trials: Any) -> bool:
        if self.column not in trials:
            return False
        known = trials[self.column].notna().to_numpy()
        return any((known & trials[name].isna().to_numpy()).any() for name in self.needs)


BUILT_IN = (
    Metric(
        "throughput",
        "work_ops",
        "duration_s",
        "ops_s",
        # The published counts of operations belong to runs of equal length.
        published_as=("throughput_ops_s", "appends", "operations"),
    ),
    Metric(
        "efficiency",
        "work_ops",
        "energy_j",
        "ops_j",
        published_as=("energy_efficiency_ops_per_j",),
    ),
    Metric("bandwidth", "bandwidth_b_s * duration_s", "duration_s", "b_s"),
    Metric("duration", "duration_s", unit="s", higher_is_better=False),
    Metric("energy", "energy_j", unit="j", higher_is_better=False),
    Metric("power", "energy_j", "duration_s", "w", higher_is_better=False),
    # The energy of an operation times its time (Horowitz et al., ISLPED 1994).
    Metric(
        "energy_delay",
        "energy_j * duration_s",
        "work_ops * work_ops",
        "js",
        higher_is_better=False,
    ),
    # The bytes that reached the device, in per cent of those that the workload wrote.
    Metric(
        "write_amplification",
        "device_write_percent * write_b",
        "write_b",
        "percent",
        higher_is_better=False,
    ),
    # The bytes that a simulated SSD programmed into flash, in per cent of those written to it.
    Metric(
        "flash_amplification",
        "flash_programmed_percent * host_written_b",
        "host_written_b",
        "percent",
        higher_is_better=False,
    ),
    # Processor time of all threads over elapsed time: above 1 where several worked at once.
    Metric("cpu_share", "workload_cpu_s", "duration_s", "x", higher_is_better=False),
    # A mean over trials. Latency profiles compare the distributions themselves.
    Metric("latency_p99", "latency_p99_s", unit="s", higher_is_better=False),
)
"""Metrics that come with fsgreen."""

_known = Registry("metric", BUILT_IN)
declare, get, names = _known.declare, _known.get, _known.names


def published(name: str) -> Metric | None:
    """Return the metric of a published number, by its name there; None if there is none."""
    return next((metric for metric in _known if name in (metric.name, *metric.published_as)), None)


def called(name: str) -> str:
    """Return what a name means among metrics and their columns, in words; "" if nothing."""
    of = (known.name for known in _known if name in (known.name, *known.columns))
    return next((f"of the metric {metric}" for metric in of), "")


THROUGHPUT, EFFICIENCY = get("throughput"), get("efficiency")
USUAL = (THROUGHPUT, EFFICIENCY)
"""The metrics of a study that names no others: work per second and per joule."""


@cache
def _factors(expression: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in expression.split("*") if name.strip())


def _product(expression: str, table: Mapping[str, Any]) -> Any:
    product: Any = 1.0
    for nth, name in enumerate(_factors(expression)):
        product = table[name] if nth == 0 else product * table[name]
    return product
