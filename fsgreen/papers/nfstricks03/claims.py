"""The ledger of the 77 claims of nfstricks03: each with a verdict, or what a test would need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import paths, virtual
from fsgreen.analysis.ledger import (
    VIRTUAL,
    declared,
    judge_claims,
    needed,
    on_testbed,
    write_ledger,
)
from fsgreen.claims import Part
from fsgreen.confounds import Gate
from fsgreen.papers.nfstricks03.measured import test
from fsgreen.papers.nfstricks03.published import RECOMPUTED
from fsgreen.papers.nfstricks03.reader_claims import Bench
from fsgreen.papers.nfstricks03.readers import runs_of
from fsgreen.papers.nfstricks03.reference import Printed
from fsgreen.papers.nfstricks03.zones import Zones
from fsgreen.reduce import read_identity, read_plan, read_table

PAPER = "nfstricks03"


def write(campaign: str) -> Path:
    """Write `claims.csv` (a row per claim) and `claim_parts.csv`; return their folder."""
    identity = read_identity(campaign)
    testbed, boundary = str(identity["testbed"]["kind"]), str(identity["boundary"])
    trials, finishes = read_table(campaign, "trials"), read_table(campaign, "finishes")
    bound = read_plan(campaign).bounds["equivalence_percent"] / 100
    needs = declared(PAPER, "needs")
    zones = {name: Zones.of_file(text) for name, text in virtual.disk_files(campaign).items()}
    simulated, gate = virtual.read(campaign), Gate.of(campaign)
    waits = pd.DataFrame() if simulated is None else simulated.waits
    benches = {
        VIRTUAL if runs.virtual else testbed: Bench(runs, bound, needs, zones, waits=waits)
        if runs.virtual
        else Bench(runs, bound, needs, gate=gate)
        for runs in runs_of(campaign, trials, finishes)
    }
    parts = judge_all(benches, needs, Printed.load())
    write_ledger(campaign, PAPER, parts, testbed, boundary)
    return paths.results(campaign)


def judge_all(
    benches: Mapping[str, Bench], needs: Mapping[str, str], printed: Printed
) -> dict[str, list[Part]]:
    """Return the parts of every claim, by slug: by every bench, or by the printed numbers.

    Parameters
    ----------
    benches : mapping
        By the kind of testbed that each is.
    needs : mapping
        Texts for what a test would take, by name.
    printed : Printed
        The published numbers.
    """

    def tested(entry: Mapping[str, Any], claim: Mapping[str, Any]) -> list[Part]:
        texts = needed(entry, needs)
        places = {**claim, "testable_on": [*claim["testable_on"], *entry.get("on", ())]}
        return [
            on_testbed(part, places, testbed, texts)
            for testbed, bench in benches.items()
            for part in test(entry, claim["numbers"], bench)
        ]

    def recompute(slug: str, numbers: Sequence[Mapping[str, Any]]) -> Iterable[Part]:
        return RECOMPUTED[slug](printed, numbers)

    return judge_claims(PAPER, needs, tested, recompute)
