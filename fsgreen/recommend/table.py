"""The ranking: every admitted configuration against what there is now, for one workload."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from fsgreen.design import Plan
from fsgreen.errors import FsgreenError, unknown
from fsgreen.papers.cells import TOTALS, UNIT
from fsgreen.papers.effects import LEVEL, Config, effects_table, sample
from fsgreen.recommend.changes import change
from fsgreen.recommend.constraints import Constraints
from fsgreen.recommend.planning import MOST, more_blocks

FREE = ["workload", "file_system", "option", "load_ops_s"]
"""Factors that a recommendation is about; all others are held at the study's baseline."""

SHORT = {
    "web": "webserver",
    "file": "fileserver",
    "mail": "varmail",
    "database": "oltp",
    "db": "oltp",
}
"""Workloads as fast10 calls them in passing."""

WORTH = {"mount": "a change of mount options", "format": "a reformat", "file system": "a reformat"}

ABSOLUTE = [
    f"{metric}{end}_{unit}" for metric, unit in UNIT.items() for end in ("", "_low", "_high")
]

COLUMNS = [
    "workload",
    "metric",
    "order",
    "change",
    "file_system",
    "option",
    *ABSOLUTE,
    "boundary",
    "n",
    "ratio_x",
    "ratio_low_x",
    "ratio_high_x",
    "difference_p",
    "difference_holm_p",
    "equivalence_p",
    "equivalence_holm_p",
    "bound_percent",
    "verdict",
    "says",
    "more_blocks_count",
    "beside_best",
    "how",
    "risk",
]


def workload_named(name: str, known: Collection[str]) -> str:
    """Return the workload that is meant, `mail` for `varmail` among others.

    Raises
    ------
    FsgreenError
        If the campaign has none of that name.
    """
    full = name if name in known else SHORT.get(name, name)
    if full not in known:
        raise unknown("workload", name, known, next_step="fsgreen plan STUDY lists what is there")
    return full


def as_baseline(table: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Return the rows without a limit of load whose other factors are those of the baseline."""
    chosen = table["load_ops_s"].isna()
    for factor, level in plan.levels(plan.baseline).items():
        if factor not in FREE:
            chosen &= table[factor] == level
    return table[chosen]


def candidates(
    cells: pd.DataFrame, workload: str, now: Config, constraints: Constraints
) -> tuple[list[Config], dict[Config, str]]:
    """Return what may be changed to, and why the rest may not.

    Raises
    ------
    FsgreenError
        If what there is now was not measured, or is not what the constraints ask for.
    """
    rows = cells[cells["workload"] == workload][["file_system", "option"]].drop_duplicates()
    measured = sorted((Config(*row) for row in rows.itertuples(index=False)), key=str)
    if now not in measured:
        raise unknown(
            "configuration",
            now,
            map(str, measured),
            where=workload,
            next_step="compare with one that this campaign measured: --now FILE_SYSTEM/OPTION",
        )
    if constraints.no_reformat and constraints.file_system not in (None, now.file_system):
        raise FsgreenError(
            f"it is {now.file_system} now, and cannot be {constraints.file_system} "
            "without a reformat",
            next_step='leave out "no reformat", or the file system',
        )
    others = [config for config in measured if config != now]
    refused = {config: constraints.why_not(now, config) for config in others}
    admitted = [config for config, reason in refused.items() if reason is None]
    return admitted, {config: reason for config, reason in refused.items() if reason is not None}


def recommend(
    trials: pd.DataFrame,
    cells: pd.DataFrame,
    workload: str,
    bounds: Mapping[str, float],
    now: Config,
    constraints: Constraints = Constraints(),  # noqa: B008 (frozen)
) -> pd.DataFrame:
    """Return a row per metric and configuration, best first, what there is now included.

    `verdict` is one of gain, loss, level (a difference within the bound), no gain (at most the
    bound, by the interval), inconclusive, inconsistent (rule 24) and modelled (rule 19: such power
    decides nothing); `says` puts it in words. `beside_best` tells configurations that the first of
    the ranking is not told apart from.

    Parameters
    ----------
    trials, cells : DataFrame
        The tables `trials.csv` and `cells.csv`, as `as_baseline` leaves them.
    workload : str
        Its full name.
    bounds : mapping
        The plan's `equivalence_percent` and `minimum_trials`.
    now : Config
        What there is, and the effects are relative to.
    constraints : Constraints
        What a recommendation must keep to.

    Raises
    ------
    FsgreenError
        If `now` was not measured, or contradicts the constraints.
    """
    admitted, _ = candidates(cells, workload, now, constraints)
    against_now = effects_table(
        trials, [("recommendation", workload, config, now) for config in admitted], bounds
    )
    of_cell = cells[cells["workload"] == workload].set_index(["file_system", "option"])
    rankings = []
    for metric in TOTALS:
        effects = against_now[against_now["metric"] == metric]
        ranked = _ranked([_now_row(now, metric), *effects.to_dict("records")])
        beside = _beside_best(trials, workload, ranked, metric, bounds)
        for order, row in enumerate(ranked, start=1):
            config = Config(row["file_system"], row["option"])
            step = change(now, config)
            cell = of_cell.loc[(config.file_system, config.option)]
            row |= {
                **{name: cell[name] for name in [*ABSOLUTE, "boundary"]},
                "workload": workload,
                "order": order,
                "change": step.kind,
                "how": step.how,
                "risk": step.risk,
                "beside_best": beside[config],
                "bound_percent": bounds["equivalence_percent"],
            }
            if config == now:
                row["n"] = cell["n"]
            states = [cell["state"], of_cell.loc[(now.file_system, now.option)]["state"]]
            row["verdict"] = _verdict(row, states, bounds)
            row["more_blocks_count"] = None
            if row["verdict"] == "inconclusive":
                row["more_blocks_count"] = more_blocks(
                    sample(trials, workload, config, metric),
                    sample(trials, workload, now, metric),
                    bound=bounds["equivalence_percent"] / 100,
                    minimum=int(bounds["minimum_trials"]),
                    level=LEVEL / len(effects),
                )
            row["says"] = _says(row)
        rankings += ranked
    table = pd.DataFrame(rankings, columns=COLUMNS)
    return table.astype({"n": "Int64", "more_blocks_count": "Int64"})


def _now_row(now: Config, metric: str) -> dict[str, Any]:
    same = {"ratio_x": 1.0, "ratio_low_x": 1.0, "ratio_high_x": 1.0}
    return {"metric": metric, "file_system": now.file_system, "option": now.option, **same}


def _ranked(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    table = pd.DataFrame(rows).sort_values("ratio_x", ascending=False, kind="stable")
    return list(table.to_dict("records"))


def _beside_best(
    trials: pd.DataFrame,
    workload: str,
    ranked: list[dict[str, Any]],
    metric: str,
    bounds: Mapping[str, float],
) -> dict[Config, str]:
    best, *others = (Config(row["file_system"], row["option"]) for row in ranked)
    pairs = [("beside the best", workload, config, best) for config in others]
    effects = effects_table(trials, pairs, bounds)
    of_metric = effects[effects["metric"] == metric]
    outcomes = of_metric[["file_system", "option", "outcome"]].itertuples(index=False)
    return {best: "best"} | {Config(*config): outcome for *config, outcome in outcomes}


def _verdict(row: Mapping[str, Any], states: Collection[str], bounds: Mapping[str, float]) -> str:
    if row["change"] == "none":
        return "now"
    if row["metric"] == "efficiency" and row["boundary"] == "modelled":
        return "modelled"
    if "inconsistent" in states:
        return "inconsistent"
    low, high = 1 - row["bound_percent"] / 100, 1 / (1 - row["bound_percent"] / 100)
    inside = low <= row["ratio_low_x"] and row["ratio_high_x"] <= high
    if row["n"] >= bounds["minimum_trials"]:
        if inside or row["outcome"] == "equivalent":
            return "level"
        if row["outcome"] == "different":
            return "gain" if row["ratio_x"] > 1 else "loss"
        if row["ratio_high_x"] <= high:
            return "no gain"
    return "inconclusive"


def _says(row: Mapping[str, Any]) -> str:
    kind, verdict = row["change"], row["verdict"]
    if verdict == "now":
        return "what there is now"
    if verdict == "modelled":
        return "modelled power: decides nothing"
    if verdict == "inconsistent":
        return "inconsistent: no steady state"
    if verdict == "level":
        return f"no difference worth {WORTH[kind]}"
    if verdict == "no gain":
        return f"no gain worth {WORTH[kind]}"
    if verdict == "inconclusive":
        more = row["more_blocks_count"]
        many = f"more than {MOST} more blocks" if more is None else f"{more} more blocks"
        return f"inconclusive: {many} would tell"
    low, high = (100 * (row[name] - 1) for name in ("ratio_low_x", "ratio_high_x"))
    if verdict == "gain":
        return f"gain of {low:.3g} to {high:.3g} %"
    return f"loss of {-high:.3g} to {-low:.3g} %"
