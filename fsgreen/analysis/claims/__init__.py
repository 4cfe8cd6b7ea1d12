"""Claims put to the test: by selectors of cells, by checks of a paper's own, by printed numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fsgreen import paths
from fsgreen.analysis.cells import at_baseline
from fsgreen.analysis.claims.declared import Claims
from fsgreen.analysis.claims.ledger import Check, Recompute, judge_claims, write_ledger
from fsgreen.analysis.claims.source import Source
from fsgreen.analysis.comparisons import comparisons_of, treatments_of
from fsgreen.confounds import Gate
from fsgreen.reduce import read_identity, read_plan, read_study, read_table

__all__ = ["Claims", "Source", "judge", "source_of", "sources_of", "write"]


def write(campaign: str) -> Path:
    """Write `claims.csv` and `claim_parts.csv` of a study of one's own; return their folder.

    Without claims they have no rows.
    """
    claims = Claims.of(read_plan(campaign).study)
    return judge(campaign, claims, sources_of(campaign, claims))


def judge(
    campaign: str,
    claims: Claims,
    sources: Mapping[str, Source],
    checks: Mapping[str, Check] = {},
    recomputed: Mapping[str, Recompute] = {},
    printed: Any = None,
) -> Path:
    """Write the ledger of a campaign, by `ledger.judge_claims`; return its folder."""
    ledger = judge_claims(claims, sources, checks, recomputed, printed)
    boundary = str(read_identity(campaign)["boundary"])
    write_ledger(campaign, claims, ledger, _testbed(campaign), boundary)
    return paths.results(campaign)


def sources_of(campaign: str, claims: Claims) -> dict[str, Source]:
    """Return what claims of a study of one's own are judged on, by the kind of testbed."""
    return {_testbed(campaign): source_of(campaign, claims.needs)}


def source_of(campaign: str, needs: Mapping[str, str]) -> Source:
    """Return the trials of a campaign, in the state of its baseline, as claims are judged on."""
    plan = read_plan(campaign)
    study = read_study(campaign)
    treatments = treatments_of(study, comparisons_of(study, plan), plan)
    return Source(
        at_baseline(read_table(campaign, "trials"), plan, treatments),
        plan.bounds.get("equivalence_percent", math.nan) / 100,
        needs,
        str(read_identity(campaign)["boundary"]),
        Gate.of(campaign),
        treatments=treatments,
    )


def _testbed(campaign: str) -> str:
    return str(read_identity(campaign)["testbed"]["kind"])
