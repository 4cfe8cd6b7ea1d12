"""The rules as data: what each demands, its sources, and what follows when it fires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fsgreen import schema
from fsgreen.errors import FsgreenError

MODES = {
    "E": "enforced: what breaks it is refused or does not count",
    "A": "computed and printed with every result",
    "W": "warned about",
}
"""The ways in which the harness applies a rule, by letter."""


@dataclass(frozen=True)
class Rule:
    """One rule for honest numbers."""

    number: int
    """1 to 52. It is the same in code, records and texts."""
    group: str
    mode: str
    """The heading of its group, and a key of `MODES`."""
    name: str
    sources: tuple[str, ...]
    """Keys of `sources()`."""
    text: str
    question: str
    """The rule in a few words (`name`), in full (`text`), and as a question to which "yes" is the
    good answer."""
    where: tuple[str, ...]
    """Files and folders below `fsgreen/` that enforce or compute the rule."""
    consequence: str
    """What it means for a reader that the rule fired."""
    remedy: str
    """What to do then. It may hold the placeholders of `remedies.ANY`, for example `{campaign}`."""


def rule(number: int) -> Rule:
    """Return the rule with this number. Raises FsgreenError if there is no such rule."""
    known = rules().get(number)
    if known is None:
        raise FsgreenError(
            f"there is no rule {number}: they are numbered 1 to {len(rules())}",
            next_step="fsgreen rules",
        )
    return known


@cache
def rules() -> Mapping[int, Rule]:
    """Return all rules by number, in order of their numbers."""
    return {
        entry["number"]: Rule(
            **{**entry, "sources": tuple(entry["sources"]), "where": tuple(entry["where"])}
        )
        for entry in _catalogue()["rules"]
    }


@cache
def sources() -> Mapping[str, str]:
    """Return the full reference of each source by its short name."""
    return dict(_catalogue()["sources"])


@cache
def _catalogue() -> dict[str, Any]:
    file = Path(__file__).with_name("catalogue.yaml")
    return dict(schema.plain(file.read_text()))
