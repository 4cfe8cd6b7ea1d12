"""Tests of claims: by selectors of cells, by a paper's own checks, by printed numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fsgreen.analysis.cells import at_baseline
from fsgreen.analysis.claims.declared import Claims
from fsgreen.analysis.claims.source import Source
from fsgreen.analysis.comparisons import comparisons_of, treatments_of
from fsgreen.confounds import Gate
from fsgreen.reduce import read_identity, read_plan, read_study, read_table

__all__ = ["Claims", "Source", "source_of", "sources_of", "testbed_of"]


def sources_of(campaign: str, claims: Claims) -> dict[str, Source]:
    """Return the source on which a study of one's own judges its claims, by its testbed's kind."""
    return {testbed_of(campaign): source_of(campaign, claims.needs)}


def source_of(campaign: str, needs: Mapping[str, str]) -> Source:
    """Return the source that judges claims: a campaign's trials in the state of its baseline.

    `needs` has the texts of needs by name.
    """
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


def testbed_of(campaign: str) -> str:
    """Return the kind of testbed that a campaign was measured on."""
    return str(read_identity(campaign)["testbed"]["kind"])
