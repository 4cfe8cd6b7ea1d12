"""What more blocks would bring is told by the trials' own scatter and time, or not at all."""

from __future__ import annotations

import math

import numpy as np
import pytest
import synthetic

from fsgreen import stats
from fsgreen.campaign import outlook
from fsgreen.campaign.pace import Pace
from fsgreen.design import Cell, Measured, Plan

BASE = Cell(workload="webserver", file_system="ext3")
CALM, WIDE = (
    Cell(workload="varmail", file_system="xfs"),
    Cell(workload="varmail", file_system="xfs", option="blk1k"),
)
CELLS = [BASE, CALM, WIDE]
RATES = [80.0, 120.0, 100.0, 90.0, 110.0]


def found(plan: Plan, blocks: int = 5) -> dict[str, Measured]:
    """A cell that scatters in throughput beside two that do not."""
    return {
        planned.trial: Measured(
            10 * (RATES[planned.block - 1] if planned.cell == WIDE else 100.0), 10.0, 2500.0
        )
        for planned in plan.trials
        if planned.block <= blocks
    }


@pytest.fixture
def plan() -> Plan:
    return synthetic.make_plan(CELLS, 5, 10)


def minutes(plan: Plan) -> Pace:
    pace = Pace(plan)
    for cell in plan.cells:
        pace.add(cell, 60, counts=True)
    return pace


def test_only_cells_above_the_target_are_told_with_blocks_and_minutes(plan: Plan) -> None:
    (one,) = outlook.prospects(plan, found(plan), minutes(plan))
    assert (one.cell, one.metric, one.n) == (WIDE, "throughput", 5)
    assert one.needed == stats.trials_needed(RATES, 0.05)
    assert one.blocks == one.needed - 5
    assert one.half_width_percent == pytest.approx(
        stats.mean_ci(RATES).half_width_percent, rel=1e-6
    )
    assert one.duration_s == one.blocks * 3 * 60, "with its default and the baseline"


def test_as_many_blocks_as_it_says_do_bring_the_cell_under_the_target(plan: Plan) -> None:
    """If it goes on to scatter as it did."""
    (one,) = outlook.prospects(plan, found(plan), minutes(plan))
    cv = np.std(RATES, ddof=1) / np.mean(RATES)
    from scipy.stats import t

    def half_width(n: int) -> float:
        return float(t.ppf(0.975, n - 1) * cv / math.sqrt(n))

    assert half_width(one.needed) < 0.05 <= half_width(one.needed - 1)


def test_a_single_trial_tells_nothing(plan: Plan) -> None:
    assert outlook.prospects(plan, found(plan, blocks=1), minutes(plan)) == []
    assert outlook.further_s(plan, found(plan, blocks=1), minutes(plan)) == 0


def test_blocks_to_come_are_counted_up_to_the_maximum(plan: Plan) -> None:
    """After five blocks the sixth is decided; the wide cell needs more than the ten that remain."""
    (one,) = outlook.prospects(plan, found(plan), minutes(plan))
    assert one.needed > 10
    assert outlook.further_s(plan, found(plan), minutes(plan)) == 4 * 3 * 60


def test_cells_that_are_measured_together_share_their_companions(plan: Plan) -> None:
    wide = outlook.Prospect(WIDE, "throughput", 9.0, 5, 8, 0.0)
    base = outlook.Prospect(BASE, "energy", 6.0, 5, 6, 0.0)
    alone = outlook.together_s(plan, [wide], minutes(plan))
    assert alone == 3 * 3 * 60
    assert outlook.together_s(plan, [wide, base], minutes(plan)) == alone, "it is in those blocks"
    assert outlook.together_s(plan, [base], minutes(plan)) == 60
    assert outlook.together_s(plan, [], minutes(plan)) == 0


def test_a_cell_that_would_need_thousands_of_blocks_costs_no_more_to_tell(plan: Plan) -> None:
    wild = outlook.Prospect(WIDE, "throughput", 90.0, 5, 10**9, 0.0)
    late = outlook.Prospect(CALM, "throughput", 6.0, 7, 9, 0.0)
    assert outlook.together_s(plan, [wild, late], minutes(plan)) == (10**9 - 5) * 3 * 60


def test_no_further_block_where_every_cell_is_narrow(plan: Plan) -> None:
    calm = {name: Measured(1000, 10.0, 2500.0) for name in found(plan)}
    assert outlook.prospects(plan, calm, minutes(plan)) == []
    assert outlook.further_s(plan, calm, minutes(plan)) == 0


def test_scatter_is_told_by_whole_blocks_only() -> None:
    plan = synthetic.make_plan(CELLS, 4)
    rng = np.random.default_rng(1)
    drift = np.exp(rng.normal(0, 0.2, 4))
    trials = {
        planned.trial: Measured(
            1000 * drift[planned.block - 1] * np.exp(rng.normal(0, 0.01)), 10.0, 2500.0
        )
        for planned in plan.trials
    }
    scatter = dict(outlook.scatter(plan, trials))
    assert scatter["throughput"].buys_most == "block"
    assert scatter["throughput"].blocks == 4
    del trials[plan.trials[-1].trial]
    assert dict(outlook.scatter(plan, trials))["throughput"].blocks == 3
    assert dict(outlook.scatter(plan, {}))["throughput"].buys_most == "unknown"
