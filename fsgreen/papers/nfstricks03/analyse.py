"""The analysis of an nfstricks03 campaign: cells, comparisons, and how far to trust them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import confounds, paths, rules
from fsgreen.analysis.cells import cells_table, ended_from
from fsgreen.analysis.effects import effects_table
from fsgreen.papers.nfstricks03.readers import Setup
from fsgreen.reduce import read_plan, read_table, write_table

BASELINES: dict[str, dict[str, Any]] = {
    "partition": {"partition": 4},
    "queue depth": {"queue_depth": 1},
    "scheduler": {"scheduler": "elevator"},
}
"""Kinds of comparison: a factor, and the level that its others are compared with."""


def write(campaign: str) -> Path:
    """Write `cells.csv`, `effects.csv` and `trust.csv`; return their folder."""
    plan = read_plan(campaign)
    trials = read_table(campaign, "trials")
    effects = effects_table(trials, comparisons(trials), plan.bounds, Setup)
    effects = confounds.Gate.of(campaign).flags(effects)
    write_table(
        cells_table(trials, plan.bounds, least_n=ended_from(plan, trials)), campaign, "cells"
    )
    write_table(effects, campaign, "effects")
    rules.write(campaign)
    return paths.results(campaign)


def comparisons(trials: pd.DataFrame) -> Iterator[tuple[str, str, Setup, Setup]]:
    """Yield each setup against the one that differs from it in one factor of `BASELINES` alone."""
    for workload, of_workload in trials.groupby("workload"):
        levels = of_workload[list(Setup.__annotations__)].drop_duplicates()
        setups = sorted((Setup(*row) for row in levels.itertuples(index=False)), key=str)
        for setup in setups:
            for kind, level in BASELINES.items():
                baseline = replace(setup, **level)
                if baseline in setups and baseline != setup:
                    yield kind, str(workload), setup, baseline
