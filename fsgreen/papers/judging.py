"""Claims of a study put to the test, by what its room `claims` has for them.

That is `CHECKS` and `RECOMPUTED`, functions by their name in `claims.yaml` and by the slug of their
claim; `printed`, which returns the numbers of its paper; and `sources_of`, what its claims are
judged on. It may have `models_of`: what they are judged on that no campaign has.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fsgreen import papers, paths
from fsgreen.analysis.claims import Claims, Source
from fsgreen.analysis.claims.ledger import judge_claims, write_ledger
from fsgreen.claims import Part
from fsgreen.design import load_study
from fsgreen.reduce import read_identity, read_plan


def write(campaign: str) -> Path:
    """Write `claims.csv` (a row per claim) and `claim_parts.csv`; return their folder.

    Without claims they have no rows.
    """
    claims = claims_of(read_plan(campaign).study)
    ledger = parts_of(claims, sources_of(campaign, claims))
    identity = read_identity(campaign)
    testbed, boundary = str(identity["testbed"]["kind"]), str(identity["boundary"])
    write_ledger(campaign, claims, ledger, testbed, boundary)
    return paths.results(campaign)


def claims_of(study: str) -> Claims:
    """Return the claims of a study, and how each is tested."""
    if papers.has_room(study):
        load_study(study)  # claims name factors that the plan of a campaign need not have
    room = papers.room(study, "claims")
    return Claims.of(study, room.CHECKS, room.RECOMPUTED)


def sources_of(campaign: str, claims: Claims) -> dict[str, Source]:
    """Return what claims are judged on, by the kind of testbed that each is."""
    found: dict[str, Source] = papers.room(claims.study, "claims").sources_of(campaign, claims)
    return found


def parts_of(claims: Claims, sources: Mapping[str, Source]) -> dict[str, list[Part]]:
    """Return the parts of each claim, by its slug."""
    room = papers.room(claims.study, "claims")
    return judge_claims(claims, sources, room.CHECKS, room.RECOMPUTED, room.printed())
