"""The ledger of the 99 claims of fast10: each with a verdict, or what a test would need."""

from __future__ import annotations

from pathlib import Path

from fsgreen.analysis import claims
from fsgreen.analysis.cells import at_baseline
from fsgreen.papers.fast10.measured import CHECKS, Servers
from fsgreen.papers.fast10.published import RECOMPUTED
from fsgreen.papers.fast10.reference import Printed
from fsgreen.reduce import read_identity, read_plan, read_table

PAPER = "fast10"


def write(campaign: str) -> Path:
    """Write `claims.csv` (a row per claim) and `claim_parts.csv`; return their folder."""
    of_paper = claims_of(PAPER)
    sources = sources_of(campaign, of_paper)
    return claims.judge(campaign, of_paper, sources, CHECKS, RECOMPUTED, Printed.load())


def claims_of(study: str) -> claims.Claims:
    """Return the claims of the paper, and how each is tested."""
    return claims.Claims.of(study, CHECKS, RECOMPUTED)


def sources_of(campaign: str, of_paper: claims.Claims) -> dict[str, claims.Source]:
    """Return what claims are judged on, by the kind of testbed that it is."""
    source = Servers(
        **vars(claims.source_of(campaign, of_paper.needs)),
        cells=at_baseline(read_table(campaign, "cells"), read_plan(campaign)),
    )
    return {str(read_identity(campaign)["testbed"]["kind"]): source}
