"""What further blocks would gain, and how long they would take, from what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fsgreen import design, stats
from fsgreen.campaign.pace import Pace
from fsgreen.design import Cell, Measured, Plan, Trials


@dataclass(frozen=True)
class Prospect:
    """What a cell needs whose interval is still too wide (rule 28).

    `metric` is the one that needs the most trials. `half_width_percent` is its 95 % half-width with
    the `n` trials so far. `needed` is the number of trials for the target. `duration_s` is the
    duration of the further blocks, each with this cell, the cells that it is compared with, and the
    baseline.
    """

    cell: Cell
    metric: str
    half_width_percent: float
    n: int
    needed: int
    duration_s: float

    @property
    def blocks(self) -> int:
        """Return the number of further blocks."""
        return self.needed - self.n


def prospects(plan: Plan, trials: Trials, pace: Pace) -> list[Prospect]:
    """Return the cells whose intervals are still too wide, the quickest to narrow first.

    The number of trials follows from the cell's own scatter so far, so it is rough after few
    trials. Cells with a single trial are left out, as nothing is known of their scatter.
    """
    target_percent = plan.bounds["ci_half_width_percent"]
    wide = []
    for cell, sample in design.samples(plan, trials).items():
        widths = design.half_widths_percent(sample) if len(sample) > 1 else {}
        needs = {
            metric: max(needed, len(sample) + 1)
            for metric, width in widths.items()
            if width >= target_percent
            and (needed := _trials_needed(sample, metric, target_percent)) is not None
        }
        if needs:
            metric, needed = max(needs.items(), key=lambda need: need[1])
            block_s = pace.total_s({cell} | design.companions(plan, [cell]))
            n = len(sample)
            wide.append(Prospect(cell, metric, widths[metric], n, needed, (needed - n) * block_s))
    return sorted(wide, key=lambda prospect: (prospect.duration_s, prospect.cell.label))


def together_s(plan: Plan, wanting: Sequence[Prospect], pace: Pace) -> float:
    """Return the duration of the blocks that bring all these cells below the target, in seconds."""
    first = min((prospect.n for prospect in wanting), default=0)
    last = max((prospect.needed for prospect in wanting), default=0)
    return _blocks_s(plan, wanting, pace, first + 1, last)


def further_s(plan: Plan, trials: Trials, pace: Pace) -> float:
    """Return the likely duration of the blocks that are not decided yet, in seconds.

    It is assumed that each cell continues until it has the trials that its scatter requires.
    """
    decided = design.due(plan, trials)[-1].block
    wanting = prospects(plan, trials, pace)
    return _blocks_s(plan, wanting, pace, decided + 1, plan.profile.last_block)


def scatter(plan: Plan, trials: Trials) -> Iterator[tuple[str, stats.Components]]:
    """Yield each metric with its components of variance over the whole blocks (rule 5).

    Each trial makes a new file system, so differences between makings are part of "between trials".
    """
    of_block: dict[int, dict[Cell, Measured]] = {}
    for planned in plan.trials:
        if planned.trial in trials:
            of_block.setdefault(planned.block, {})[planned.cell] = trials[planned.trial]
    whole = [of_cells for of_cells in of_block.values() if len(of_cells) == len(plan.cells)]
    for metric, value in design.METRICS.items():
        table = [[value(of_cells[cell]) for of_cells in whole] for cell in plan.cells]
        yield metric, stats.variance_components(np.reshape(table, (len(table), len(whole))))


def _blocks_s(plan: Plan, wanting: Sequence[Prospect], pace: Pace, first: int, last: int) -> float:
    """Return the duration of the blocks from `first` to `last`, with the cells that need them."""
    changes = {
        at for prospect in wanting for at in (prospect.n, prospect.needed) if first <= at < last
    }
    total_s = 0.0
    for before, block in pairwise(sorted({first - 1, *changes, max(last, first - 1)})):
        still = {prospect.cell for prospect in wanting if prospect.n < block <= prospect.needed}
        if still:
            block_s = pace.total_s(still | design.companions(plan, still))
            total_s += (block - before) * block_s
    return total_s


def _trials_needed(sample: Sequence[Measured], metric: str, target_percent: float) -> int | None:
    values = [design.METRICS[metric](measured) for measured in sample]
    return stats.trials_needed(values, target_percent / 100)
