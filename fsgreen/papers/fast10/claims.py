"""The ledger of the 99 claims of fast10: each with a verdict, or what a test would need."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from fsgreen import paths
from fsgreen.analysis import claims
from fsgreen.analysis.cells import at_baseline
from fsgreen.papers.fast10.measured import CHECKS, Servers
from fsgreen.papers.fast10.published import RECOMPUTED
from fsgreen.papers.fast10.reference import Printed
from fsgreen.reduce import read_identity, read_plan, read_table
from fsgreen.trial import Trial, list_trials

PAPER = "fast10"


def write(campaign: str) -> Path:
    """Write `claims.csv` (a row per claim) and `claim_parts.csv`; return their folder."""
    of_paper = claims.Claims.of(PAPER, CHECKS, RECOMPUTED)
    source = Servers(
        **vars(claims.source_of(campaign, of_paper.needs)),
        cells=at_baseline(read_table(campaign, "cells"), read_plan(campaign)),
        geometry=geometry_table(list_trials(paths.raw(campaign))),
    )
    testbed = str(read_identity(campaign)["testbed"]["kind"])
    return claims.judge(campaign, of_paper, {testbed: source}, CHECKS, RECOMPUTED, Printed.load())


def geometry_table(records: Iterable[Trial]) -> pd.DataFrame:
    """Return a row per trial: file system, option, and what mkfs made, as it was read back."""
    return pd.DataFrame(
        [
            {
                "file_system": trial.record.cell["file_system"],
                "option": trial.record.cell["option"],
                **(trial.record.mount.get("geometry") or {}),
            }
            for trial in records
        ]
    )
