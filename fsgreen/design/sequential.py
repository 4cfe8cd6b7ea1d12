"""Sequential stopping: which cells get another block, as a function of the trials alone (rule 27).

A cell ends once the 95 % half-widths of its throughput and its energy are below the target, or with
the last block of the plan. That is the protocol of fast10 (section 3.2: five runs at least,
Student-t half-widths of ops/s and energy below 5 % of the mean) and of greenfs08 (section 4: ten).

A block beyond the minimum holds the cells that are open, what they are compared with, and the
baseline. It is decided when all trials before it are whole and on those alone, so that a harness
which was killed and goes on decides the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from fsgreen.design import factors
from fsgreen.design.blocks import PlannedTrial
from fsgreen.design.cell import DEFAULT, Cell
from fsgreen.design.plan import Plan, constant_level


class Measured(NamedTuple):
    """Work, time and energy of the phase `measure` of one trial."""

    work_ops: float
    duration_s: float
    energy_j: float


METRICS: Mapping[str, Callable[[Measured], float]] = {
    "throughput": lambda trial: trial.work_ops / trial.duration_s,
    "energy": lambda trial: trial.energy_j,
}
"""What must be known well enough of each cell, as a value of one trial."""

Trials = Mapping[str, Measured]
"""What was measured, by the name of the trial."""


@dataclass(frozen=True)
class Decision:
    """Which cells a block beyond the minimum holds, in the order of the plan's cells."""

    block: int
    open: tuple[Cell, ...]
    compared: tuple[Cell, ...]
    """Cells that those are compared with, and the baseline."""


@dataclass(frozen=True)
class CellProgress:
    """How far a cell is: its trials, its 95 % half-widths, and what ended it if it has ended.

    Half-widths are percentages of the mean, by metric; NaN below two trials.
    """

    cell: Cell
    n: int
    half_width_percent: Mapping[str, float]
    ended: Literal["target", "maximum"] | None


def half_widths_percent(sample: Sequence[Measured]) -> dict[str, float]:
    """Return the 95 % half-widths of the throughput and the energy of a cell, by metric.

    Throughput is total over total (rule 29), as in the tables.
    """
    from fsgreen import stats

    work_ops, duration_s, energy_j = zip(*sample, strict=True)
    return {
        "throughput": stats.ratio_of_totals(work_ops, duration_s).half_width_percent,
        "energy": stats.mean_ci(energy_j).half_width_percent,
    }


def samples(plan: Plan, measured: Trials, before: int | None = None) -> dict[Cell, list[Measured]]:
    """Return what was measured of each cell, in the order of the plan.

    `before` leaves out that block and later ones.
    """
    by_cell: dict[Cell, list[Measured]] = {cell: [] for cell in plan.cells}
    for planned in plan.trials:
        if planned.trial in measured and (before is None or planned.block < before):
            by_cell[planned.cell].append(measured[planned.trial])
    return by_cell


def decide(plan: Plan, measured: Trials) -> list[Decision]:
    """Return the blocks beyond the minimum that are to be measured, as far as it is known."""
    decisions: list[Decision] = []
    for block in range(plan.profile.blocks + 1, plan.profile.last_block + 1):
        if any(planned.trial not in measured for planned in _due(plan, decisions)):
            break
        so_far = samples(plan, measured, before=block)
        wide = {cell for cell, sample in so_far.items() if not _narrow(plan, sample)}
        if not wide:
            break
        compared = companions(plan, wide) - wide
        decisions.append(
            Decision(
                block,
                tuple(cell for cell in plan.cells if cell in wide),
                tuple(cell for cell in plan.cells if cell in compared),
            )
        )
    return decisions


def due(plan: Plan, measured: Trials) -> tuple[PlannedTrial, ...]:
    """Return the trials that a campaign owes, as far as it is known, in their order.

    A campaign is complete when all of them are measured.
    """
    return tuple(_due(plan, decide(plan, measured)))


def progress_of_cells(plan: Plan, measured: Trials) -> list[CellProgress]:
    """Return how far each cell of the plan is.

    A cell that is wide again after it was left out of a block ends with the campaign, below the
    maximum of trials.
    """
    over = all(planned.trial in measured for planned in due(plan, measured))
    states = []
    for cell, sample in samples(plan, measured).items():
        ended: Literal["target", "maximum"] | None = None
        if len(sample) >= plan.profile.blocks and _narrow(plan, sample):
            ended = "target"
        elif over or len(sample) == plan.profile.last_block:
            ended = "maximum"
        widths = half_widths_percent(sample) if sample else {}
        states.append(CellProgress(cell, len(sample), widths, ended))
    return states


def companions(plan: Plan, cells: Iterable[Cell]) -> set[Cell]:
    """Return what cells are compared with inside a block, and the baseline.

    That is the same cell but for one factor: the default option, or what the study holds constant.
    """
    compared = {
        cell.but(**{name: DEFAULT if name == "option" else None})
        for cell in cells
        for name in cell
        if name == "option" or constant_level(factors.get(name), plan.constants) is not None
    }
    return {plan.baseline, *compared}.intersection(plan.cells)


def _due(plan: Plan, decisions: Sequence[Decision]) -> Iterator[PlannedTrial]:
    chosen = {decision.block: {*decision.open, *decision.compared} for decision in decisions}
    for planned in plan.trials:
        if planned.block <= plan.profile.blocks or planned.cell in chosen.get(planned.block, ()):
            yield planned


def _narrow(plan: Plan, sample: Sequence[Measured]) -> bool:
    target_percent = plan.bounds["ci_half_width_percent"]
    return bool(sample) and all(
        width < target_percent for width in half_widths_percent(sample).values()
    )
