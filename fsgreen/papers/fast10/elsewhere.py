"""Cells in another state than the one in which fast10's servers ran, as its claims have it."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from fsgreen.analysis.claims import Claims
from fsgreen.analysis.claims.kinds import levels_of
from fsgreen.analysis.claims.selectors import combinations
from fsgreen.analysis.claims.states import outside
from fsgreen.design import Cell
from fsgreen.papers.fast10.claims import CHECKS, RECOMPUTED
from fsgreen.papers.fast10.reference import KEY, PAPER

SIGN = "\N{DOUBLE DAGGER}"

Key = tuple[str, str, str]
"""Workload, file system and option."""

Elsewhere = Collection[Key]


def elsewhere(trials: pd.DataFrame) -> set[Key]:
    """Return the cells that are in another state than each claim about them asks for (rule 45).

    Their numbers say nothing of those that fast10 prints. A cell that no claim is about is held to
    the states of its workload.

    `trials` is the table `trials.csv`; those below a load are left out.
    """
    claims = Claims.of(PAPER, CHECKS, RECOMPUTED)
    of_claims = _asked(claims)
    of_workloads = {name for name, state in claims.states.items() if "workload" in state.of}
    apart = set()
    for key, of_cell in trials[trials["load_ops_s"].isna()].groupby(KEY):
        asked = [claims.states[name] for name in sorted(of_claims.get(key, of_workloads))]
        if outside(asked, [(Cell(**dict(zip(KEY, key, strict=True))), of_cell)]):
            apart.add(key)
    return apart


def _asked(claims: Claims) -> dict[Key, set[str]]:
    """Return the names of the states that all claims about a cell ask for."""
    asked: dict[Key, set[str]] = {}
    for entry in claims.entries.values():
        for _, _, selector in entry.selectors:
            states = {*entry.state, *selector.state}
            for levels in combinations(selector.for_each):
                for of in (*selector.of, *(getattr(selector, "against", None) or ())):
                    _, base, own = levels_of(of, claims.cells)
                    cell = Cell(**{**entry.where, **selector.where, **base, **levels, **own})
                    key = tuple(cell.get(name, "") for name in KEY)
                    asked[key] = asked.get(key, states) & states
    return asked
