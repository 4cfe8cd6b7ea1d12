"""The ledger of the 77 claims of nfstricks03: each with a verdict, or what a test would need."""

from __future__ import annotations

from pathlib import Path

from fsgreen.analysis import claims
from fsgreen.analysis.claims.ledger import VIRTUAL
from fsgreen.confounds import Gate
from fsgreen.design import load_study
from fsgreen.papers.nfstricks03 import virtual
from fsgreen.papers.nfstricks03.measured import CHECKS
from fsgreen.papers.nfstricks03.published import RECOMPUTED
from fsgreen.papers.nfstricks03.reader_claims import Readers
from fsgreen.papers.nfstricks03.readers import runs_of
from fsgreen.papers.nfstricks03.reference import PAPER, Printed
from fsgreen.papers.nfstricks03.zones import Zones
from fsgreen.reduce import read_identity, read_plan, read_table


def write(campaign: str) -> Path:
    """Write `claims.csv` (a row per claim) and `claim_parts.csv`; return their folder."""
    of_paper = claims_of(PAPER)
    sources = sources_of(campaign, of_paper)
    return claims.judge(campaign, of_paper, sources, CHECKS, RECOMPUTED, Printed.load())


def claims_of(study: str) -> claims.Claims:
    """Return the claims of the paper, and how each is tested.

    They name factors of a server, which the plan of a campaign without one does not have.
    """
    load_study(study)
    return claims.Claims.of(study, CHECKS, RECOMPUTED)


def sources_of(campaign: str, of_paper: claims.Claims) -> dict[str, claims.Source]:
    """Return what claims are judged on, by the kind of testbed that each is."""
    testbed = str(read_identity(campaign)["testbed"]["kind"])
    trials, finishes = read_table(campaign, "trials"), read_table(campaign, "finishes")
    bound = read_plan(campaign).bounds["equivalence_percent"] / 100
    zones = {name: Zones.of_file(text) for name, text in virtual.disk_files(campaign).items()}
    simulated = virtual.read(campaign)
    beside = {} if simulated is None else simulated.beside
    return {
        VIRTUAL if runs.virtual else testbed: Readers.of(
            runs,
            bound,
            of_paper.needs,
            **({"zones": zones, **beside} if runs.virtual else {"gate": Gate.of(campaign)}),
        )
        for runs in runs_of(campaign, trials, finishes)
    }
