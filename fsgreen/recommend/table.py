"""The ranking: every admitted configuration relative to the present one, for one workload."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd

from fsgreen import confounds, stats
from fsgreen.analysis import configuration
from fsgreen.analysis.effects import compared
from fsgreen.analysis.scatter import TREATMENTS, Group, groups_of, sample
from fsgreen.design import Cell, columns, metrics
from fsgreen.design.metrics import USUAL
from fsgreen.errors import FsgreenError, unknown
from fsgreen.recommend.changes import change
from fsgreen.recommend.constraints import ANYTHING, Constraints
from fsgreen.recommend.planning import more_blocks
from fsgreen.recommend.verdicts import UNSTEADY, verdict, words

SHORT = {
    "web": "webserver",
    "file": "fileserver",
    "mail": "varmail",
    "database": "oltp",
    "db": "oltp",
}
"""Short names of workloads in the text of fast10."""

ABSOLUTE = [
    column for metric in USUAL for column in (metric.column, metric.end("low"), metric.end("high"))
]

NAMES = tuple(metric.name for metric in USUAL)
"""The metrics by which configurations are ranked."""

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
    "state",
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
    *columns.GATE,
    "verdict",
    "says",
    "more_blocks_count",
    "beside_best",
    "how",
    "risk",
]

OPTION = "option"
"""The kind of comparison for the gate: a configuration counts as an option of any file system."""


def workload_named(
    name: str, known: Collection[str], apart: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return the full name of a workload, given a full or a short name (`mail` for `varmail`).

    `known` are the workloads that were measured in the state of the baseline, and `apart` those
    that were measured only in other states, with these states in words. Raises FsgreenError if the
    campaign does not have the workload, or only in other states.
    """
    full = name if name in {*known, *apart} else SHORT.get(name, name)
    if full in apart:
        raise FsgreenError(
            f"{full} was not measured in the state of the study's baseline, which a ranking "
            f"needs, but with {apart[full]}",
            where=f"measured like the baseline: {', '.join(sorted(known)) or 'none'}",
            next_step="for its results, and the report: fsgreen outcome CAMPAIGN",
        )
    if full not in known:
        short = [name for name, meant in SHORT.items() if meant in known]
        raise unknown(
            "workload", name, [*known, *short], next_step="fsgreen recommend --workload ONE_OF_THEM"
        )
    return full


def candidates(
    cells: pd.DataFrame, workload: str, now: Cell, constraints: Constraints
) -> tuple[list[Cell], dict[Cell, str]]:
    """Return the admitted configurations, and why each of the others is refused.

    Raises FsgreenError if the present configuration was not measured, or if the constraints exclude
    every change to the file system that they name.
    """
    rows = cells[cells["workload"] == workload][["file_system", "option"]].drop_duplicates()
    measured = sorted((Cell(**row) for row in rows.to_dict("records")), key=configuration.label)
    if now not in measured:
        raise unknown(
            "configuration",
            configuration.label(now),
            map(configuration.label, measured),
            where=workload,
            next_step="compare with one that this campaign measured: --now FILE_SYSTEM/OPTION",
        )
    wanted = [config for config in measured if config["file_system"] == constraints.file_system]
    if constraints.no_reformat and wanted and all(change(now, to).reformats for to in wanted):
        raise FsgreenError(
            f"the file system now is {now['file_system']}; it cannot be {constraints.file_system} "
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
    gate: confounds.Gate,
    now: Cell,
    constraints: Constraints = ANYTHING,
) -> pd.DataFrame:
    """Return a row per metric and configuration, best first, including the present one.

    `verdict` is that of `verdicts.verdict`, and `says` has it in words. `beside_best` is the
    outcome of the comparison with the first of the ranking, which may be the luckiest of many. It
    is "endangered" if the difference may be the effect of a confound. A configuration without a
    steady state has no `order`, and comes last.

    `trials` and `cells` are the tables of a `results.Source`, and the workload has its full name.
    `bounds` are the plan's `equivalence_percent` and `minimum_trials`, and `gate` is that of the
    campaign. `now` is the present configuration, which effects are relative to. A recommendation
    must meet the constraints. Returned are the columns `COLUMNS`. Raises FsgreenError if `now` was
    not measured, or contradicts the constraints.
    """
    admitted, _ = candidates(cells, workload, now, constraints)
    trials = trials[trials["workload"] == workload]
    groups = groups_of(trials)
    (group,) = groups
    pairs = [(OPTION, workload, config, now) for config in admitted]
    effects = gate.flags(compared(groups, pairs, bounds))
    of_cell = cells[cells["workload"] == workload].set_index(["file_system", "option"])
    rankings = {metric: _ranked(effects, of_cell, metric, now) for metric in NAMES}
    bests = {metric: _best(ranked) for metric, ranked in rankings.items()}
    beside = {
        best: _beside(groups, gate, workload, [now, *admitted], best, bounds)
        for best in set(bests.values())
    }
    rows = []
    for metric, ranked in rankings.items():
        best = bests[metric]
        steady = _state(of_cell, now, metric) != UNSTEADY
        for order, effect in enumerate(ranked, start=1):
            config = _config(effect)
            step = change(now, config)
            row = {
                **of_cell.loc[tuple(config.values())][[*ABSOLUTE, "boundary", "n"]],
                **effect,
                "workload": workload,
                "order": order if effect["state"] != UNSTEADY else None,
                "change": step.kind,
                "how": step.how,
                "risk": step.risk,
                "beside_best": "best" if config == best else beside[best].get((metric, config), ""),
                "bound_percent": bounds["equivalence_percent"],
            }
            row["verdict"] = verdict(row, steady and effect["state"] != UNSTEADY, bounds)
            if row["verdict"] == "inconclusive":
                pair = [sample(trials, workload, each, metric) for each in (config, now)]
                row["more_blocks_count"] = more_blocks(
                    *pair,
                    scatter=group.scatter(metrics.get(metric), config, now),
                    bound=bounds["equivalence_percent"] / 100,
                    minimum=int(bounds["minimum_trials"]),
                    level=stats.LEVEL / len(admitted),
                )
            row["says"] = words(row)
            rows.append(row)
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.astype({"n": "Int64", "order": "Int64", "more_blocks_count": "Int64"})


def _ranked(
    effects: pd.DataFrame, of_cell: pd.DataFrame, metric: str, now: Cell
) -> list[dict[str, Any]]:
    """Return the effects on a metric, and the present configuration at 1, largest ratio first.

    Configurations without a steady state, and those without a ratio, come last.
    """
    same = dict.fromkeys(("ratio_x", "ratio_low_x", "ratio_high_x"), 1.0)
    basis = dict.fromkeys(("model", "model_note", "gate", "confound", "gate_reason"), "")
    here = {"metric": metric, **now, **same, **basis}
    rows = [here, *effects[effects["metric"] == metric].to_dict("records")]
    rows = [{**row, "state": _state(of_cell, _config(row), metric)} for row in rows]
    return sorted(
        rows,
        key=lambda row: (row["state"] == UNSTEADY, math.isnan(row["ratio_x"]), -row["ratio_x"]),
    )


def _config(row: Mapping[str, Any]) -> Cell:
    return Cell(**{name: row[name] for name in TREATMENTS})


def _state(of_cell: pd.DataFrame, config: Cell, metric: str) -> str:
    """Return the state of a cell's trials (rule 23); for a metric of energy, of power, too."""
    cell = of_cell.loc[tuple(config.values())]
    states = [cell["state"], cell.get("power_state") if metrics.get(metric).of_power else None]
    return UNSTEADY if UNSTEADY in states else str(cell["state"])


def _best(ranked: Sequence[Mapping[str, Any]]) -> Cell | None:
    """Return the first of a ranking; None if no configuration has a steady state."""
    return _config(ranked[0]) if ranked[0]["state"] != UNSTEADY else None


def _beside(
    groups: Sequence[Group],
    gate: confounds.Gate,
    workload: str,
    configs: Iterable[Cell],
    best: Cell | None,
    bounds: Mapping[str, float],
) -> dict[tuple[str, Cell], str]:
    """Return the outcomes relative to the best, by metric and configuration; empty without one."""
    pairs = [(OPTION, workload, config, best) for config in configs if best not in (None, config)]
    effects = gate.flags(compared(groups, pairs, bounds))
    return {
        (row["metric"], _config(row)): "endangered"
        if row["outcome"] == "different" and row["gate"] != "passed"
        else row["outcome"]
        for row in effects.to_dict("records")
    }
