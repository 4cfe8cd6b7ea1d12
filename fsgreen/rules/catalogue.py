"""The rules as data: what each asks, who asked for it, and what follows when it fires."""

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
"""How the harness keeps a rule."""


@dataclass(frozen=True)
class Rule:
    """One rule for honest numbers.

    Attributes
    ----------
    number : int
        1 to 52, the same in code, records and text.
    group, mode : str
        The heading that it stands under, and a key of `MODES`.
    name, text, question : str
        In a few words; whole; and as a question to which "yes" is good.
    sources : tuple of str
        Keys of `sources()`.
    where : tuple of str
        Files and folders below `fsgreen/` that enforce or compute it.
    consequence : str
        What its firing means for a reader.
    remedy : str
        What to do then; it may hold `{campaign}`, `{study}` and `{profile}`.
    """

    number: int
    group: str
    mode: str
    name: str
    sources: tuple[str, ...]
    text: str
    question: str
    where: tuple[str, ...]
    consequence: str
    remedy: str


def rule(number: int) -> Rule:
    """Return the rule of that number.

    Raises
    ------
    FsgreenError
        If there is none.
    """
    known = rules().get(number)
    if known is None:
        raise FsgreenError(
            f"there is no rule {number}: they are numbered 1 to {len(rules())}",
            next_step="fsgreen rules",
        )
    return known


@cache
def rules() -> Mapping[int, Rule]:
    """Return all rules by number, in their order."""
    return {
        entry["number"]: Rule(
            **{**entry, "sources": tuple(entry["sources"]), "where": tuple(entry["where"])}
        )
        for entry in _catalogue()["rules"]
    }


@cache
def sources() -> Mapping[str, str]:
    """Return what the short names of sources stand for."""
    return dict(_catalogue()["sources"])


@cache
def _catalogue() -> dict[str, Any]:
    file = Path(__file__).with_name("catalogue.yaml")
    return dict(schema.plain(file.read_text()))
