"""What a judge answers: the state of a rule, and the numbers that say so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from fsgreen.rules.evidence import Evidence
from fsgreen.words import plural

SAME = 1e-5
"""Tables have seven digits: numbers nearer than this share of their size are equal."""

State = Literal["fired", "unknown", "quiet", "not asked"]

STATES: Mapping[State, str] = {
    "fired": "something in the data breaks it: read what follows from that",
    "unknown": "the data cannot tell, for the reason given",
    "quiet": "looked at, and found in order",
    "not asked": "it does not apply here, for the reason given",
}
"""The states of a rule, those that a reader must know of first."""


@dataclass(frozen=True)
class Answer:
    """The state of a rule and what was found, in words with numbers."""

    state: State
    found: str


Judge = Callable[[Evidence], Answer]
"""A pure function from what is known of a campaign to the answer of one rule."""


def fired(found: str) -> Answer:
    """Return that the rule fired."""
    return Answer("fired", found)


def unknown(why: str) -> Answer:
    """Return that the data cannot tell, and why."""
    return Answer("unknown", why)


def quiet(found: str) -> Answer:
    """Return that nothing breaks the rule."""
    return Answer("quiet", found)


def not_asked(why: str) -> Answer:
    """Return that the rule does not apply, and why."""
    return Answer("not asked", why)


def listed(names: Iterable[str], most: int = 3) -> str:
    """Return names as a text: the first ones, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def named_trials(names: Iterable[str]) -> str:
    """Return trials as a text: how many, and the first ones by name."""
    every = list(names)
    return f"{plural(len(every), 'trial')}: {listed(every)}"


def failed_check(names: Iterable[str]) -> Answer:
    """Return that a rule fired because its check failed in trials that count all the same."""
    every = list(names)
    count = plural(len(every), "trial")
    return fired(f"a check failed in {count} that count: {listed(every)}")
