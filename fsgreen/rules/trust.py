"""The table `trust.csv`: every rule, its state in a campaign, and what to do about it."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.reduce import read_identity, read_table, write_table
from fsgreen.rules import (
    comparison,
    confounds,
    deciding,
    design,
    imported,
    power,
    reach,
    remedies,
    reporting,
    state,
    steadiness,
    summaries,
    verdicts,
)
from fsgreen.rules.answer import STATES, Answer, Judge, unknown
from fsgreen.rules.catalogue import MODES, Rule, rules
from fsgreen.rules.evidence import Evidence, gather

JUDGES: Mapping[int, Judge] = {
    **design.JUDGES,
    **state.JUDGES,
    **power.JUDGES,
    **steadiness.JUDGES,
    **summaries.JUDGES,
    **comparison.JUDGES,
    **confounds.JUDGES,
    **deciding.JUDGES,
    **reach.JUDGES,
}
"""The judges of the rules that can be answered once the analysis is made."""

OF_REPORT: Mapping[int, Callable[[reporting.Report], Answer]] = {
    **reporting.JUDGES,
    **verdicts.JUDGES,
}
"""The judges of the rules on the report and its claims."""

COLUMNS = (
    *("rule", "group", "mode", "source", "question"),
    *("state", "found", "consequence", "remedy"),
)

MOST_FIRED, MOST_LETTERS = 5, 160
"""Rules that a summary tells of, and letters of what each found."""

NOTHING_TO_DO = "none is needed"
"""How the remedy of a rule begins that asks nothing."""

LATER = unknown("judged with the report, which is made after this table: fsgreen rules")


def judge(evidence: Evidence) -> dict[int, Answer]:
    """Return the answer of each rule by its number, in order of numbers."""
    later = dict.fromkeys(OF_REPORT, LATER)
    answers = {number: _answer(number, judged, evidence) for number, judged in JUDGES.items()}
    return dict(sorted((answers | later).items()))


def trust_table(answers: Mapping[int, Answer], remedy: Callable[[Rule], str]) -> pd.DataFrame:
    """Return a row per rule with the columns `COLUMNS`; `remedy` gives the text of that column."""
    rows = [_row(rule, answers[rule.number], remedy(rule)) for rule in rules().values()]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def write(campaign: str) -> Path:
    """Judge an analysed campaign, write `trust.csv`, and return its path.

    Raises FsgreenError if the campaign has no plan, or its tables have not been made.
    """
    evidence = gather(campaign)
    remedy = imported.remedy if evidence.imported else remedies.of_measured
    table = trust_table(judge(evidence), partial(remedy, campaign, evidence))
    return write_table(table.assign(rule=table["rule"].map("{:02d}".format)), campaign, "trust")


def read(campaign: str, *, together: bool = False) -> pd.DataFrame:
    """Return `trust.csv`, with the rules on the report judged on the present report.

    With `together`, rule 49 also reads the study's other campaigns. A report does not: it uses only
    its own campaign.

    Raises FsgreenError if the table has not been made, or was made by a version with other columns.
    """
    table = read_table(campaign, "trust")
    if tuple(table.columns) != COLUMNS:
        raise FsgreenError(
            "another version made this table of the rules",
            where=paths.results(campaign) / "trust.csv",
            next_step="./run reproduce (shipped data), or "
            f"fsgreen notebook 60_analyse -p campaign {campaign}",
        )
    table = table.set_index("rule", drop=False)
    report = reporting.Report.of(campaign, together=together)
    for number, judged in OF_REPORT.items():
        answer = _or_older(partial(judged, report))
        table.loc[number, ["state", "found"]] = [answer.state, answer.found]
    return table.reset_index(drop=True)


def last_campaign() -> str | None:
    """Return the campaign with a `trust.csv` that was begun last; None if there is none.

    If no `campaign.json` says when, it is the campaign whose table was written last.
    """
    files = {file.parent.name: file for file in (paths.data() / "results").glob("*/trust.csv")}
    begun_unix_s = {name: at_s for name in files if (at_s := _begun_unix_s(name)) is not None}
    written_unix_s = {name: file.stat().st_mtime for name, file in files.items()}
    times_unix_s = begun_unix_s or written_unix_s
    return max(times_unix_s, key=lambda name: (times_unix_s[name], name), default=None)


def by_state(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in the order of `STATES`: fired rules come first."""
    return table.sort_values(
        "state", key=lambda states: states.map(list(STATES).index), kind="stable"
    )


def counts(table: pd.DataFrame) -> dict[str, int]:
    """Return the number of rules in each state, in the order of `STATES`."""
    seen = Counter(table["state"])
    return {state: seen[state] for state in STATES}


def summary(campaign: str) -> str:
    """Return a summary of `trust.csv` in a few lines: counts, what fired, and what to do.

    At most `MOST_FIRED` of the rules that fired are in it, in the order of `MODES`. Those that ask
    for no action are last.

    Raises FsgreenError if its `trust.csv` has not been made.
    """
    table = read(campaign)
    fired = table[table["state"] == "fired"].to_dict("records")
    told = sorted(fired, key=_weight)[:MOST_FIRED]
    numbers = counts(table[~table["rule"].isin([row["rule"] for row in told])])
    others = ", ".join(f"{count} {state}" for state, count in numbers.items() if count)
    lines = [
        f"{campaign}: can these numbers be trusted? Of {len(table)} rules {len(fired) or 'none'} "
        f"fired{', among them' if len(told) < len(fired) else ''}"
    ]
    for row in told:
        lines.append(f"  {row['rule']:2} {rules()[row['rule']].name}: {_brief(row['found'])}")
        lines.append(f"     what to do: {row['remedy']}")
    return "\n".join(
        [
            *lines,
            f"  the others ({others}): fsgreen rules --campaign {campaign}",
            f"  one of them in full: fsgreen rules NUMBER --campaign {campaign}",
        ]
    )


def _weight(row: Mapping[Hashable, Any]) -> tuple[bool, int]:
    return row["remedy"].startswith(NOTHING_TO_DO), list(MODES).index(row["mode"])


def _brief(found: str) -> str:
    """Return the begin of what a rule found, where that is long; the rest is a command away."""
    return textwrap.shorten(found, MOST_LETTERS, placeholder=" ...")


def _begun_unix_s(campaign: str) -> float | None:
    try:
        return float(read_identity(campaign)["started_unix_s"])
    except (OSError, ValueError, KeyError, TypeError, FsgreenError):
        return None


def _answer(number: int, judged: Judge, evidence: Evidence) -> Answer:
    if evidence.imported:
        return _or_older(partial(imported.judged, number, judged, evidence))
    return _or_older(partial(judged, evidence))


def _or_older(answer: Callable[[], Answer]) -> Answer:
    """Return an answer; unknown if the tables are older and lack a column that it needs."""
    try:
        return answer()
    except KeyError as lacking:
        return unknown(f"the records or tables are of an older version: they lack {lacking}")


def _row(rule: Rule, answer: Answer, remedy: str) -> tuple[str | int, ...]:
    return (
        rule.number,
        rule.group,
        rule.mode,
        ", ".join(rule.sources),
        rule.question,
        answer.state,
        answer.found,
        rule.consequence,
        remedy,
    )
