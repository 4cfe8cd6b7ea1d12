"""Claims of a study: as published, ours from every campaign, the evidence, what it would take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fsgreen import reduce
from fsgreen.analysis.claims.told import told
from fsgreen.claims import load_claims, statements
from fsgreen.errors import FsgreenError
from fsgreen.figures.style import GREY, intervals_of
from fsgreen.outcome import KINDS
from fsgreen.view.explore.chart import Row, Rows, ratio_of
from fsgreen.view.explore.lines import Lines, Runner, Shown, quiet
from fsgreen.view.look import COLOURS

MOST_ROWS = 40
"""Numbers that a chart shows."""

COLOUR = dict(zip(KINDS, (*COLOURS[:4], GREY), strict=True))
"""A kind of evidence has one colour."""


def overview(runner: Runner, study: str) -> Shown:
    """Return every claim of a study with its verdict by the strongest evidence.

    Raises FsgreenError if the study states no claim, or no campaign of it has been judged here.
    """
    if not statements(study):
        raise FsgreenError(
            f"the study {study} states no claim",
            next_step="write down what you expect: docs/claims.md",
        )
    lines = _lines(study, 'view = claims[["verdict", *claims.columns.drop("verdict")]]')
    table = runner.run(lines)
    counts = table["verdict"].value_counts()
    says = "; ".join(f"{verdict}: {count}" for verdict, count in counts.items())
    return Shown(f"claims-{study}", lines, table, f"{len(table)} claims. {says}.")


def one(runner: Runner, study: str, slug: str) -> Shown:
    """Return what every campaign found of a claim: a row for each part and kind of evidence."""
    making = f"""
columns = ["campaign", "part", "kind", "verdict", "published", "ours", "n"]
columns += ["ours_x", "ours_low_x", "ours_high_x", "band_low_x", "band_high_x", "unit"]
view = parts.loc[parts["slug"] == {slug!r}, columns].sort_values(["part", "campaign"])
"""
    lines = _lines(study, making)
    table = runner.run(lines)
    ratios = table[table["unit"].isin(["x", "change"]) & (table["ours_x"] > 0)]
    rows = [_row(row) for row in ratios.head(MOST_ROWS).to_dict("records")]
    says = f"{len(table)} numbers of {table['campaign'].nunique()} campaigns."
    if table.empty:
        says = "No campaign has a number for this claim."
    elif len(ratios) > MOST_ROWS:
        says += f" The first {MOST_ROWS} are drawn, all are in the table."
    known = intervals_of(ratios["ours_low_x"], ratios["n"])
    axis = f"ours as a ratio, {known}; grey: what agrees with the published number"
    chart = Rows(axis, rows, "x", bars=False) if rows else None
    return Shown(f"claim-{study}-{slug}", lines, table, says, chart)


def card(study: str, slug: str) -> list[tuple[str, str]]:
    """Return a claim as published and what every campaign says of it: headings and texts."""
    published = load_claims(study).get(slug, {})
    said = [("As published", statements(study)[slug])]
    if published:
        places = [f"section {published['section']}", *map(str, published["figure_or_table"])]
        said.append(("Where", ", ".join(places)))
    for name in told(study, own=True):
        try:
            with quiet():
                claims = reduce.read_table(name, "claims")
        except FsgreenError:
            continue
        known = claims.astype(object).where(claims.notna(), "")
        for row in known[known["slug"] == slug].to_dict("records"):
            said.append((name, _found(row)))
    return said


def _found(row: Mapping[str, Any]) -> str:
    """Return what a campaign says of a claim, and what it would take to say more."""
    kind = KINDS.get(row["basis"], row["basis"])
    text = f"{row['verdict']} ({kind})" if row["basis"] else str(row["verdict"])
    if row["ours"]:
        text += f"; ours {row['ours']}, published {row['published']}"
    if row["gate"] not in ("", "passed"):
        text += f"; the gate of the confounds: {row['gate']}"
    return f"{text}. It would take: {row['needs']}" if row["needs"] else text


def _lines(study: str, making: str) -> Lines:
    """Return lines that put together what all campaigns say of a study's claims."""
    campaigns = told(study, own=True)
    if not campaigns:
        raise FsgreenError(
            f"no campaign of {study} has been judged here",
            next_step="./run reproduce, or measure it: fsgreen measure STUDY",
        )
    opening = f"""
import pandas as pd
from fsgreen.analysis.claims.together import claims_together, parts_together
from fsgreen.analysis.claims.told import told
from fsgreen.claims import statements

campaigns = told({study!r}, own=True)
parts = pd.concat(campaigns.values(), ignore_index=True)
claims = claims_together(parts_together(campaigns), statements({study!r}))
"""
    return Lines(list(campaigns), opening, making)


def _row(row: Mapping[str, Any]) -> Row:
    value, low, high = ratio_of(row, "ours")
    band = row["band_low_x"], row["band_high_x"]
    known = not any(math.isnan(end) for end in band)
    name = f"{row['campaign']}: {row['part']}"
    about = f"{name}: ours {row['ours']}, published {row['published']}: {row['verdict']}"
    says = f"{row['ours']}, {row['verdict']}"
    decided = row["verdict"] == "reproduced"
    return Row(
        name, says, value, low, high, COLOUR[row["kind"]], about, decided, band if known else None
    )
