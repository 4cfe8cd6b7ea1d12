"""Claims of a study put to the test, on a campaign or without, by its room `claims`.

It has `CHECKS` and `RECOMPUTED`, functions by their name in `claims.yaml` and by the slug of their
claim; `printed`, which returns the numbers of its paper; and `sources_of`, what its claims are
judged on. It may have `models_of`: what they are judged on that no campaign has.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from fsgreen import papers, paths
from fsgreen.analysis.claims import Claims, Source
from fsgreen.analysis.claims.ledger import VIRTUAL, judge_claims, parts_table, write_ledger
from fsgreen.analysis.claims.told import as_told, told
from fsgreen.claims import Part, own_file
from fsgreen.design import load_study
from fsgreen.reduce import read_identity, read_plan

NAME = "no campaign"
"""What stands for a campaign where there is none."""

PLACE = "from print, and in virtual time"


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
    if papers.has_room(study) or own_file(study).is_file():
        load_study(study)  # claims name factors that the plan of a campaign need not have
    room = papers.room(study, "claims")
    return Claims.of(study, room.CHECKS, room.RECOMPUTED)


def sources_of(campaign: str, claims: Claims) -> dict[str, Source]:
    """Return what claims are judged on, by the kind of testbed that each is."""
    sources: dict[str, Source] = papers.room(claims.study, "claims").sources_of(campaign, claims)
    return sources


def parts_of(claims: Claims, sources: Mapping[str, Source]) -> dict[str, list[Part]]:
    """Return the parts of each claim, by its slug."""
    room = papers.room(claims.study, "claims")
    return judge_claims(claims, sources, room.CHECKS, room.RECOMPUTED, room.printed())


def told_or_judged(study: str, *, own: bool) -> dict[str, pd.DataFrame]:
    """Return what the campaigns of a study say that were judged here, by `told`.

    Of a published study that none of the campaigns that ship is of, and none was measured here, it
    is what can be judged without: recomputed from print, and simulated in virtual time.
    """
    tables = told(study, own=own)
    if tables or paths.has_campaign(study) or not papers.has_room(study):
        return tables
    return {NAME: judged(study)}


def judged(study: str) -> pd.DataFrame:
    """Return the parts of a published study's claims that take no campaign, as `told` has them."""
    table = parts_table(parts_of_claims(study))
    return as_told(table, campaign=NAME, profile="", place=PLACE, testbed=VIRTUAL)


def parts_of_claims(study: str) -> dict[str, list[Part]]:
    """Return the parts of each claim of a published study, of which no trial was made."""
    claims = claims_of(study)
    models = getattr(papers.room(study, "claims"), "models_of", None)  # few studies have any
    return parts_of(claims, models(claims) if models else {})
