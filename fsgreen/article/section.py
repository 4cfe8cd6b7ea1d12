"""What the paper says of one study, from its ledger and from what its campaigns give."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import exhibits, paths, schema
from fsgreen.analysis.claims.together import claims_together, parts_together
from fsgreen.claims import (
    AGREES,
    DISAGREE,
    OTHER_STATE,
    UNTESTED,
    labelled,
    load_claims,
    missing,
    published_labelled,
    statements,
)
from fsgreen.design import load_study
from fsgreen.papers import judging
from fsgreen.pipeline.summary import HOLDS, answer
from fsgreen.reduce import read_csv
from fsgreen.words import plural

MODELS = "models"
"""The kind of evidence of what is simulated without a trial: in virtual time, or from a file."""

RUN_HERE = ("measured", "simulated", MODELS)
"""Kinds of evidence that do not come from print."""

SHOWN = ("slug", "statement", "verdict", "kind")
"""What the paper shows of a claim, beside numbers."""

REFUSED = HOLDS["no"]
OPEN = ("inconclusive", DISAGREE)
APART = ("needs", "figures", "not_run")
"""What campaigns give that is told of all of them together."""

MOST_LETTERS = 120
"""Of the numbers of a claim, as many as fit into so many letters; at least one."""

MOST_NEEDS = 10
"""Things that tests would take, those first that most claims wait for."""

MISSING = "planned trials are missing"
"""What a campaign says of trials that were not made, before it names them."""

APART_FROM_NEXT = re.compile(r"; (?![^(]*\))")
"""What stands between two needs, and not within the parentheses of one."""

LACKS = "trials of cells that this campaign does not have"
"""How a need begins that goes on with the names of cells."""


@dataclass(frozen=True)
class Verdicts:
    """Rows of a ledger."""

    claims: pd.DataFrame
    parts: pd.DataFrame
    """As `claims.csv` and `parts.csv` of a ledger; a text is "" where there is none. The `kind` of
    evidence on a claim is its basis, or `MODELS`."""
    campaigns: list[str] = field(default_factory=list)
    """Those that were judged."""
    needs: dict[str, str] = field(default_factory=dict)
    """What a test of a claim would take, by slug, where no campaign says it."""


def verdicts_on(study: str) -> Verdicts:
    """Return what the ledger of a study says: by its campaigns, or without any.

    A study that has no ledger here is judged as one without a campaign.
    """
    folder = paths.ledger(study)
    if not (folder / "claims.csv").is_file():
        parts = parts_together({judging.NAME: judging.judged(study)})
        return _without_campaign(study, claims_together(parts, statements(study)), parts)
    claims, parts = (read_csv(folder / f"{name}.csv") for name in ("claims", "parts"))
    numbers = json.loads((folder / "numbers.json").read_text())
    if numbers["without_campaign"]:
        return _without_campaign(study, claims, parts)
    campaigns = [entry["campaign"] for entry in numbers["campaigns"]]
    return Verdicts(*_texts(claims, parts), campaigns)


def _without_campaign(study: str, claims: pd.DataFrame, parts: pd.DataFrame) -> Verdicts:
    needs = {slug: missing(of) for slug, of in judging.parts_of_claims(study).items()}
    return Verdicts(*_texts(claims, parts), needs=needs)


def _texts(claims: pd.DataFrame, parts: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    claims = claims.fillna({"basis": ""})
    alone = (claims["basis"] == "simulated") & (claims["campaigns_count"] == 0)
    claims["kind"] = claims["basis"].mask(alone, MODELS)
    return claims, parts.fillna({"published": "", "ours": ""})


def section(study: str) -> dict[str, Any]:
    """Return the values that the section of a study shows.

    A study without a campaign has the verdicts of its printed numbers and of models.
    """
    told = exhibits.declared().get(study, exhibits.Told())
    verdicts = verdicts_on(study)
    campaigns = exhibits.read(study, verdicts.campaigns)
    claims = verdicts.claims.to_dict("records")
    return {
        "study": study,
        **_paper(study),
        "question": told.question or load_study(study).question,
        "system": told.system,
        "campaigns": [
            {name: value for name, value in about.items() if name not in APART}
            for about in campaigns
        ],
        "claims": len(claims),
        "counts": list(_counts(claims)),
        "constructed": _count(claims, "by construction"),
        "elsewhere": _count(claims, OTHER_STATE),
        "untested": _count(claims, "not testable here"),
        "limits": list(_limits(claims)),
        "holds": list(_statements(claims, AGREES)),
        "fails": list(_statements(claims, REFUSED)),
        "decided": [_row(row, verdicts.parts) for row in claims if row["kind"] in RUN_HERE],
        "contradicted": [
            _row(row, verdicts.parts)
            for row in claims
            if row["kind"] == "published" and row["verdict"] != "reproduced"
        ],
        "telling": list(_telling(study, verdicts)),
        "needs": _needs(claims, [verdicts.needs, *(about["needs"] for about in campaigns)]),
        "left_out": _left_out(campaigns),
        "figures": list(_figures(told.figures, campaigns)),
    }


def _paper(study: str) -> dict[str, str]:
    """Return title, authors and venue of the paper; of one's own study its title."""
    text = (paths.reference() / "methods.yaml").read_text()
    loaded = schema.plain(text)["methods"]
    if study not in loaded:
        return {"title": load_study(study).title, "authors": "", "venue": ""}
    paper = loaded[study]["paper"]
    return {name: str(paper[name]) for name in ("title", "authors", "venue")}


def _counts(claims: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield how many claims hold by each kind of evidence that can be right or wrong."""
    for kind in (*RUN_HERE, "published"):
        verdicts = [answer(row) for row in claims if row["kind"] == kind]
        if not verdicts:
            continue
        columns = {**HOLDS, "open": OPEN, "underpowered": ("underpowered",)}
        counts = {name: sum(v in words for v in verdicts) for name, words in columns.items()}
        shown = [str(count or "") for count in counts.values()]
        yield {"kind": kind, "total": len(verdicts), **counts, "shown": shown}


def _count(claims: Iterable[Mapping[str, Any]], verdict: str) -> int:
    return sum(row["verdict"] == verdict for row in claims)


def _limits(claims: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield of how many claims there is less than a verdict by trials, and why."""
    told = {
        "by construction": "follow from how the experiment or its model was made",
        "underpowered": "are underpowered: more trials are needed, or calmer ones",
        OTHER_STATE: "were looked at in another state than the one that they are about",
        "not testable here": "have no verdict",
    }
    for verdict, what in told.items():
        if count := _count(claims, verdict):
            yield f"Of {plural(len(claims), 'claim')}, {count} {what}."


def _statements(
    claims: Iterable[Mapping[str, Any]], verdicts: Sequence[str]
) -> Iterator[dict[str, str]]:
    """Yield the claims on which trials or models gave one of some verdicts."""
    for row in claims:
        if row["kind"] in RUN_HERE and row["verdict"] in verdicts:
            yield {name: row[name] for name in SHOWN}


def _row(claim: Mapping[str, Any], parts: pd.DataFrame) -> dict[str, str]:
    """Return a claim with the numbers of its parts, published and ours, each with its label."""
    of_claim = parts[(parts["slug"] == claim["slug"]) & (parts["kind"] == claim["basis"])]
    told = of_claim.loc[of_claim["ours"] != "", ["part", "published", "ours"]]
    return {
        **{name: claim[name] for name in SHOWN},
        "published": _listed(
            published_labelled(of_claim[["part", "published"]].itertuples(index=False, name=None))
        ),
        "ours": _listed(labelled(told.itertuples(index=False, name=None))),
    }


def _listed(texts: Iterable[str]) -> str:
    """Return texts in a line, each once; of many the first."""
    known = [text for text in dict.fromkeys(texts) if text]
    lengths = accumulate(len(text) + 2 for text in known)
    fit = max(1, sum(length <= MOST_LETTERS for length in lengths))
    more = f"; and {len(known) - fit} more" if len(known) > fit else ""
    return "; ".join(known[:fit]) + more


def _telling(study: str, verdicts: Verdicts) -> Iterator[dict[str, str]]:
    """Yield the claims held most telling for a reproduction."""
    stated = load_claims(study)
    for row in verdicts.claims.to_dict("records"):
        if stated.get(row["slug"], {}).get("decisive"):
            yield {"study": study, **_row(row, verdicts.parts)}


def _needs(
    claims: Iterable[Mapping[str, Any]], of_campaigns: Sequence[Mapping[str, str]]
) -> list[dict[str, Any]]:
    """Return what tests would take of claims without a verdict, with how many wait for it."""
    waiting = [row["slug"] for row in claims if row["verdict"] in UNTESTED]
    texts = [next((of[slug] for of in of_campaigns if slug in of), "") for slug in waiting]
    each = [
        {LACKS if need.startswith(LACKS) else need for need in APART_FROM_NEXT.split(text)}
        for text in texts
        if text
    ]
    counted = Counter(need for needs in each for need in sorted(needs))
    return [{"need": need, "claims": count} for need, count in counted.most_common(MOST_NEEDS)]


def _left_out(campaigns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what was not run, or otherwise than published, with the campaigns that say so."""
    said: dict[str, list[str]] = {}
    for about in campaigns:
        for line in about["not_run"]:
            what = line.partition(":")[0] if MISSING in line else line
            said.setdefault(what, []).append(about["campaign"])
    return [{"what": what, "campaigns": names} for what, names in said.items()]


def _figures(
    wanted: Mapping[str, str], campaigns: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, str]]:
    """Yield each figure from the campaign with the most cells that has it."""
    fullest = sorted(campaigns, key=lambda about: -about["trials"]["cells"])
    of: dict[str, tuple[str, str]] = {}
    for about in fullest:
        for entry in about["figures"]:
            of.setdefault(entry["file"], (about["campaign"], entry["caption"]))
    order = [f"{name}.svg" for name in wanted]
    for file in sorted(of, key=lambda name: order.index(name) if name in order else len(order)):
        campaign, caption = of[file]
        see = wanted.get(Path(file).stem, "")
        yield {"file": file, "campaign": campaign, "caption": caption, "see": see}
