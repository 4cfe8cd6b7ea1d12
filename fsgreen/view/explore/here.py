"""What there is to look at: studies, their campaigns, and the measures of cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fsgreen import paths
from fsgreen.design import metrics
from fsgreen.errors import FsgreenError
from fsgreen.figures import AXES
from fsgreen.trial import read_of_campaign

UNITS = {"ops_s": "ops/s", "ops_j": "ops/J", "b_s": "B/s", "j": "J", "w": "W", "percent": "%"}
"""How units of columns are written behind a number; others as they are."""

LATENCIES = {
    "latency_p50": "median latency",
    "latency_p95": "latency that 95 % of operations stay below",
    "latency_p99": "latency that 99 % of operations stay below",
}

FIRST = ("throughput", "power", "efficiency")
"""The measures that are offered first."""


@dataclass(frozen=True)
class Measure:
    """What cells can be compared in.

    `column`, `low` and `high` are the columns of its value and of the ends of its interval. `title`
    is "operations per second", and `unit` stands behind a number: "ops/s".
    """

    name: str
    column: str
    low: str
    high: str
    title: str
    unit: str
    higher_is_better: bool
    of_power: bool = False

    @property
    def of_trials(self) -> bool:
        """Return whether its interval is not in `cells.csv` and is made from the trials."""
        return self.name in LATENCIES


def studies() -> list[str]:
    """Return the names of the studies that are here."""
    return sorted(file.stem for file in (paths.root() / "studies").glob("*.yaml"))


def campaigns() -> tuple[dict[str, list[str]], list[str]]:
    """Return the campaigns that are here by study, and why others cannot be shown."""
    of_studies: dict[str, list[str]] = {}
    faults = []
    for plan in sorted((paths.data() / "raw").glob(f"*/{paths.PLAN}")):
        name = plan.parent.name
        try:
            study = str(read_of_campaign(name, plan.name)["study"])
            read_of_campaign(name, paths.IDENTITY)
        except (FsgreenError, KeyError) as error:
            faults.append(f"{name} is left out: {error}")
        else:
            of_studies.setdefault(study, []).append(name)
    return of_studies, faults


def measures(columns: Iterable[str]) -> list[Measure]:
    """Return what tables with these columns have values of, those of `FIRST` first.

    The metrics of a study are known once it has been read. So are those of other studies that were
    read before: of such a one there may be a value, but no interval.
    """
    there = set(columns)
    of_cells = [
        _of_metric(name) for name in metrics.names() if there >= {*metrics.get(name).columns}
    ]
    latencies = [
        Measure(name, f"{name}_s", f"{name}_low_s", f"{name}_high_s", title, "s", False)
        for name, title in LATENCIES.items()
        if f"{name}_s" in there
    ]
    known = {measure.name: measure for measure in (*of_cells, *latencies)}
    order = [*FIRST, *LATENCIES, *known]
    return [known[name] for name in dict.fromkeys(order) if name in known]


def _of_metric(name: str) -> Measure:
    metric = metrics.get(name)
    unit = UNITS.get(metric.unit, metric.unit)
    title = AXES[name][1] if name in AXES else f"{name.replace('_', ' ')}, {unit}"
    ends = metric.end("low"), metric.end("high")
    return Measure(
        name, metric.column, *ends, title, unit, metric.higher_is_better, metric.of_power
    )
