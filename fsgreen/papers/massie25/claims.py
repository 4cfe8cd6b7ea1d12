"""The ledger of the 27 claims of massie25: each with a verdict, or what a test would need."""

from __future__ import annotations

from pathlib import Path

from fsgreen.analysis import claims
from fsgreen.papers.massie25.measured import CHECKS
from fsgreen.papers.massie25.published import RECOMPUTED
from fsgreen.papers.massie25.reference import PAPER, Printed
from fsgreen.reduce import read_identity


def write(campaign: str) -> Path:
    """Write `claims.csv` (a row per claim) and `claim_parts.csv`; return their folder."""
    of_paper = claims.Claims.of(PAPER, CHECKS, RECOMPUTED)
    testbed = str(read_identity(campaign)["testbed"]["kind"])
    sources = {testbed: claims.source_of(campaign, of_paper.needs)}
    return claims.judge(campaign, of_paper, sources, CHECKS, RECOMPUTED, Printed.load())
