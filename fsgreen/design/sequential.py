"""Sequential stopping: which cells get another block, as a function of the trials only (rule 27).

A cell ends once the 95 % half-widths of its throughput and its energy are below the target, or with
the last block of the plan. This is the protocol of fast10 (section 3.2: at least five runs, and
Student-t half-widths of ops/s and energy below 5 % of the mean) and of greenfs08 (section 4: at
least ten runs).

A block beyond the minimum holds the open cells, the cells that they are compared with, and the
baseline. The decision is made when all earlier trials are whole, and uses only those. So a harness
that was killed and continues decides the same.
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
"""The quantities whose intervals must be narrow, as functions of one trial."""

Trials = Mapping[str, Measured]
"""What was measured in each trial, by its name."""


@dataclass(frozen=True)
class Decision:
    """The cells of a block beyond the minimum, in the order of the plan's cells."""

    block: int
    open: tuple[Cell, ...]
    compared: tuple[Cell, ...]
    """The cells that the open ones are compared with, and the baseline."""


@dataclass(frozen=True)
class CellProgress:
    """The progress of a cell: number of trials, 95 % half-widths, and what ended it, if it ended.

    Half-widths are in per cent of the mean, by metric. They are NaN for fewer than two trials.
    """

    cell: Cell
    n: int
    half_width_percent: Mapping[str, float]
    ended: Literal["target", "maximum"] | None


def half_widths_percent(sample: Sequence[Measured]) -> dict[str, float]:
    """Return the 95 % half-widths of a cell's throughput and energy, in per cent, by metric.

    Throughput is a ratio of totals (rule 29), as in the tables.
    """
    from fsgreen import stats

    work_ops, duration_s, energy_j = zip(*sample, strict=True)
    return {
        "throughput": stats.ratio_of_totals(work_ops, duration_s).half_width_percent,
        "energy": stats.mean_ci(energy_j).half_width_percent,
    }


def samples(plan: Plan, measured: Trials, before: int | None = None) -> dict[Cell, list[Measured]]:
    """Return the measured trials of each cell, in the order of the plan.

    With `before`, only blocks before that one count.
    """
    by_cell: dict[Cell, list[Measured]] = {cell: [] for cell in plan.cells}
    for planned in plan.trials:
        if planned.trial in measured and (before is None or planned.block < before):
            by_cell[planned.cell].append(measured[planned.trial])
    return by_cell


def decide(plan: Plan, measured: Trials) -> list[Decision]:
    """Return the decisions on blocks beyond the minimum that can be made so far."""
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
    """Return the trials of a campaign that are due by the decisions so far, in their order.

    A campaign is complete when all of them are measured.
    """
    return tuple(_due(plan, decide(plan, measured)))


def progress_of_cells(plan: Plan, measured: Trials) -> list[CellProgress]:
    """Return the progress of each cell of the plan.

    A cell may have been left out of a block although its interval is wide again later. It ends with
    the campaign, with fewer trials than the maximum.
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
    """Return the cells of the plan that these are compared with, and the baseline.

    A cell is compared with those that differ in one factor: they have the default option, or the
    study's constant.
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
