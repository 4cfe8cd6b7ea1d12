"""The verdicts on the claims of a study, and what tests of those without one would take."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pandas as pd

from fsgreen import paths
from fsgreen.analysis.claims.together import claims_together, parts_together
from fsgreen.claims import missing, statements
from fsgreen.papers import unmeasured
from fsgreen.reduce import read_csv


@dataclass(frozen=True)
class Verdicts:
    """Rows of a ledger.

    Attributes
    ----------
    claims, parts : DataFrame
        As `claims.csv` and `parts.csv` of a ledger; a text is "" where there is none.
    campaigns : list of str
        Those that were judged.
    needs : dict of str
        What a test of a claim would take, by slug, where no campaign says it.
    """

    claims: pd.DataFrame
    parts: pd.DataFrame
    campaigns: list[str] = field(default_factory=list)
    needs: dict[str, str] = field(default_factory=dict)


def of_study(study: str) -> Verdicts:
    """Return what the ledger of a study says: by its campaigns, or without any.

    A study that has no ledger here is judged as one without a campaign.
    """
    folder = paths.ledger(study)
    if not (folder / "claims.csv").is_file():
        parts = parts_together({unmeasured.NAME: unmeasured.judged(study)})
        return _without_campaign(study, claims_together(parts, statements(study)), parts)
    claims, parts = (read_csv(folder / f"{name}.csv") for name in ("claims", "parts"))
    numbers = json.loads((folder / "numbers.json").read_text())
    if numbers["without_campaign"]:
        return _without_campaign(study, claims, parts)
    campaigns = [entry["campaign"] for entry in numbers["campaigns"]]
    return Verdicts(*_texts(claims, parts), campaigns)


def _without_campaign(study: str, claims: pd.DataFrame, parts: pd.DataFrame) -> Verdicts:
    needs = {slug: missing(of) for slug, of in unmeasured.parts_of_claims(study).items()}
    return Verdicts(*_texts(claims, parts), needs=needs)


def _texts(claims: pd.DataFrame, parts: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    return claims.fillna({"basis": ""}), parts.fillna({"published": "", "ours": ""})
