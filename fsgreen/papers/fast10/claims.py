"""The ledger of the 99 claims of fast10: each with a verdict, or what a test would need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import paths
from fsgreen.analysis.cells import at_baseline
from fsgreen.analysis.ledger import declared, judge_claims, needed, on_testbed, write_ledger
from fsgreen.claims import Part
from fsgreen.confounds import Gate
from fsgreen.papers.fast10.measured import Bench, test
from fsgreen.papers.fast10.published import RECOMPUTED
from fsgreen.papers.fast10.reference import Printed
from fsgreen.reduce import read_identity, read_plan, read_table
from fsgreen.trial import Trial, list_trials

PAPER = "fast10"


def write(campaign: str) -> Path:
    """Write `claims.csv` (a row per claim) and `claim_parts.csv`; return their folder."""
    identity, plan = read_identity(campaign), read_plan(campaign)
    bench = Bench(
        at_baseline(read_table(campaign, "trials"), plan),
        at_baseline(read_table(campaign, "cells"), plan),
        plan.bounds,
        str(identity["boundary"]),
        declared(PAPER, "needs"),
        geometry_table(list_trials(paths.raw(campaign))),
        Gate.of(campaign),
    )
    testbed = str(identity["testbed"]["kind"])
    parts = judge_all(bench, testbed, Printed.load())
    write_ledger(campaign, PAPER, parts, testbed, bench.boundary)
    return paths.results(campaign)


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


def judge_all(bench: Bench, testbed: str, printed: Printed) -> dict[str, list[Part]]:
    """Return the parts of every claim, by slug: measured, or by the numbers that fast10 prints."""

    def measured(entry: Mapping[str, Any], claim: Mapping[str, Any]) -> list[Part]:
        texts = needed(entry, bench.needs)
        parts = test(entry, claim["numbers"], bench)
        return [on_testbed(part, claim, testbed, texts) for part in parts]

    def recompute(slug: str, numbers: Sequence[Mapping[str, Any]]) -> Iterable[Part]:
        return RECOMPUTED[slug](printed, numbers)

    return judge_claims(PAPER, bench.needs, measured, recompute)
