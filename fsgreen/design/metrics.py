"""Metrics: what trials are judged by, each a total over a total (rule 29), declared once.

A study may declare more of its own under `metrics`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fsgreen.design.registry import Registry


@dataclass(frozen=True)
class Metric:
    """A number of a cell: the sum of something over its trials, over the sum of something else.

    Attributes
    ----------
    name : str
        As in studies and tables.
    above, below : str
        Columns of `trials.csv`, or the product of several ("bandwidth_b_s * duration_s"); without
        `below` it is a mean over trials.
    unit : str
        As columns end in it: "ops_s".
    higher_is_better : bool
        Whether more of it is better.
    modelled_from : str
        What it is computed from by a model, where it is not measured; it then decides no claim.
    published_as : tuple of str
        What `data/reference/claims.yaml` calls it.
    """

    name: str
    above: str
    below: str = ""
    unit: str = ""
    higher_is_better: bool = True
    modelled_from: str = ""
    published_as: tuple[str, ...] = ()

    @property
    def column(self) -> str:
        """Return the column of tables that holds it."""
        return f"{self.name}_{self.unit}"

    def end(self, end: str) -> str:
        """Return the column that holds an end of its interval: `low` or `high`."""
        return f"{self.name}_{end}_{self.unit}"

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the columns of `trials.csv` that it is made of."""
        return (*_factors(self.above), *_factors(self.below))

    @property
    def of_power(self) -> bool:
        """Return whether it rests on a meter, and so is of the parts that the meter sees."""
        return any(name.startswith(("energy", "power")) for name in self.needs)

    def totals(self, trials: Any) -> tuple[Any, Any]:
        """Return above and below of each row of a table such as `trials.csv`; below may be 1.

        Where a rate is known and its totals are not, as of imported runs, the runs count as equally
        much work, so that total over total is the harmonic mean; of a cost it is the mean.
        """
        if not (self.below and self._known_without_totals(trials)):
            return _product(self.above, trials), _product(self.below, trials)
        rates = trials[self.column]
        if not self.higher_is_better or (rates <= 0).any():
            return rates, 1.0
        return rates / rates, 1 / rates

    def _known_without_totals(self, trials: Any) -> bool:
        if self.column not in trials:
            return False
        known = trials[self.column].notna()
        return bool((known & trials[[*self.needs]].isna().any(axis="columns")).any())


BUILT_IN = (
    Metric(
        "throughput",
        "work_ops",
        "duration_s",
        "ops_s",
        # Counts of operations are of runs of equal length.
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
    # Of an operation: its energy times its time (Horowitz et al., ISLPED 1994).
    Metric(
        "energy_delay",
        "energy_j * duration_s",
        "work_ops * work_ops",
        "js",
        higher_is_better=False,
    ),
    # What reached the device, in per cent of what the workload wrote.
    Metric(
        "write_amplification",
        "device_write_percent * write_b",
        "write_b",
        "percent",
        higher_is_better=False,
    ),
    # The mean over trials; the distribution itself is compared by the latency profiles.
    Metric("latency_p99", "latency_p99_s", unit="s", higher_is_better=False),
)
"""Metrics that come with fsgreen."""

_known = Registry("metric", BUILT_IN)
declare, get, names = _known.declare, _known.get, _known.names


def published(name: str) -> Metric | None:
    """Return the metric that a published number is of, None if it is of none."""
    return next((metric for metric in _known if name in (metric.name, *metric.published_as)), None)


THROUGHPUT, EFFICIENCY = get("throughput"), get("efficiency")
USUAL = (THROUGHPUT, EFFICIENCY)
"""What a study compares that names nothing else: work per second and per joule."""


def _factors(expression: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in expression.split("*") if name.strip())


def _product(expression: str, table: Mapping[str, Any]) -> Any:
    product: Any = 1.0
    for nth, name in enumerate(_factors(expression)):
        product = table[name] if nth == 0 else product * table[name]
    return product
