"""Comparison of two campaigns: what differs between them, and each cell that both have."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.analysis.claims.cells import spelled
from fsgreen.analysis.effects import outcome
from fsgreen.analysis.scatter import total, totals
from fsgreen.audit.pooling import differences as differences_of_machines
from fsgreen.design import Cell, Plan
from fsgreen.design.metrics import Metric
from fsgreen.reduce import factors_of

PLACE = ("kind", "disk", "model", "in_memory", "scheduler", "queue_depth", "read_ahead_b", "size_b")
"""Keys of a testbed's description: testbeds with other values are different testbeds."""

LENGTHS = ("idle_s", "warmup_s", "measure_s", "blocks", "most_blocks")

Differences = list[tuple[str, Any, Any]]
"""For each difference: its name, its value in the first campaign, its value in the second."""


def differences(
    plans: Sequence[Plan], identities: Sequence[Mapping[str, Any]], trials: Sequence[pd.DataFrame]
) -> Differences:
    """Return what differs between two campaigns: its name, and the value of each.

    Compared are the study, the profile, the scale of the work, the testbed, the machine, the
    boundary, and each factor that a campaign holds at one level. `identities` are their
    `campaign.json`, `trials` their `trials.csv`.
    """
    one, other = (dict(_told(*of)) for of in zip(plans, identities, trials, strict=True))
    names = dict.fromkeys([*one, *other])
    told = [(name, one.get(name, "-"), other.get(name, "-")) for name in names]
    machines = differences_of_machines([identity.get("audit", {}) for identity in identities])
    return [
        *(entry for entry in told if entry[1] != entry[2]),
        *((name, *values) for name, values in machines.items()),
    ]


def _told(
    plan: Plan, identity: Mapping[str, Any], trials: pd.DataFrame
) -> Iterator[tuple[str, Any]]:
    yield "study", plan.study
    yield "profile", plan.profile.name
    yield from ((name, getattr(plan.profile, name)) for name in LENGTHS)
    for workload, scale in plan.profile.scale.items():
        if workload in set(trials["workload"]):
            yield f"scale of {workload}", scale
    testbed = identity.get("testbed", {})
    yield from ((name, testbed[name]) for name in PLACE if name in testbed)
    yield "boundary", identity.get("boundary", "-")
    for name in factors_of(trials):
        levels = trials[name].dropna().unique()
        if len(levels) == 1 and name not in ("workload", "file_system", "option", *PLACE):
            yield name, levels[0]


def refusal(metric: Metric, identities: Sequence[Mapping[str, Any]]) -> str:
    """Return why two campaigns may not be compared in a metric; "" if they may (rule 19)."""
    if not metric.of_power:
        return ""
    boundaries = [str(identity.get("boundary", "unknown")) for identity in identities]
    if len({*boundaries}) > 1:
        return f"their meters see different things ({' and '.join(boundaries)}; rule 19)"
    sources = [
        {str(meter.get("source")) for meter in identity.get("meters", {}).values()}
        for identity in identities
    ]
    if boundaries[0] == "modelled" and sources[0] != sources[1]:
        return "their power is of different models, and the difference of models is no result"
    return ""


def other_work(identities: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of workloads that do different work in the two campaigns."""
    one, other = (identity.get("workloads") or {} for identity in identities)
    return sorted(name for name in one if name in other and one[name] != other[name])


def cells_beside(
    trials: Sequence[pd.DataFrame],
    metric: Metric,
    bounds: Mapping[str, float],
    leave_out: Sequence[str] = (),
) -> pd.DataFrame:
    """Return a row for each cell that both campaigns have: both values, and their ratio.

    Campaigns share no blocks, so the ratio is tested by Welch's t of logarithms
    (`stats.compare_unpaired`). Holm's correction adjusts the p-values over all cells. A cell that
    is inconsistent in one campaign has no mean to compare (rule 24). Workloads in `leave_out` are
    not compared. `bounds` are the plan's.

    The columns are `cell`, `one` and `other` (`stats.Estimate`), `ratio` (one over other),
    `steady`, `difference_p`, `equivalence_p` (before Holm) and `outcome`; no row without a common
    cell.
    """
    cells = [_by_cell(table, trials) for table in trials]
    rows = []
    for cell in cells[0]:
        if cell not in cells[1] or cell["workload"] in leave_out:
            continue
        both = [of[cell] for of in cells]
        samples = [totals(of, metric) for of in both]
        if not all(map(len, samples)):
            continue
        bound = bounds.get("equivalence_percent", math.nan) / 100
        compared = stats.compare_unpaired(samples[0], samples[1], bound)
        one, other = map(total, samples)
        rows.append(
            {
                "cell": spelled(cell),
                "one": one,
                "other": other,
                "ratio": compared.ratio,
                "steady": all(
                    stats.classify_cell(list(of["steady"])) != "inconsistent" for of in both
                ),
                "difference_p": compared.difference_p,
                "equivalence_p": compared.equivalence_p,
            }
        )
    table = pd.DataFrame(rows)
    if table.empty:
        return table
    adjusted = [stats.holm(list(table[f"{name}_p"])) for name in ("difference", "equivalence")]
    table["outcome"] = [
        outcome(min(row.one.n, row.other.n), different, equal, bounds)
        if row.steady
        else "inconsistent"
        for row, different, equal in zip(table.itertuples(), *adjusted, strict=True)
    ]
    return table


def _by_cell(table: pd.DataFrame, both: Sequence[pd.DataFrame]) -> dict[Cell, pd.DataFrame]:
    """Return the trials of each cell. A cell has the factors that one of the campaigns varies."""
    names = [
        name
        for name in factors_of(table)
        if name in ("workload", "file_system", "option", "load_ops_s")
        or any(of[name].nunique(dropna=False) > 1 for of in both if name in of)
    ]
    return {
        Cell(
            **{name: level for name, level in zip(names, levels, strict=True) if pd.notna(level)}
        ): of
        for levels, of in table.groupby(names, dropna=False, sort=True)
    }
