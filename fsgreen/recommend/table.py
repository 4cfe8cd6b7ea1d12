"""The ranking: every admitted configuration against what there is now, for one workload."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.errors import FsgreenError, unknown
from fsgreen.papers.cells import TOTALS, UNIT
from fsgreen.papers.effects import Config, Group, compared, groups_of, sample
from fsgreen.recommend.changes import change
from fsgreen.recommend.constraints import ANYTHING, Constraints
from fsgreen.recommend.planning import more_blocks
from fsgreen.recommend.verdicts import verdict, words

SHORT = {
    "web": "webserver",
    "file": "fileserver",
    "mail": "varmail",
    "database": "oltp",
    "db": "oltp",
}
"""Workloads as fast10 calls them in passing."""

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
    "model",
    "model_note",
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
        short = [name for name, meant in SHORT.items() if meant in known]
        raise unknown(
            "workload", name, [*known, *short], next_step="fsgreen recommend --workload ONE_OF_THEM"
        )
    return full


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
    constraints: Constraints = ANYTHING,
) -> pd.DataFrame:
    """Return a row per metric and configuration, best first, what there is now included.

    `verdict` is one of those of `verdicts.verdict`, `says` puts it in words. `beside_best` is the
    outcome against the first of the ranking, which may be the luckiest of many.

    Parameters
    ----------
    trials, cells : DataFrame
        The tables `trials.csv` and `cells.csv`, as `results.read` chooses from them.
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
    trials = trials[trials["workload"] == workload]
    groups = groups_of(trials)
    (group,) = groups
    effects = compared(
        groups, [("recommendation", workload, config, now) for config in admitted], bounds
    )
    of_cell = cells[cells["workload"] == workload].set_index(["file_system", "option"])
    rankings = {metric: _ranked(effects, metric, now) for metric in TOTALS}
    bests = {Config(ranked[0]["file_system"], ranked[0]["option"]) for ranked in rankings.values()}
    beside = {best: _beside(groups, workload, [now, *admitted], best, bounds) for best in bests}
    rows = []
    for metric, ranked in rankings.items():
        best = Config(ranked[0]["file_system"], ranked[0]["option"])
        for order, effect in enumerate(ranked, start=1):
            config = Config(effect["file_system"], effect["option"])
            step = change(now, config)
            cell = of_cell.loc[(config.file_system, config.option)]
            row = {
                **cell[[*ABSOLUTE, "boundary", "n"]],
                **effect,
                "workload": workload,
                "order": order,
                "change": step.kind,
                "how": step.how,
                "risk": step.risk,
                "beside_best": beside[best].get((metric, config), "best"),
                "bound_percent": bounds["equivalence_percent"],
            }
            steady = "inconsistent" not in (
                cell["state"],
                of_cell.loc[(now.file_system, now.option)]["state"],
            )
            row["verdict"] = verdict(row, steady, bounds)
            if row["verdict"] == "inconclusive":
                pair = [sample(trials, workload, each, metric) for each in (config, now)]
                row["more_blocks_count"] = more_blocks(
                    *pair,
                    scatter=group.models[metric].scatter(config, now),
                    bound=bounds["equivalence_percent"] / 100,
                    minimum=int(bounds["minimum_trials"]),
                    level=stats.LEVEL / len(admitted),
                )
            row["says"] = words(row)
            rows.append(row)
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.astype({"n": "Int64", "more_blocks_count": "Int64"})


def _ranked(effects: pd.DataFrame, metric: str, now: Config) -> list[dict[str, Any]]:
    """Return the effects on a metric and, at 1, what there is now: the largest ratio first."""
    same = dict.fromkeys(("ratio_x", "ratio_low_x", "ratio_high_x"), 1.0)
    basis = dict.fromkeys(("model", "model_note"), "")
    here = {"metric": metric, "file_system": now.file_system, "option": now.option, **same, **basis}
    rows = [here, *effects[effects["metric"] == metric].to_dict("records")]
    return sorted(rows, key=lambda row: (math.isnan(row["ratio_x"]), -row["ratio_x"]))


def _beside(
    groups: Sequence[Group],
    workload: str,
    configs: Iterable[Config],
    best: Config,
    bounds: Mapping[str, float],
) -> dict[tuple[str, Config], str]:
    pairs = [("beside the best", workload, config, best) for config in configs if config != best]
    effects = compared(groups, pairs, bounds)
    return {
        (row["metric"], Config(row["file_system"], row["option"])): row["outcome"]
        for row in effects.to_dict("records")
    }
