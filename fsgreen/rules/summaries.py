"""Rules 29 to 34: do the numbers of a cell come from all of its trials?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fsgreen import stats
from fsgreen.design import metrics
from fsgreen.reduce import factors_of
from fsgreen.rules.answer import (
    SAME,
    Answer,
    Judge,
    fired,
    named_trials,
    not_asked,
    quiet,
    set_aside,
    unknown,
)
from fsgreen.rules.deciding import begun_anew, measured_late
from fsgreen.rules.evidence import Evidence
from fsgreen.rules.far import far_by_metric, far_trials
from fsgreen.words import listed

VARIATION = ("cv_percent", "range_percent", "throughput_p5_ops_s", "throughput_p95_ops_s")


def totals_over_totals(evidence: Evidence) -> Answer:
    """Rule 29: the rates of each cell are ratios of totals, and its energy is a mean."""
    of_cell = factors_of(evidence.trials)
    groups = evidence.trials.groupby(of_cell, dropna=False)
    totals = groups[["work_ops", "duration_s", "energy_j"]].sum()
    again = pd.DataFrame(
        {
            "throughput_ops_s": totals["work_ops"] / totals["duration_s"],
            "efficiency_ops_j": totals["work_ops"] / totals["energy_j"],
            "energy_j": totals["energy_j"] / groups.size(),
        }
    )
    both = evidence.cells.merge(again.reset_index(), on=of_cell, suffixes=("", "_again"))
    if len(both) < len(evidence.cells):
        return fired("cells.csv has cells that no trial is of")
    wrong = both[
        np.logical_or.reduce(
            [(both[name] / both[f"{name}_again"] - 1).abs() > SAME for name in again.columns]
        )
    ]
    if len(wrong):
        return fired(f"{len(wrong)} of {len(both)} cells differ: {listed(evidence.labels(wrong))}")
    return quiet(f"throughput, ops/J and energy of {len(both)} cells computed again: the same")


def absolute_values(evidence: Evidence) -> Answer:
    """Rule 30: `cells.csv` has the absolute values of both cells of each ratio."""
    effects = evidence.effects
    if effects.empty:
        return not_asked("no ratio is formed: nothing is compared")
    metric = {name: metrics.get(name).column for name in effects["metric"].unique()}
    named = factors_of(effects)
    known = {
        _side(name, [cell[factor] for factor in named])
        for cell in evidence.cells.to_dict("records")
        for name, column in metric.items()
        if pd.isna(cell["load_ops_s"]) and pd.notna(cell[column])
    }
    sides = {
        _side(pair["metric"], [pair.get(f"{side}{factor}", pair[factor]) for factor in named])
        for pair in effects.to_dict("records")
        for side in ("", "baseline_")
    }
    if bare := sorted(sides - known):
        return fired(f"{len(bare)} sides of ratios have no absolute value: {listed(bare)}")
    return quiet(f"both sides of {len(evidence.effects)} ratios are in cells.csv, with their unit")


def mean_and_median(evidence: Evidence) -> Answer:
    """Rule 31: each mean has a median beside it, and the trials of no cell look non-normal.

    The test is that of Shapiro and Wilk.
    """
    cells = evidence.cells
    centres = cells[["mean_throughput_ops_s", "median_throughput_ops_s"]]
    tested = cells[cells["normality_p"].notna()]
    if centres.isna().any(axis=None):
        return fired("a mean has no median beside it")
    if tested.empty:
        return unknown("it takes three trials of a cell that differ to test for normality")
    ranked = int(cells["median_throughput_low_ops_s"].notna().sum())
    beside = f"{ranked} of {len(cells)} cells have enough trials for a rank interval"
    skewed = tested[tested["normality_p"] < stats.LEVEL]
    if len(skewed):
        return fired(
            f"{len(skewed)} of {len(tested)} cells do not look normal, where chance alone makes "
            f"{stats.LEVEL * len(tested):.0f}: {listed(evidence.labels(skewed))}; {beside}"
        )
    return quiet(f"all {len(tested)} cells that can be tested look normal; {beside}")


def nothing_deleted(evidence: Evidence) -> Answer:
    """Rule 32: every whole trial is in `trials.csv`, and each that does not count has a reason.

    Trials far from the median of their cell are named, in each metric that is compared. They count.
    """
    kept = {record.trial for record in evidence.records}
    if dropped := sorted(kept ^ set(evidence.trials["trial"])):
        return fired(f"on disk only, or in trials.csv only: {listed(dropped)}")
    if silent := [record.trial for record in evidence.invalid if not record.reason]:
        return fired(f"set aside without a reason: {listed(silent)}")
    if late := measured_late(evidence):
        return fired(
            "measured after a later block, and what may have stood there before is not kept: "
            f"{named_trials(late)}"
        )
    aside = set_aside(evidence)
    if evidence.discarded:
        aside += f"; {len(evidence.discarded)} set aside after a look, and kept (rule 48)"
    aside += begun_anew(evidence)
    far = far_trials(evidence.trials, evidence.trials["throughput_ops_s"])
    named = f" ({listed(far)})" if len(far) else ""
    return quiet(
        f"all {len(kept)} trials count, {len(far)} of them far from their cell's median{named}"
        f"{aside}{far_by_metric(evidence)}"
    )


def tails_and_modes(evidence: Evidence) -> Answer:
    """Rule 33: no cell scatters widely (fast10's dagger), has a long tail, or several modes."""
    cells = evidence.cells
    if cells["cv_percent"].isna().all():
        return unknown("no cell has two trials, so that none scatters yet")
    wide = cells["cv_percent"] > stats.WIDE_PERCENT
    largest = f"CV up to {cells['cv_percent'].max():.0f} %"
    if wide.any():
        labels = listed(evidence.labels(cells[wide]))
        return fired(f"{largest}: {int(wide.sum())} cells above {stats.WIDE_PERCENT} %, {labels}")
    if "shape" not in cells:
        return unknown(f"{largest}; whether cells have long tails or two modes was not tested")
    counts = ", ".join(f"{n} {shape}" for shape, n in cells["shape"].value_counts().items())
    odd = cells[cells["shape"].isin(stats.NOT_NORMAL)]
    if len(odd):
        return fired(f"{largest}; {counts}: {listed(evidence.labels(odd))}")
    if (cells["shape"] == stats.TOO_FEW).any():
        return unknown(f"{largest}; trials of {counts}")
    return quiet(f"{largest}; the shape of all {len(cells)} cells is unremarkable")


def variation_is_a_result(evidence: Evidence) -> Answer:
    """Rule 34: each cell has a CV, a range and percentiles, which need two trials."""
    cells = evidence.cells
    bare = cells[cells[list(VARIATION)].isna().any(axis="columns")]
    if len(bare):
        return fired(
            f"{len(bare)} of {len(cells)} cells have none: {listed(evidence.labels(bare))}"
        )
    widest = cells.loc[[cells["range_percent"].idxmax()]]
    return quiet(
        f"CV up to {cells['cv_percent'].max():.0f} %; the widest range is "
        f"{widest['range_percent'].item():.0f} % of the mean, {listed(evidence.labels(widest))}"
    )


def _side(metric: str, levels: Sequence[Any]) -> str:
    """Return one side of a ratio as text: the metric, and the levels of the cell."""
    has = (level for level in levels if pd.notna(level))
    return " ".join([metric, *(x if isinstance(x, str) else f"{x:g}" for x in has)])


JUDGES: Mapping[int, Judge] = {
    29: totals_over_totals,
    30: absolute_values,
    31: mean_and_median,
    32: nothing_deleted,
    33: tails_and_modes,
    34: variation_is_a_result,
}
