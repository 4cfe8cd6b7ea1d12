"""The record of what ended each cell of a campaign, and trials as the stopping rule needs them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fsgreen import design
from fsgreen.design import Cell, Measured, Plan
from fsgreen.trace import sum_energies
from fsgreen.trial import Trial, efficiency_meters, energies_of


def measured(trial: Trial, plan: Plan) -> Measured:
    """Return work and time of a whole trial, and its energy by the meters of the efficiency."""
    record, energy = trial.record, energies_of(trial)
    over = record.efficiency_meters or efficiency_meters(
        plan.efficiency,
        {name: of_meter.boundary for name, of_meter in energy.items()},
        trial.folder,
    )
    return Measured(
        work_ops=record.work.work_ops,
        duration_s=trial.record.measured_s,
        energy_j=sum_energies([energy[name] for name in over]).energy_j,
    )


def record(plan: Plan, trials: design.Trials) -> dict[str, Any]:
    """Return the content of `stopping.json`: each decision, and what ended each cell.

    It depends only on the plan and the trials. `ended` is None for a cell that continues.
    """
    return {
        "schema": 1,
        "plan_hash": plan.hash,
        "target_percent": plan.bounds["ci_half_width_percent"],
        "least_blocks": plan.profile.blocks,
        "most_blocks": plan.profile.last_block,
        "blocks": [
            {
                "block": decision.block,
                "open": _labels(decision.open),
                "beside": _labels(decision.compared),
            }
            for decision in design.decide(plan, trials)
        ],
        "cells": [
            {
                "cell": progress.cell.label,
                "n": progress.n,
                **{
                    f"{metric}_half_width_percent": width if math.isfinite(width) else None
                    for metric, width in progress.half_width_percent.items()
                },
                "ended": progress.ended,
            }
            for progress in design.progress_of_cells(plan, trials)
        ],
    }


def _labels(cells: Sequence[Cell]) -> list[str]:
    return [cell.label for cell in cells]
