"""The ledger of the 27 claims of massie25: each with a verdict, or what a test would need."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fsgreen.analysis import claims
from fsgreen.analysis.claims import Source
from fsgreen.design import load_study
from fsgreen.papers.massie25.measured import CHECKS
from fsgreen.papers.massie25.published import RECOMPUTED
from fsgreen.papers.massie25.reference import PAPER, Printed
from fsgreen.reduce import read_table


def write(campaign: str) -> Path:
    """Write `claims.csv` (a row per claim) and `claim_parts.csv`; return their folder."""
    of_paper = claims_of(PAPER)
    sources = sources_of(campaign, of_paper)
    return claims.judge(campaign, of_paper, sources, CHECKS, RECOMPUTED, Printed.load())


def claims_of(study: str) -> claims.Claims:
    """Return the claims of the paper, and how each is tested.

    They name factors of fio and of RocksDB, of which the plan of a campaign may have one alone.
    """
    load_study(study)
    return claims.Claims.of(study, CHECKS, RECOMPUTED)


def sources_of(campaign: str, of_paper: claims.Claims) -> dict[str, Source]:
    """Return what claims are judged on, by the kind of testbed that it is.

    All trials: each claim names the pattern, the size and the number of its requests, or the mix
    and the threads of its database, in which it may differ from the study's baseline.
    """
    trials = read_table(campaign, "trials")
    found = claims.sources_of(campaign, of_paper)
    return {testbed: replace(source, trials=trials) for testbed, source in found.items()}
