"""How options combine: effects and interactions in the factorial designs of a campaign."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fsgreen import figures, paths, stats
from fsgreen.analysis.effects import outcome
from fsgreen.design import Plan, imported
from fsgreen.design.columns import INTERACTIONS, PAIR
from fsgreen.design.combinations import factorials_of
from fsgreen.design.factorial import Factorial, Term, alias_text, options_on
from fsgreen.design.metrics import USUAL, Metric
from fsgreen.errors import unknown
from fsgreen.figures.interactions import interaction_panels
from fsgreen.reduce import at, factors_of, read_plan, read_table, simulated, write_table
from fsgreen.stats.interactions import Contrast, contrast, interaction_weights, pair


def write(campaign: str) -> Path:
    """Write `interactions.csv` of a campaign; return its file."""
    plan = read_plan(campaign)
    table = interactions_table(read_table(campaign, "trials"), plan)
    return write_table(table, campaign, "interactions")


def interactions_table(trials: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Return a row per metric, design and term: single options, pairs, further contrasts.

    `change_percent` of a single option is the mean change that it makes. That of a pair is the
    change of both together over the product of their single changes, and so on for longer terms. It
    belongs to the term and its `aliases` together.

    `first_percent`, `second_percent` and `together_percent` of a pair are changes from the run with
    neither option. `over_best_percent` is the change from the best run with at most one of them,
    which `best_alone` names. `n` counts the blocks that hold every run of the design.
    """
    rows = [
        row
        for default, design in factorials_of(plan.cells)
        for metric in USUAL
        for row in _rows(trials, plan.levels(default), design, metric, plan.bounds)
    ]
    # The contrasts of a design, by metric and place, are one family (rule 38).
    family = ["design", "metric", *_place(plan.levels(plan.baseline))]
    return pd.DataFrame(rows, columns=[*family, *INTERACTIONS])


def sentences(table: pd.DataFrame) -> list[str]:
    """Return a sentence for each pair of options on throughput, the clearest interaction first."""
    pairs = _pairs(table, "throughput").sort_values("difference_p", kind="stable")
    return [_sentence(row) for row in pairs.to_dict("records")]


def drawable(table: pd.DataFrame, workload: str, metric: str) -> dict[str, pd.DataFrame]:
    """Return the pairs of each design, for `figures.interactions`, by the name of their figure.

    An empty `workload` means all workloads. Without a design, there is one figure that says so.

    Raises FsgreenError if no design was measured under that workload, or the metric is not a usual
    one.
    """
    known = [usual.name for usual in USUAL]
    if metric not in known:
        raise unknown("metric", metric, known)
    pairs = _pairs(table, metric)
    if workload:
        if workload not in set(pairs["workload"]):
            raise unknown("workload with a factorial design", workload, pairs["workload"].unique())
        pairs = pairs[pairs["workload"] == workload]
    place = factors_of(pairs)
    designs = pairs.groupby(["design", *place], dropna=False, sort=False)
    return {
        "-".join([f"{nth:02}", *rows[place[:2]].iloc[0], metric]): rows
        for nth, (_, rows) in enumerate(designs, start=1)
    } or {f"none-{metric}": pairs}


def draw(campaign: str, workload: str = "", metric: str = "throughput") -> list[Path]:
    """Draw the figures of `drawable` in the folder `interactions` of a campaign; return the PNGs.

    Raises FsgreenError as `drawable` does.
    """
    boundary = "".join(read_table(campaign, "trials")["boundary"].unique())
    folder, label = paths.results(campaign) / "interactions", simulated(campaign)
    drawn = []
    for name, pairs in drawable(read_table(campaign, "interactions"), workload, metric).items():
        figure = figures.labelled(interaction_panels(pairs, boundary), label)
        drawn.append(figures.save(figure, folder, name)[1])
    return drawn


def advice(plan: Plan) -> str:
    """Return what a study must declare to measure how options combine, and how long that takes.

    The options of the example fit every image of 2.5 GiB or more. Imported runs have no study that
    could declare a design.
    """
    if plan.study == imported.NAME:
        return "No factorial design was imported, so nothing says how options combine."
    block_s = 8 * plan.profile.least_trial_s
    return (
        "This campaign has no factorial design, so it cannot say how options combine.\n"
        f"Add to the matrices of studies/{plan.study}.yaml, of a copy if the study ships\n"
        "(docs/studies.md), and name it in a profile:\n\n"
        "  xfs_factorial:\n"
        f"    workload: [{plan.baseline['workload']}]\n"
        "    file_system: [xfs]\n"
        "    factorial: {options: [noatime, blk2k, agcnt32, isz1k], fraction: IV}\n\n"
        f"These are 8 cells, at least {block_s / 60:.0f} min a block. With `fraction: full` it is "
        "16, and no pair is aliased."
    )


def _place(levels: Mapping[str, Any]) -> dict[str, Any]:
    """Return the levels of a cell without its option: what all runs of a design share."""
    return {name: level for name, level in levels.items() if name != "option"}


def _pairs(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the rows whose term is a pair of options."""
    return table[(table["metric"] == metric) & (table["term"].astype(str).str.count(":") == 1)]


def _rows(
    trials: pd.DataFrame,
    where: Mapping[str, Any],
    design: Factorial,
    metric: Metric,
    bounds: Mapping[str, float],
) -> Iterator[dict[str, Any]]:
    place = _place(where)
    logs = _logs(trials[at(trials, place)], design, metric)
    levels = [[option in run for option in design.options] for run in design.runs]
    bound = bounds.get("equivalence_percent", math.nan) / 100
    contrasts = {
        term: contrast(logs, interaction_weights(levels, _columns(design, term)), bound)
        for term in design.terms
    }
    adjusted = _adjusted(design, contrasts)
    for term, result in contrasts.items():
        different_p, equal_p = adjusted[term]
        yield {
            "design": "+".join(design.options),
            "metric": metric.name,
            **place,
            "term": ":".join(term),
            "aliases": alias_text(design, term),
            "clear": design.clear(term),
            "n": len(logs),
            "boundary": "".join(trials["boundary"].unique()),
            **_percent("change", result.ratio),
            "difference_p": result.difference_p,
            "difference_holm_p": different_p,
            "equivalence_p": result.equivalence_p,
            "equivalence_holm_p": equal_p,
            "bound_percent": 100 * bound,
            "outcome": outcome(len(logs), different_p, equal_p, bounds),
            **(_pair(logs, levels, design, term) if len(term) == 2 else {}),
        }


def _logs(trials: pd.DataFrame, design: Factorial, metric: Metric) -> np.ndarray:
    """Return the logarithms of rates, shape (blocks, runs), of the blocks that hold every run."""
    runs = {run: place for place, run in enumerate(design.runs)}
    above, below = metric.totals(trials)
    run = trials["option"].map(lambda option: runs.get(options_on(option)))
    known = trials.assign(run=run, above=above, below=below).dropna(subset=["run"])
    totals = known.groupby(["block", "run"])[["above", "below"]].sum()
    rates = (totals["above"] / totals["below"]).unstack("run").reindex(columns=range(len(runs)))
    return np.log(rates[(rates > 0).all(axis=1)].to_numpy(dtype=float))


def _adjusted(
    design: Factorial, contrasts: Mapping[Term, Contrast]
) -> dict[Term, tuple[float, float]]:
    """Return both p-values after Holm's correction. Aliases of each other count as one contrast."""
    leader: dict[Term, Term] = {}
    for term in contrasts:
        shared = [alias for _, alias in design.aliases(term) if alias in leader]
        leader[term] = leader[shared[0]] if shared else term
    family = list(dict.fromkeys(leader.values()))
    different = stats.holm([contrasts[term].difference_p for term in family])
    equal = stats.holm([contrasts[term].equivalence_p for term in family])
    p_values = dict(zip(family, zip(different, equal, strict=True), strict=True))
    return {term: p_values[first] for term, first in leader.items()}


def _pair(
    logs: np.ndarray, levels: list[list[bool]], design: Factorial, term: Term
) -> dict[str, Any]:
    estimates = pair(logs, levels, *_columns(design, term))
    return {
        **{
            column: value
            for name in PAIR
            for column, value in _percent(name, getattr(estimates, name)).items()
        },
        "best_alone": ("neither", *term)[estimates.best],
    }


def _columns(design: Factorial, term: Term) -> list[int]:
    return [design.options.index(option) for option in term]


def _percent(name: str, ratio: stats.Estimate) -> dict[str, float]:
    values = {"": ratio.value, "_low": ratio.low, "_high": ratio.high}
    return {f"{name}{part}_percent": 100 * (value - 1) for part, value in values.items()}


def _sentence(row: Mapping[str, Any]) -> str:
    where = f"{row['workload']} {row['file_system']}"
    first, second = row["term"].split(":")
    if math.isnan(row["together_percent"]):
        return f"{where}: {first} with {second} has not been measured in a whole block."
    text = (
        f"{where}: {first} with {second} {_signed(row['together_percent'])} where "
        f"{_signed(row['expected_percent'])} was expected ({_signed(row['first_percent'])} and "
        f"{_signed(row['second_percent'])} one at a time): {_reading(row)}"
    )
    if not row["clear"]:
        text += f" (not to be told from {row['aliases'].replace('; ', ', ')})"
    if not row["over_best_low_percent"] > 0:
        best = row["best_alone"]
        text += f"; not shown to be better than {best if best == 'neither' else best + ' alone'}"
    return text + "."


def _signed(percent: float) -> str:
    return f"{round(percent):+d} %"


def _reading(row: Mapping[str, Any]) -> str:
    if row["outcome"] == "different":
        return "less than expected" if row["change_percent"] < 0 else "more than expected"
    return "as expected" if row["outcome"] == "equivalent" else "inconclusive"
