"""The verdicts on the claims of a study, and what tests of those without one would take."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pandas as pd

from fsgreen import paths
from fsgreen.claims import missing
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
    """Return what the ledger of a study says: by its campaigns, or without any."""
    folder = paths.ledger(study)
    claims, parts = (read_csv(folder / f"{name}.csv") for name in ("claims", "parts"))
    claims, parts = claims.fillna({"basis": ""}), parts.fillna({"published": "", "ours": ""})
    numbers = json.loads((folder / "numbers.json").read_text())
    if numbers["without_campaign"]:
        needs = {slug: missing(of) for slug, of in unmeasured.parts_of_claims(study).items()}
        return Verdicts(claims, parts, needs=needs)
    return Verdicts(claims, parts, [entry["campaign"] for entry in numbers["campaigns"]])
