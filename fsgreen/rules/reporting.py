"""Rules 43 and 44: the report and the ledger of claims, which are made after the analysis."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from fsgreen import paths
from fsgreen.claims import UNTESTED, VERDICTS, slugs_of
from fsgreen.reduce import read_plan, read_table
from fsgreen.rules.answer import Answer, fired, listed, not_asked, plural, quiet, unknown

LEDGER = "claims"
"""The table of verdicts, made after the rules' own: no stage that judges depends on it."""

LOOK = "style"
"""The text that holds the look of reports, and no number of a result."""

OF_ANY = "study"
"""The text of the report of a study that has none of its own."""

NAME = re.compile(
    r'''"[\w./-]*\.(?:csv|json|pdf|png|svg|typ)"|(?<=rgb\()"#\w+"|(?<=\.at\()"[^"]*"'''
)
"""A quoted string of a Typst source that no reader sees: a file, a colour, a column."""


@dataclass(frozen=True)
class Report:
    """What a campaign is reported with.

    Attributes
    ----------
    texts : mapping
        The Typst sources of the reports by name, without their look.
    claims : DataFrame
        The table `claims.csv`; empty before there is one.
    stated : set of str
        The slugs of the claims of the paper that the study repeats, or of its own.
    """

    texts: Mapping[str, str]
    claims: pd.DataFrame
    stated: frozenset[str]

    @classmethod
    def of(cls, campaign: str) -> Report:
        """Read what there is of a campaign's report."""
        study = read_plan(campaign).study
        texts = paths.texts()
        aside = {LOOK, OF_ANY} if f"{study}.typ" in texts else {LOOK}
        made = (paths.results(campaign) / f"{LEDGER}.csv").is_file()
        return cls(
            {
                name: text.read_text()
                for name, text in sorted(texts.items())
                if text.stem not in aside
            },
            read_table(campaign, LEDGER) if made else pd.DataFrame(),
            slugs_of(study),
        )


def generated_numbers(report: Report) -> Answer:
    """Rule 43: no digit stands in the texts of the reports outside of names."""
    if not report.texts:
        return not_asked("there is no text of a report")
    typed = [
        f"{name}: {line}" for name, text in report.texts.items() for line in typed_numbers(text)
    ]
    if typed:
        return fired(f"{plural(len(typed), 'line')} with typed numbers, {listed(typed, 1)}")
    return quiet(f"no number is typed into {', '.join(sorted(report.texts))}")


def typed_numbers(text: str) -> list[str]:
    """Return the lines of a Typst source that hold a digit, captions and titles in quotes included.

    Not in a name: `ext4`, a file, a colour, or the column that `.at` takes from a table.
    """
    unnamed = NAME.sub('""', text)
    return [line.strip() for line in unnamed.splitlines() if re.search(r"\b\d", line)]


def verdict_per_claim(report: Report) -> Answer:
    """Rule 44: each claim, of a paper or of one's own, has one verdict, with what that takes."""
    claims = report.claims
    if not report.stated:
        return not_asked("this study states no claim, and repeats no paper that does")
    if claims.empty:
        return unknown("the verdicts have not been made: notebook 80_claims")
    missing = sorted(report.stated ^ set(claims["slug"]))
    if missing or claims["slug"].duplicated().any():
        return fired(f"not one verdict for each of {len(report.stated)}: {listed(missing)}")
    known = claims["verdict"].isin(VERDICTS)
    untested = claims["verdict"].isin(UNTESTED)
    measured = claims["basis"] == "measured"
    faults = {
        "have no known verdict": ~known,
        "cannot be tested and do not say what it takes": untested & claims["needs"].isna(),
        "lack the published value or ours": ~untested
        & claims[["published", "ours"]].isna().any(axis=1),
        "are measured without n or testbed": measured & claims[["n", "testbed"]].isna().any(axis=1),
        "rest on modelled power": measured & (claims["boundary"] == "modelled"),
    }
    for fault, rows in faults.items():
        if rows.any():
            return fired(f"{int(rows.sum())} {fault}: {listed(claims[rows]['slug'])}")
    counts = Counter(claims["verdict"]).most_common()
    return quiet(", ".join(f"{count} {verdict}" for verdict, count in counts))


JUDGES: Mapping[int, Callable[[Report], Answer]] = {
    43: generated_numbers,
    44: verdict_per_claim,
}
