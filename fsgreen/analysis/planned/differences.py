"""The smallest difference between two cells that a plan can show, per metric."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fsgreen import stats
from fsgreen.analysis.comparisons import pairs_of
from fsgreen.analysis.planned.reach import Expected
from fsgreen.analysis.planned.source import Planned
from fsgreen.design import Cell, Comparison


@dataclass(frozen=True)
class Telling:
    """The differences that a plan can show in a metric of a workload."""

    workload: str
    metric: str
    comparisons: int
    """The number of comparisons in the largest family, for which p-values are corrected (rule
    38)."""
    half_width_percent: float
    """The average half-width of the interval of a ratio; NaN without a pilot that tells."""
    smallest_percent: float
    """The smallest difference that four of five campaigns show after that correction."""
    alone_percent: float
    """The same, for a comparison that is the only one."""


def tellings(
    planned: Planned, comparisons: Sequence[Comparison], metrics: Sequence[str]
) -> list[Telling]:
    """Return the differences that a plan can show, by workload and metric.

    Cells are taken to scatter alike.
    """
    pairs = [*pairs_of(planned.trials, comparisons, planned.treatments)]
    rows = []
    for workload in dict.fromkeys(workload for _, workload, _, _ in pairs):
        families = Counter(kind for kind, of, _, _ in pairs if of == workload)
        largest = max(families.values())
        for metric in metrics:
            reach = planned.shared_reach(metric, Cell(workload=workload))
            expected = Expected.of(reach, planned.blocks)
            known = None if reach is None else reach.after(planned.blocks)
            if known is None:
                rows.append(Telling(workload, metric, largest, *(math.nan,) * 3))
                continue
            smallest, alone = (
                100
                * math.expm1(
                    stats.smallest_difference(known.error, known.degrees, stats.LEVEL / count)
                )
                for count in (largest, 1)
            )
            half_percent = 100 * (expected.high - 1)
            rows.append(Telling(workload, metric, largest, half_percent, smallest, alone))
    return rows
