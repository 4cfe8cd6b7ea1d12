"""The answer of a judge: the state of a rule, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from fsgreen.rules.evidence import Evidence
from fsgreen.words import listed, plural

SAME = 1e-5
"""Relative difference below which two numbers are equal, as tables have seven digits."""

State = Literal["fired", "unknown", "quiet", "not asked"]

STATES: Mapping[State, str] = {
    "fired": "something in the data breaks it: read what follows from that",
    "unknown": "the data cannot tell, for the reason given",
    "quiet": "looked at, and found in order",
    "not asked": "it does not apply here, for the reason given",
}
"""The states of a rule and their meanings. Those that a reader must know of come first."""


@dataclass(frozen=True)
class Answer:
    """The state of a rule and what was found, in words with numbers."""

    state: State
    found: str


Judge = Callable[[Evidence], Answer]
"""A pure function that answers one rule from the evidence of a campaign."""


def fired(found: str) -> Answer:
    """Return the answer that the rule fired."""
    return Answer("fired", found)


def unknown(why: str) -> Answer:
    """Return the answer that the data cannot tell, and why."""
    return Answer("unknown", why)


def quiet(found: str) -> Answer:
    """Return the answer that nothing breaks the rule."""
    return Answer("quiet", found)


def not_asked(why: str) -> Answer:
    """Return the answer that the rule does not apply, and why."""
    return Answer("not asked", why)


def named_trials(names: Iterable[str]) -> str:
    """Return trials as a text: their number, and the first names."""
    every = list(names)
    return f"{plural(len(every), 'trial')}: {listed(every)}"


def set_aside(evidence: Evidence, rule: int | None = None) -> str:
    """Return, as the end of a sentence, the trials that broke a rule, or this one; "" if none."""
    told = [
        f"{record.trial} ({record.reason})"
        for record in evidence.invalid
        if rule is None or f"rule {rule}:" in str(record.reason)
    ]
    return f"; {plural(len(told), 'trial')} set aside: {listed(told)}" if told else ""


def failed_check(names: Iterable[str]) -> Answer:
    """Return the answer that a rule fired because its check failed in trials that count."""
    every = list(names)
    count = plural(len(every), "trial")
    return fired(f"a check failed in {count} that count: {listed(every)}")
