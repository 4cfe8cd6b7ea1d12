"""The verdicts on the claims of a study: by its campaigns, or by its printed numbers alone."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from fsgreen import papers, paths
from fsgreen.analysis.claims.ledger import judge_claims
from fsgreen.analysis.claims.together import claims_together
from fsgreen.claims import load_claims, missing, shown, statements
from fsgreen.reduce import read_csv

COLUMNS = ("slug", "part", "kind", "verdict", "published", "ours", "campaigns_count")


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


def of_trials(study: str) -> Verdicts:
    """Return the ledger of a study whose campaigns were judged."""
    folder = paths.ledger(study)
    claims, parts = (read_csv(folder / f"{name}.csv") for name in ("claims", "parts"))
    numbers = json.loads((folder / "numbers.json").read_text())
    campaigns = [entry["campaign"] for entry in numbers["campaigns"]]
    texts = {"published": "", "ours": ""}
    return Verdicts(claims.fillna({"basis": ""}), parts.fillna(texts), campaigns)


def of_print(study: str) -> Verdicts:
    """Return what the printed numbers of a paper decide by themselves."""
    stated = statements(study)
    rows: list[dict[str, Any]] = []
    needs = {}
    for slug, parts in _recomputed(study).items():
        needs[slug] = missing(parts)
        for part in parts:
            if part.basis is not None:
                values = (slug, part.what, part.basis, part.verdict, part.published, shown(part), 0)
                rows.append(dict(zip(COLUMNS, values, strict=True)))
    parts_table = pd.DataFrame(rows, columns=list(COLUMNS))
    unbuilt = {} if papers.has_room(study) else _testbeds(study)
    return Verdicts(claims_together(parts_table, stated), parts_table, needs={**needs, **unbuilt})


def _recomputed(study: str) -> dict[str, list[Any]]:
    """Return the parts of every claim that need no trial."""
    if not papers.has_room(study):
        return {}
    claims = papers.room(study, "claims").claims_of(study)
    recomputed = papers.room(study, "published").RECOMPUTED
    printed = papers.room(study, "reference").Printed.load()
    return judge_claims(claims, {}, {}, recomputed, printed)


def _testbeds(study: str) -> dict[str, str]:
    """Return on what the claims of a paper could be tested that nothing here tests."""
    return {
        slug: f"an evaluation, on: {', '.join(claim['testable_on'])}"
        for slug, claim in load_claims(study).items()
    }
