"""The ledger of the 52 claims of sun14: each with a verdict, or what a test would need."""

from __future__ import annotations

from pathlib import Path

from fsgreen.analysis import claims
from fsgreen.analysis.claims import Source
from fsgreen.claims import Part
from fsgreen.papers.sun14.measured import CHECKS
from fsgreen.papers.sun14.published import RECOMPUTED
from fsgreen.papers.sun14.reference import PAPER, Printed
from fsgreen.reduce import read_identity

SIMULATED = "simdisk"


class OfSimulatedDrive(Source):
    """Trials on a simulated SSD, whose energy is of the same model as its speed.

    What is said of its power is as much simulated as what is said of its work, and says so. Rule 19
    is about power that is guessed from how busy a machine is.
    """

    def about_power(self, part: Part) -> Part:
        """Return the part as it is."""
        return part


def write(campaign: str) -> Path:
    """Write `claims.csv` (a row per claim) and `claim_parts.csv`; return their folder."""
    of_paper = claims_of(PAPER)
    sources = sources_of(campaign, of_paper)
    return claims.judge(campaign, of_paper, sources, CHECKS, RECOMPUTED, Printed.load())


def claims_of(study: str) -> claims.Claims:
    """Return the claims of the paper, and how each is tested."""
    return claims.Claims.of(study, CHECKS, RECOMPUTED)


def sources_of(campaign: str, of_paper: claims.Claims) -> dict[str, Source]:
    """Return what claims are judged on, by the kind of testbed that it is."""
    testbed = str(read_identity(campaign)["testbed"]["kind"])
    source = claims.source_of(campaign, of_paper.needs)
    if testbed == SIMULATED:
        source = OfSimulatedDrive(**vars(source))
    return {testbed: source}
