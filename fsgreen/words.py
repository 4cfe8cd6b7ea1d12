"""Numbers of things, as sentences have them."""

from __future__ import annotations


def plural(count: int | str, noun: str) -> str:
    """Return a number of things in words: `1 trial`, `2 trials`, `5 to 10 blocks`."""
    return f"{count} {noun}" if str(count) == "1" else f"{count} {noun}s"
