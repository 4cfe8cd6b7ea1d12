"""The analysis of a fast10 campaign: its cells, its comparisons, and how far to trust them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from fsgreen import confounds, paths, rules
from fsgreen.analysis.cells import cells_table, ended_from
from fsgreen.analysis.effects import Config, effects_table
from fsgreen.reduce import read_plan, read_table, write_table


def write(campaign: str) -> Path:
    """Write `cells.csv`, `effects.csv` and `trust.csv`; return their folder."""
    plan = read_plan(campaign)
    trials = read_table(campaign, "trials")
    cells = cells_table(trials, plan.bounds, least_n=ended_from(plan, trials))
    effects = effects_table(trials, comparisons(trials), plan.bounds)
    effects = confounds.Gate.of(campaign).flags(effects)
    write_table(cells, campaign, "cells")
    write_table(effects, campaign, "effects")
    rules.write(campaign)
    return paths.results(campaign)


def comparisons(trials: pd.DataFrame) -> Iterator[tuple[str, str, Config, Config]]:
    """Yield each option against its file system's default, and each pair of default systems."""
    unlimited = trials[trials["load_ops_s"].isna()]
    for workload, of_workload in unlimited.groupby("workload"):
        pairs = of_workload[["file_system", "option"]].drop_duplicates().itertuples(index=False)
        configs = sorted((Config(*pair) for pair in pairs), key=str)
        defaults = [config for config in configs if config.option == "default"]
        for config in configs:
            default = Config(config.file_system)
            if config != default and default in defaults:
                yield "option", str(workload), config, default
        for index, config in enumerate(defaults):
            for other in defaults[index + 1 :]:
                yield "file system", str(workload), config, other
