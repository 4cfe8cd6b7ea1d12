"""The ledger of the 71 claims of greenfs08: each with a verdict, or what a test would need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fsgreen.analysis import claims
from fsgreen.analysis.claims.ledger import VIRTUAL
from fsgreen.papers.greenfs08 import virtual
from fsgreen.papers.greenfs08.measured import CHECKS, Days
from fsgreen.papers.greenfs08.published import RECOMPUTED
from fsgreen.papers.greenfs08.reference import PAPER, Printed


def write(campaign: str) -> Path:
    """Write `claims.csv` (a row per claim) and `claim_parts.csv`; return their folder."""
    of_paper = claims_of(PAPER)
    sources = sources_of(campaign, of_paper)
    return claims.judge(campaign, of_paper, sources, CHECKS, RECOMPUTED, Printed.load())


def claims_of(study: str) -> claims.Claims:
    """Return the claims of the paper, and how each is tested."""
    return claims.Claims.of(study, CHECKS, RECOMPUTED)


def sources_of(campaign: str, of_paper: claims.Claims) -> dict[str, Any]:
    """Return what claims are judged on, by the kind of testbed that each is."""
    return {**claims.sources_of(campaign, of_paper), **models_of(of_paper)}


def models_of(of_paper: claims.Claims) -> dict[str, Any]:
    """Return what claims are judged on that no campaign has: days in virtual time, if there are."""
    simulated = virtual.read()
    return {} if simulated is None else {VIRTUAL: Days(simulated, Printed.load(), of_paper.needs)}
