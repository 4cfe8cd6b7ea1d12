"""The verdicts on a published number or claim, and the kinds of evidence that they rest on."""

from __future__ import annotations

from typing import Literal, get_args

Verdict = Literal[
    "reproduced",
    "direction only, size open",
    "direction only, size excluded",
    "not reproduced",
    "reversed",
    "inconclusive",
    "underpowered",
    "by construction",
    "not in the state of the claim",
    "not testable here",
]
Basis = Literal["measured", "simulated", "by construction", "published"]
"""Kinds of evidence, which are never added up (rule 50): `published` is recomputed from print."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

SIZE_OPEN: Verdict = "direction only, size open"
SIZE_EXCLUDED: Verdict = "direction only, size excluded"
AGREES: tuple[Verdict, ...] = ("reproduced", SIZE_OPEN, SIZE_EXCLUDED)
"""What is on the published side, at least."""

REFUSED: tuple[Verdict, ...] = ("reversed", "not reproduced")
"""What says that a number is another than was claimed."""

UNDECIDED: tuple[Verdict, ...] = ("underpowered", "inconclusive")
"""What trials left open, with little power and with enough."""

EVEN = 0.5
"""Chance of "reproduced", were the published number right, below which a part that was not decided
is underpowered (rule 46)."""

OTHER_STATE: Verdict = "not in the state of the claim"
UNTESTED: tuple[Verdict, ...] = (OTHER_STATE, "not testable here")
"""What is no verdict on what was claimed, and says what one would take."""

DISAGREE = "campaigns disagree"
"""What is said in place of a verdict where campaigns differ by more than their intervals."""


def undecided(power: float) -> Verdict:
    """Return the verdict on what was not decided, by its power; NaN if that is not known."""
    return "underpowered" if power < EVEN else "inconclusive"
