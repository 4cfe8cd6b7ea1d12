"""What claims without a verdict would take, as a list of things to do: each with its claims."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

import pandas as pd

from fsgreen.claims import LACKING, OTHER_STATE, UNTESTED
from fsgreen.rules.answer import listed
from fsgreen.words import plural

STATE = re.compile(r"^(?P<says>.*?) \((?P<found>\S+ was .*?)\): (?P<way>.*)$")
"""How `claims.missing` says that trials were in another state."""

NEXT = re.compile(r"; (?![^(]*\))")
"""What stands between two needs; in brackets it parts what was found of one state."""

NAMED = 3
"""Cells that are named of those which a campaign lacks."""


@dataclass
class Step:
    """One thing to do; `found` is what trials were in its place, and `cells` what is not there."""

    claims: dict[str, None] = field(default_factory=dict)
    found: dict[str, None] = field(default_factory=dict)
    cells: dict[str, None] = field(default_factory=dict)


def to_do(claims: pd.DataFrame) -> list[dict[str, str]]:
    """Return a row for each thing that claims without a verdict lack, those of most claims first.

    A claim that lacks several things stands in several rows, and takes all of them.

    Parameters
    ----------
    claims : DataFrame
        The table `claims.csv`.
    """
    steps: dict[str, Step] = {}
    untested = claims[claims["verdict"].isin(UNTESTED)]
    for claim in untested.fillna({"needs": ""}).to_dict("records"):
        mark = "*" if claim["verdict"] == OTHER_STATE else ""
        name = f"{claim['id'].rpartition('-')[2]}{mark} {claim['slug'].replace('_', ' ')}"
        for need in NEXT.split(claim["needs"]):
            cells = need.removeprefix(LACKING).split(", ") if need.startswith(LACKING) else []
            state = STATE.match(need)
            take = LACKING if cells else f"{state['says']}: {state['way']}" if state else need
            step = steps.setdefault(take, Step())
            step.claims[name] = None
            step.cells |= dict.fromkeys(cells)
            step.found |= {state["found"]: None} if state else {}
    most_first = sorted(steps.items(), key=lambda step: -len(step[1].claims))
    return [
        {
            "take": take + _cells(step.cells),
            "found": ("for instance " if len(step.found) > 1 else "") + next(iter(step.found), ""),
            "count": str(len(step.claims)),
            "claims": ", ".join(step.claims),
        }
        for take, step in most_first
    ]


def _cells(cells: Collection[str]) -> str:
    return f"{plural(len(cells), 'cell')}, {listed(cells, NAMED)}" if cells else ""
