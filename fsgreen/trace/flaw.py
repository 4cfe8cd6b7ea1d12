"""What a flaw is, and which rule each flag of a reading breaks."""

from __future__ import annotations

from dataclasses import dataclass

REMARKS = frozenset({"ok", "retimed", "wrapped", "stale"})
"""Marks of a reading that leave it valid."""

TIMING_FLAGS = frozenset({"lost", "out-of-order"})
"""Flags that break rule 13."""

IDENTITY_FLAGS = frozenset({"power-cycled", "inconsistent", "reset"})
"""Flags that break rule 21; every other flag breaks rule 14."""


@dataclass(frozen=True)
class Flaw:
    """One rule of `statistics.md` that a trace breaks, the flaw's name, and what was seen."""

    rule: int
    name: str
    detail: str


def rule_of(flag: str) -> int:
    """Return the rule that a flag of a reading breaks."""
    if flag in TIMING_FLAGS:
        return 13
    return 21 if flag in IDENTITY_FLAGS else 14
