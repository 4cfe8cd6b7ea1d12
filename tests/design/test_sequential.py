"""A stopping rule that depends on anything but the trials lets a campaign choose its result."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
import synthetic
from hypothesis import given, settings
from hypothesis import strategies as st

from fsgreen import design
from fsgreen.design import Cell, Measured, Plan

CELLS = [
    Cell(workload="webserver", file_system="ext3"),
    Cell(workload="webserver", file_system="ext3", option="dtlg"),
    Cell(workload="webserver", file_system="xfs"),
    Cell(workload="webserver", file_system="xfs", option="blk1k"),
    Cell(workload="varmail", file_system="xfs", option="blk1k"),
]


def value(rate: float = 100.0, energy_j: float = 2500.0) -> Measured:
    return Measured(10 * rate, 10.0, energy_j)


def drawn(plan: Plan, seed: int) -> dict[str, Measured]:
    """Values of every trial that might be measured: cells differ in how far they scatter."""
    scatter = {cell: 0.02 * 3**nth for nth, cell in enumerate(plan.cells)}
    values = {}
    for planned in plan.trials:
        chance = random.Random(f"{seed} {planned.trial}")
        rate, power_w = (chance.lognormvariate(0, scatter[planned.cell]) for _ in range(2))
        values[planned.trial] = value(100 * rate, 2500 * power_w)
    return values


def run(
    plan: Plan, values: dict[str, Measured], done: dict[str, Measured] | None = None
) -> dict[str, Measured]:
    """What a campaign measures that does what is due until nothing is."""
    done = dict(done or {})
    while pending := [due.trial for due in design.due(plan, done) if due.trial not in done]:
        done |= {name: values[name] for name in pending}
    return done


def blocks_of(plan: Plan, done: Iterable[str]) -> dict[Cell, list[int]]:
    found: dict[Cell, list[int]] = {cell: [] for cell in plan.cells}
    for planned in plan.trials:
        if planned.trial in done:
            found[planned.cell].append(planned.block)
    return found


plans = st.tuples(st.integers(2, 5), st.integers(0, 5)).map(
    lambda blocks: synthetic.make_plan(CELLS, blocks[0], sum(blocks))
)
seeds = st.integers(0, 2**31)
some = settings(max_examples=40)


@some
@given(plan=plans, seed=seeds)
def test_no_cell_ends_before_the_minimum_or_goes_beyond_the_maximum(plan: Plan, seed: int) -> None:
    least, most = plan.profile.blocks, plan.profile.last_block
    for blocks in blocks_of(plan, run(plan, drawn(plan, seed))).values():
        assert blocks[:least] == list(range(1, least + 1))
        assert blocks == list(range(1, len(blocks) + 1)), "a cell that ended came back"
        assert len(blocks) <= most


@some
@given(plan=plans, seed=seeds)
def test_every_block_holds_the_baseline_and_what_its_cells_are_compared_with(
    plan: Plan, seed: int
) -> None:
    done = run(plan, drawn(plan, seed))
    of_block: dict[int, set[Cell]] = {}
    for planned in plan.trials:
        if planned.trial in done:
            of_block.setdefault(planned.block, set()).add(planned.cell)
    for cells in of_block.values():
        assert design.companions(plan, cells) <= cells
        assert plan.baseline in cells


@some
@given(plan=plans, seed=seeds, cut=st.integers(0, 60), shuffle=seeds)
def test_a_campaign_that_was_cut_anywhere_ends_as_one_that_was_not(
    plan: Plan, seed: int, cut: int, shuffle: int
) -> None:
    """Nor does it matter in what order its trials lie on disk."""
    values = drawn(plan, seed)
    whole = run(plan, values)
    kept = list(whole.items())[:cut]
    random.Random(shuffle).shuffle(kept)
    done = run(plan, values, dict(kept))
    assert done == whole
    assert design.decide(plan, done) == design.decide(plan, whole)
    assert design.progress_of_cells(plan, done) == design.progress_of_cells(plan, whole)


@some
@given(plan=plans, seed=seeds)
def test_what_ended_a_cell_is_said_and_true(plan: Plan, seed: int) -> None:
    done = run(plan, drawn(plan, seed))
    for progress in design.progress_of_cells(plan, done):
        narrow = all(width < 5 for width in progress.half_width_percent.values())
        assert progress.ended == ("target" if narrow else "maximum")
        assert narrow or progress.n == plan.profile.last_block


def test_nothing_beyond_a_block_is_decided_before_it_is_whole() -> None:
    plan = synthetic.make_plan(CELLS, 2, 4)
    values = drawn(plan, 1)
    least = [planned.trial for planned in plan.trials if planned.block <= 2]
    done = {name: values[name] for name in least[:-1]}
    assert [due.trial for due in design.due(plan, done)] == least
    assert design.decide(plan, done) == []
    assert not any(progress.ended == "maximum" for progress in design.progress_of_cells(plan, done))


def test_a_narrow_cell_goes_on_only_beside_one_that_is_wide() -> None:
    plan = synthetic.make_plan(CELLS, 2, 3)
    wide = CELLS[3]
    done = {
        planned.trial: value(100 * (1 + (planned.cell == wide) * planned.block))
        for planned in plan.trials
        if planned.block <= 2
    }
    (decision,) = design.decide(plan, done)
    assert decision.block == 3
    assert decision.open == (wide,)
    assert set(decision.compared) == {CELLS[0], CELLS[2]}, "the baseline and the default of xfs"


def test_a_cell_is_compared_with_those_that_differ_from_it_in_one_factor() -> None:
    plain, aged = (
        Cell(workload="varmail", file_system="xfs"),
        Cell(workload="varmail", file_system="xfs", device="aged"),
    )
    option = Cell(workload="varmail", file_system="xfs", option="noatime")
    both = Cell(workload="varmail", file_system="xfs", option="noatime", device="aged")
    plan = synthetic.make_plan([CELLS[0], plain, aged, option, both])
    assert design.companions(plan, [both]) - {both} == {CELLS[0], aged, option}
    assert design.companions(plan, [aged]) - {aged} == {CELLS[0], plain}


def test_a_cell_that_widens_late_has_ended_when_the_campaign_has() -> None:
    """It missed a block, so that it never gets as many trials as there are blocks."""
    plain, aged = (
        Cell(workload="varmail", file_system="xfs"),
        Cell(workload="varmail", file_system="xfs", device="aged"),
    )
    wide = Cell(workload="varmail", file_system="xfs", option="noatime", device="aged")
    plan = synthetic.make_plan([CELLS[0], plain, aged, wide], 2, 5)
    late = {(aged, 3): 3.0, (plain, 4): 3.0}
    values = {
        planned.trial: value(
            100
            * (
                planned.block
                if planned.cell == wide
                else late.get((planned.cell, planned.block), 1.0)
            )
        )
        for planned in plan.trials
    }
    done = run(plan, values)
    assert [plain in {*one.open, *one.compared} for one in design.decide(plan, done)] == [
        False,
        True,
        True,
    ]
    (found,) = (one for one in design.progress_of_cells(plan, done) if one.cell == plain)
    assert (found.n, found.ended) == (4, "maximum")


@pytest.mark.parametrize("metric", ["throughput", "energy"])
def test_either_metric_keeps_a_cell_open(metric: str) -> None:
    """fast10 (section 3.2) asks for narrow intervals of both."""
    plan = synthetic.make_plan(CELLS[:2], 2, 3)
    done = {}
    for planned in plan.trials:
        if planned.block <= 2:
            factor = planned.block if planned.cell == CELLS[1] else 1
            done[planned.trial] = (
                value(rate=100 * factor) if metric == "throughput" else value(energy_j=99 * factor)
            )
    assert [decision.open for decision in design.decide(plan, done)] == [(CELLS[1],)]


def test_a_plan_without_a_maximum_owes_all_its_trials_whatever_they_found() -> None:
    plan = synthetic.make_plan(CELLS, 3)
    assert design.due(plan, {}) == plan.trials
    assert design.decide(plan, drawn(plan, 1)) == []
