"""The ledger of a study over all of its campaigns: as files of the pipeline, and in lines."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import papers, paths
from fsgreen.analysis.claims.together import KINDS, claims_together, parts_together
from fsgreen.analysis.claims.told import Told
from fsgreen.claims import DISAGREE, UNTESTED, VERDICTS, statements
from fsgreen.design import load_study
from fsgreen.errors import FsgreenError, unknown
from fsgreen.gathered import fleets
from fsgreen.outcome import KINDS as SPELLED
from fsgreen.outcome import said
from fsgreen.papers.judging import NAME, told_or_judged
from fsgreen.reduce import write_csv
from fsgreen.rules.verdicts import MEASURED, said_of_clocks
from fsgreen.typeset import typeset
from fsgreen.words import plural

FOLDERS = ("figures", "tables")
"""Of what takes no campaign; what campaigns show is in their results."""

FLEETS = "fleets"
"""What testbeds that measured the study as a fleet say together."""


def write(study: str) -> Path:
    """Write the ledger of a study over the campaigns that the pipeline analyses; return its folder.

    `claims.csv` has a row for each claim, `parts.csv` one for each part and kind of evidence with
    the campaigns side by side; `report.pdf` shows both, and `outcome.txt` says it in short. A
    published study without a campaign has what is judged without. `figures` and `tables` have what
    the room of a study makes of print and of virtual time; they are empty where it makes none.
    `fleets` has what testbeds of a fleet say together.

    Raises FsgreenError if the study is not a published one, and no campaign of it has been judged.
    """
    of_campaigns = _told(study, own=False)
    folder = paths.ledger(study)
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    parts = parts_together(of_campaigns)
    claims = claims_together(parts, statements(study))
    write_csv(parts, folder / "parts.csv")
    write_csv(claims, folder / "claims.csv")
    on_fleets = fleets.write(study, folder / FLEETS)
    told = [
        *_summary(study, of_campaigns, parts, claims),
        *(fleet["summary"] for fleet in on_fleets),
    ]
    (folder / "outcome.txt").write_text("\n".join(told) + "\n")
    numbers = {
        **_numbers(study, of_campaigns, parts, claims),
        "fleets": on_fleets,
        "without_campaign": NAME in of_campaigns,
        "evaluation": _evaluation(study, folder),
    }
    (folder / "numbers.json").write_text(json.dumps(numbers, indent=1, sort_keys=True) + "\n")
    names = ("numbers.json", "parts.csv", "claims.csv", FLEETS, *FOLDERS)
    made = [folder / name for name in names]
    typeset(
        paths.texts()["ledger.typ"],
        folder / "report.pdf",
        made,
        lambda: f"fsgreen notebook 95_ledger -p study {study}",
    )
    return folder


def lines(study: str, claim: str | None = None) -> Iterator[str]:
    """Yield the ledger of a study for a terminal, over all campaigns that were judged here.

    With the slug of a claim, its parts are shown in full. Raises FsgreenError if no campaign of the
    study has been judged, or it has no such claim.
    """
    of_campaigns = _told(study, own=True)
    parts, stated = parts_together(of_campaigns), statements(study)
    if claim is not None:
        if claim not in stated:
            next_step = f"fsgreen list claims {study}"
            raise unknown("claim", claim, stated, where=study, next_step=next_step)
        yield f"{claim}: {stated[claim]}"
        yield from _in_full(parts[parts["slug"] == claim], list(of_campaigns))
        return
    claims = claims_together(parts, stated)
    yield from _summary(study, of_campaigns, parts, claims)
    yield f"claims, by the strongest evidence (one in full: fsgreen ledger {study} CLAIM):"
    for row in claims[claims["basis"] != ""].to_dict("records"):
        count, where = row["campaigns_count"], ""
        if row["basis"] in MEASURED:
            where = f", {plural(count, 'campaign')}" if count else ", by a model without a trial"
        kind = f" ({SPELLED[row['basis']]}{where})" if row["basis"] != row["verdict"] else ""
        whole = " (in part)" if row["scope"] == "part" else ""
        yield f"  {row['verdict']}{whole}: {row['slug']}{kind}"


def verdicts(study: str) -> dict[str, str]:
    """Return the verdict on each claim of a study by its slug, with the evidence that it rests on.

    Empty where none was judged here. Raises FsgreenError where another version judged one.
    """
    return {row["slug"]: said(row["basis"], row["verdict"]) for row in _strongest(study)}


def counted(study: str) -> str:
    """Return how many claims of a study have which verdict, by the evidence that it rests on.

    Empty where none was judged here. Raises FsgreenError where another version judged one.
    """
    counts = Counter((row["basis"], row["verdict"]) for row in _strongest(study))
    by_kind = []
    for kind in (*KINDS, ""):
        of_kind = [(n, verdict) for (of, verdict), n in counts.most_common() if of == kind]
        if told := ", ".join(f"{n} {verdict}" for n, verdict in of_kind):
            by_kind.append(told if kind == of_kind[0][1] else f"{SPELLED[kind]}: {told}")
    return "; ".join(by_kind)


def _strongest(study: str) -> list[dict[Any, Any]]:
    of_campaigns = told_or_judged(study, own=True)
    if not of_campaigns:
        return []
    claims = claims_together(parts_together(of_campaigns), statements(study))
    return claims.to_dict("records")


def _evaluation(study: str, folder: Path) -> Mapping[str, Any] | None:
    """Write the figures and tables of a study that take no campaign; return what is told."""
    if not papers.has_step(study, "evaluation"):
        return None
    told: Mapping[str, Any] = papers.room(study, "evaluation").write(folder)
    return told


def _told(study: str, *, own: bool) -> Told:
    tables = told_or_judged(study, own=own)
    if not tables:
        paths.study(study)  # one that does not exist is named with the nearest
        raise FsgreenError(
            f"no campaign of {study} has been judged here",
            where=paths.told(study, "all", shipped=True).parent,
            next_step=f"./run reproduce, or measure it: fsgreen measure {study}",
        )
    return tables


def _summary(
    study: str, of_campaigns: Told, parts: pd.DataFrame, claims: pd.DataFrame
) -> Iterator[str]:
    """Yield campaigns, verdicts by what they rest on, what disagrees, and the models' error."""
    without = NAME in of_campaigns
    over = "no campaign, and no trial" if without else plural(len(of_campaigns), "campaign")
    yield f"{study}: {plural(len(claims), 'claim')} over {over} (rule 49)"
    for row in _campaigns(of_campaigns):
        name = "" if without else f"{row['campaign']}: "
        profile = "" if without else f", profile {row['profile']}"
        yield f"  {name}{row['place']}{profile}, {row['decided']}"
    yield "verdicts, by what they rest on; kinds of evidence are never added up:"
    yield f"  {'':30}" + "".join(f"{SPELLED[kind]:>17}" for kind in KINDS)
    for row in _verdicts(claims):
        counts = "".join(f"{count or '':>17}" for count in row["counts"])
        yield f"  {row['verdict']:30}{counts}"
    if without:
        return
    several = parts[parts["campaigns_count"] > 1]
    pooled = several[several["same_holm_p"].notna()]
    disagree = pooled[pooled["verdict"] == DISAGREE]
    yield (
        f"{plural(len(pooled), 'part')} with an interval in several campaigns of one kind, of "
        f"which {len(disagree)} disagree by more than their intervals and are not pooled"
    )
    for row in disagree.to_dict("records"):
        yield f"  {row['slug']}, {row['part']}: {_beside(row, list(of_campaigns))}"
    if errors := _model_error(parts):
        yield errors


def _campaigns(of_campaigns: Told) -> Iterator[dict[str, str]]:
    for name, table in of_campaigns.items():
        decided = table[~table["verdict"].isin(UNTESTED)]
        counts = Counter(decided["kind"])
        kinds = [f"{counts[kind]} {SPELLED[kind]}" for kind in KINDS if counts[kind]]
        first = table.iloc[0] if len(table) else {"place": "?", "profile": "?"}
        yield {
            "campaign": name,
            "place": str(first["place"]),
            "profile": str(first["profile"]),
            "decided": f"parts: {', '.join(kinds) or 'none decided'}",
        }


def _verdicts(claims: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield how many claims have each verdict, by kind of evidence."""
    for verdict in (*VERDICTS, DISAGREE):
        counts = [int((claims[kind] == verdict).sum()) for kind in KINDS]
        if any(counts):
            yield {"verdict": verdict, "counts": counts}


def _model_error(parts: pd.DataFrame) -> str:
    """Return by how much virtual time differs from real time; "" without both."""
    errors_percent = parts["model_error_percent"].dropna()
    return "" if errors_percent.empty else said_of_clocks(errors_percent)


def _beside(row: dict[Any, Any], campaigns: list[str]) -> str:
    return "; ".join(f"{name} {row[name]}" for name in campaigns if row[name])


def _in_full(parts: pd.DataFrame, campaigns: list[str]) -> Iterator[str]:
    """Yield each part with what every campaign found, and what they say together."""
    for row in parts.to_dict("records"):
        published = f"; published {row['published']}" if row["published"] else ""
        yield f"  {row['part']} ({SPELLED[row['kind']]}{published}): {row['verdict']}"
        yield from (f"    {name}: {row[name]}" for name in campaigns if row[name])
        if not math.isnan(row["next_low_x"]):
            yield (
                f"    together {row['ours']} in the next campaign like these, which differ by "
                f"{row['spread_percent']:.2g} % beyond their intervals"
            )
        if not math.isnan(row["model_error_percent"]):
            yield f"    off real time by {row['model_error_percent']:+.3g} %: the model's error"


def _numbers(
    study: str, of_campaigns: Told, parts: pd.DataFrame, claims: pd.DataFrame
) -> dict[str, Any]:
    """Return the values that `paper/ledger.typ` shows."""
    pooled = parts[parts["same_holm_p"].notna()]
    return {
        "study": study,
        "title": load_study(study).title,
        "claims": len(claims),
        "campaigns": list(_campaigns(of_campaigns)),
        "verdicts": [
            {**row, "counts": [str(count or "") for count in row["counts"]]}
            for row in _verdicts(claims)
        ],
        "pooled": len(pooled),
        "disagree": int((pooled["verdict"] == DISAGREE).sum()),
        "clocks": _model_error(parts),
    }
