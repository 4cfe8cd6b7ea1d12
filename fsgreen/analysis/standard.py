"""The standard analysis of a campaign: its cells, its comparisons, and the rules they meet."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from fsgreen import confounds, paths, rules
from fsgreen.analysis.cells import cells_table, ended_from
from fsgreen.analysis.comparisons import comparisons_of, pairs_of, treatments_of
from fsgreen.analysis.discarded import beside
from fsgreen.analysis.effects import effects_table
from fsgreen.design import metrics
from fsgreen.reduce import discarded_trials, read_plan, read_study, read_table, write_table


def write(campaign: str) -> Path:
    """Write `cells.csv`, `effects.csv` and `trust.csv`; return their folder."""
    plan = read_plan(campaign)
    study, trials = read_study(campaign), read_table(campaign, "trials")
    comparisons = comparisons_of(study, plan)
    treatments = treatments_of(study, comparisons, plan)
    pairs = list(pairs_of(trials, comparisons, treatments))
    chosen = [metrics.get(name) for name in study.metrics]

    def compare(measured: pd.DataFrame) -> pd.DataFrame:
        return effects_table(measured, pairs, plan.bounds, treatments, chosen)

    compared = beside(compare(trials), trials, discarded_trials(campaign), compare)
    effects = confounds.Gate.of(campaign).flags(compared)
    cells = cells_table(
        trials, plan.bounds, (*metrics.USUAL, *chosen), least_n=ended_from(plan, trials)
    )
    write_table(cells, campaign, "cells")
    write_table(effects, campaign, "effects")
    rules.write(campaign)
    return paths.results(campaign)
