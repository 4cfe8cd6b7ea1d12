"""What claims without a verdict still need, as a list of steps, each with its claims."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

import pandas as pd

from fsgreen.claims import LACKING, OTHER_STATE, UNTESTED
from fsgreen.words import listed, plural

STATE = re.compile(r"^(?P<says>.*?) \((?P<found>\S+ was .*?)\): (?P<way>.*)$")
"""Matches the sentence of `claims.missing` that says that trials were in another state."""

NEXT = re.compile(r"; (?![^(]*\))")
"""The separator of needs. Inside brackets, it separates what was found of one state instead."""

NAMED = 3
"""Most missing cells that a row names."""


@dataclass
class Step:
    """One step: the claims that need it, the states that trials were in, and the missing cells.

    The keys of each dictionary are an ordered set.
    """

    claims: dict[str, None] = field(default_factory=dict)
    found: dict[str, None] = field(default_factory=dict)
    cells: dict[str, None] = field(default_factory=dict)


def to_do(claims: pd.DataFrame) -> list[dict[str, str]]:
    """Return a row for each step that claims without a verdict need, that of most claims first.

    A claim that needs several steps is in several rows, and needs all of them.
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
