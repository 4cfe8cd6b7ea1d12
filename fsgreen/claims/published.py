"""The published claims: what they say, and their numbers as people write them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from fsgreen import paths, schema

WORDS: Mapping[str, str] = {
    "order_of_magnitude": "about ",
    "at_least": "at least ",
    "greater_than": "above ",
    "at_most": "at most ",
    "less_than": "below ",
}
"""What stands before a number by how ours relates to it; nothing before one that is met."""


def load_claims(paper: str) -> dict[str, dict[str, Any]]:
    """Return the published claims of a paper by slug, in their order."""
    claims = _published((paths.reference() / "claims.yaml").read_text())
    return {claim["slug"]: deepcopy(claim) for claim in claims if claim["paper"] == paper}


@lru_cache(maxsize=1)
def _published(text: str) -> list[dict[str, Any]]:
    """Return the claims of all papers; to read them takes longer than what is done with them."""
    claims: list[dict[str, Any]] = schema.plain(text)["claims"]
    return claims


def own_file(study: str, name: str = "claims") -> Path:
    """Return where a study of one's own states its claims, or names what their tests need."""
    return paths.root() / "studies" / study / f"{name}.yaml"


def statements(study: str) -> dict[str, str]:
    """Return what a study's claims say, by slug: those of its paper, else those that it states."""
    published, own = load_claims(study), own_file(study)
    if published or not own.is_file():
        return {slug: str(claim["statement"]) for slug, claim in published.items()}
    document = schema.read(own, "file of claims", "docs/claims.md has their keys")
    entries = document.as_(dict[str, Any])
    return {
        slug: str(entry.get("statement", "")) if isinstance(entry, Mapping) else ""
        for slug, entry in entries.items()
    }


def unit_of(number: Mapping[str, Any]) -> Literal["x", "change"]:
    """Return whether a published number is a factor or a change in per cent."""
    return "change" if str(number.get("unit", "")).startswith("percent") else "x"


def as_ratio(value: float, unit: str) -> float:
    """Return a change in per cent, or a factor, as a ratio."""
    return 1 + value / 100 if unit == "change" else value


def written(number: Mapping[str, Any]) -> str:
    """Return a published number as people write it."""
    op, value = number.get("op", ""), number.get("value")
    unit, sign = (" %", "+") if unit_of(number) == "change" else ("x", "")
    if op == "indistinguishable" or (sign and value == 0):
        return "no difference"
    if op == "less_than" and sign:
        return f"less than {value:g}{unit} apart"
    values = [f"{number[key]:{sign}g}" for key in ("value", "value_high") if key in number]
    return WORDS.get(op, "") + " to ".join(values) + unit
