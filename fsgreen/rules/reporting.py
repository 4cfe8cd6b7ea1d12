"""Rules 43 and 44: the report and the ledger of claims, made after the analysis."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from fsgreen import paths
from fsgreen.claims import UNTESTED, VERDICTS, statements
from fsgreen.reduce import read_identity, read_plan, read_table
from fsgreen.rules.answer import Answer, fired, not_asked, quiet, unknown
from fsgreen.words import listed, plural

LEDGER = "claims"
"""The table of verdicts. It is made after `trust.csv`, so no stage that judges depends on it."""

PARTS = "claim_parts"
"""The table of the parts of claims."""

LOOK = "style"
"""The text that holds the layout of reports, without any result."""

OF_ANY = "study"
"""The text of the report for studies that have no text of their own."""

NAME = re.compile(
    r""""[\w./-]*\.(?:csv|json|pdf|png|svg|typ)"|(?<=rgb\()"#\w+"|(?<=\.at\()"[^"]*"|\b\d+fr\b"""
)
"""Matches what no reader of a report sees: a file, a colour, a quoted column, a width."""

RULE = re.compile(r"\brule \d+")
"""Matches the name of a rule, whose number is no result."""

COUNTED = re.compile(r"\b(?:\d|(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b)")
"""Matches a digit, or a number in words. "One" is left out, as it is also a pronoun."""

NO_BASIS = "nothing"
"""The basis that is shown for the verdict of a claim that cannot be tested."""

NO_CLAIM = "this study states no claim, and repeats no paper that does"
NO_VERDICT = "the verdicts have not been made: notebook 80_claims"


@dataclass(frozen=True)
class Report:
    """What the rules on the report are judged on."""

    texts: Mapping[str, str]
    """The Typst sources of the reports by name, without their layout."""
    claims: pd.DataFrame
    """The table `claims.csv`; empty before it is made."""
    stated: frozenset[str]
    """The slugs of the claims: those of the paper that the study repeats, or its own."""
    parts: pd.DataFrame = field(default_factory=pd.DataFrame)
    trials: pd.DataFrame = field(default_factory=pd.DataFrame)
    """The tables `claim_parts.csv` and `trials.csv`; empty before they are made."""
    others: Mapping[str, pd.DataFrame] | None = None
    """The parts of the study's other campaigns, by campaign; None if they were not read."""

    @classmethod
    def of(cls, campaign: str, *, together: bool = False) -> Report:
        """Read what exists of a campaign's report.

        With `together`, the claims of the study's other campaigns are read, too. No report uses
        them.
        """
        study = read_plan(campaign).study
        texts = paths.texts()
        aside = {LOOK, OF_ANY} if f"{study}.typ" in texts else {LOOK}
        return cls(
            {
                name: text.read_text()
                for name, text in sorted(texts.items())
                if text.stem not in aside
            },
            _made(campaign, LEDGER),
            frozenset(statements(study)),
            _parts(campaign),
            _made(campaign, "trials"),
            _others(campaign, study) if together else None,
        )


def generated_numbers(report: Report) -> Answer:
    """Rule 43: the texts of reports and of verdicts have no digit, except in names.

    In the caution beside a verdict, a number in words counts as well, as it may describe a cell
    that no campaign has.
    """
    if not report.texts:
        return not_asked("there is no text of a report")
    typed = [
        f"{name}: {line}" for name, text in report.texts.items() for line in typed_numbers(text)
    ]
    if "caution" in report.claims:
        typed += [
            f"caution of {slug}: {caution}"
            for slug, caution in zip(report.claims["slug"], report.claims["caution"], strict=True)
            if isinstance(caution, str) and COUNTED.search(RULE.sub("", caution))
        ]
    if typed:
        return fired(f"{plural(len(typed), 'line')} with typed numbers, {listed(typed, 1)}")
    return quiet(f"no number is typed into {', '.join(sorted(report.texts))}")


def typed_numbers(text: str) -> list[str]:
    """Return the lines of a Typst source that hold a digit, also in quoted captions and titles.

    Digits in names do not count: `ext4`, a file, a colour, a column that `.at` reads. Nor do
    widths.
    """
    unnamed = NAME.sub('""', text)
    return [line.strip() for line in unnamed.splitlines() if re.search(r"\b\d", line)]


def verdict_per_claim(report: Report) -> Answer:
    """Rule 44: each claim has one verdict, with the fields that such a verdict must have."""
    claims = report.claims
    if not report.stated:
        return not_asked(NO_CLAIM)
    if claims.empty:
        return unknown(NO_VERDICT)
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
    return quiet(
        "; ".join(
            f"{basis}: " + ", ".join(f"{n} {v}" for v, n in Counter(these["verdict"]).most_common())
            for basis, these in claims.assign(basis=claims["basis"].fillna(NO_BASIS)).groupby(
                "basis", sort=False
            )
        )
    )


def _made(campaign: str, name: str) -> pd.DataFrame:
    made = (paths.results(campaign) / f"{name}.csv").is_file()
    return read_table(campaign, name) if made else pd.DataFrame()


def _others(campaign: str, study: str) -> dict[str, pd.DataFrame]:
    """Return the parts of the study's other campaigns that have been judged."""
    files = sorted((paths.data() / "results").glob(f"*/{PARTS}.csv"))
    names = [file.parent.name for file in files if file.parent.name != campaign]
    return {name: _parts(name) for name in names if read_plan(name).study == study}


def _parts(campaign: str) -> pd.DataFrame:
    """Return the parts of a campaign's claims, with the kind of its testbed."""
    parts = _made(campaign, PARTS)
    return (
        parts if parts.empty else parts.assign(testbed=read_identity(campaign)["testbed"]["kind"])
    )


JUDGES: Mapping[int, Callable[[Report], Answer]] = {
    43: generated_numbers,
    44: verdict_per_claim,
}
