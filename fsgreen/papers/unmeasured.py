"""Claims of a study without a campaign: from print, and by models that need none."""

from __future__ import annotations

import pandas as pd

from fsgreen import papers, paths
from fsgreen.analysis.claims.ledger import VIRTUAL, parts_table
from fsgreen.analysis.claims.together import as_told, told
from fsgreen.claims import Part
from fsgreen.papers.judging import claims_of, parts_of

NAME = "no campaign"
"""What stands for a campaign where there is none."""

PLACE = "from print, and in virtual time"


def told_or_judged(study: str, *, own: bool) -> dict[str, pd.DataFrame]:
    """Return what the campaigns of a study say that were judged here, by `together.told`.

    Of a published study that none of the campaigns that ship is of, and none was measured here, it
    is what can be judged without: recomputed from print, and simulated in virtual time.
    """
    found = told(study, own=own)
    if found or paths.has_campaign(study) or not papers.has_room(study):
        return found
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
