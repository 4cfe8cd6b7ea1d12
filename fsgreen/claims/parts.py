"""The parts of a claim: one number each, what became of it, and what it lacks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from fsgreen.claims.bands import Band, judge
from fsgreen.claims.verdicts import (
    OTHER_STATE,
    REFUSED,
    SIZE_EXCLUDED,
    SIZE_OPEN,
    UNDECIDED,
    UNTESTED,
    Basis,
    Verdict,
    undecided,
)

if TYPE_CHECKING:
    from fsgreen.stats import Estimate

LACKING = "trials of cells that this campaign does not have: "
"""What stands before the cells that a test would take."""


@dataclass(frozen=True)
class Found:
    """What was found of trials that were not in the state which a claim is about (rule 45).

    `says` is that state in words and `way` how to get there; `wanted` is what the column of
    `trials.csv` should have held, where it held `low` to `high`; NaN where nothing was recorded.
    """

    says: str
    way: str
    column: str
    wanted: str
    low: float
    high: float


@dataclass(frozen=True)
class Part:
    """One number of a claim and what became of it.

    `what` is the same in every campaign; what hangs on the outcome is `detail`: which of several
    cells were the worst or the nearest, or how many of how many. `published` is the paper's number
    as people write it; `ours` has an interval, or is a single number where it is recomputed. `unit`
    says how to write it: a factor "x", a "change", a "share" or a plain number "". `lacks` lists
    cells without trials, `needs` whatever else is missing.
    `gate` is what the gate of the confounds says of a comparison: passed, flagged or unknown.
    `power` is the probability of "reproduced" if the published number were right (rule 46).
    `found` is in which other state the trials were.
    `source` says what it was found in where that is not one campaign: real or virtual time, a file.
    `virtual` says whether a model decides it in virtual time, without a trial.
    `cells` are those whose trials it rests on, where a comparison or a level of cells decides it.
    `among` says of how many it is the worst, `built` whether the experiment was made to show it.
    """

    what: str
    verdict: Verdict
    basis: Basis | None = None
    published: str = ""
    band: Band | None = None
    ours: Estimate | None = None
    unit: Literal["x", "change", "share", ""] = "x"
    boundary: str = ""
    lacks: tuple[str, ...] = ()
    needs: str = ""
    gate: str = ""
    source: str = ""
    virtual: bool = False
    found: tuple[Found, ...] = ()
    power: float = math.nan
    cells: tuple[Mapping[str, Any], ...] = ()
    detail: str = ""
    among: int = 1
    built: bool = False

    @classmethod
    def judged(
        cls, what: str, ours: Estimate, target: Band, published: str, basis: Basis, **fields: Any
    ) -> Part:
        """Return the part of a number that was found, with its verdict; `fields` are others."""
        return cls(what, judge(ours, target), basis, published, target, ours, **fields)

    @property
    def tested(self) -> bool:
        """Return whether there is a verdict on it."""
        return self.verdict not in UNTESTED


def by_construction(part: Part) -> Part:
    """Return a part about what the experiment or its model was made to do.

    That it does is no evidence; that it does not, or not by as much, is. So trials decide only
    against it: too few of them leave it as it was made, unless their number is outside the band,
    where more of them might refuse it. An inconclusive part stays so, as its trials should have
    shown what was made.
    """
    as_made = part.verdict in ("reproduced", SIZE_OPEN)
    if not as_made and not (part.verdict == "underpowered" and _in_its_band(part)):
        return replace(part, built=True)
    return replace(part, verdict="by construction", basis="by construction", built=True)


def _in_its_band(part: Part) -> bool:
    """Return whether our number itself agrees, whatever its interval."""
    ours, target = part.ours, part.band
    return ours is not None and target is not None and target.low <= ours.value <= target.high


def combine(parts: Sequence[Part]) -> tuple[Verdict, bool]:
    """Return the verdict on a claim and whether all of its parts were tested.

    All parts must hold; a part that could not be tested, or holds by construction, neither helps
    nor harms the verdict, but leaves the claim tested in part only. A claim has no more power than
    its weakest part, so one that is not decided is underpowered if one of its parts has little.
    """
    deciding = [part for part in parts if part.tested and part.verdict != "by construction"]
    tested = [part.verdict for part in deciding]
    whole = len(tested) == len(parts)
    if not tested:
        kinds: tuple[Verdict, ...] = ("by construction", OTHER_STATE)
        verdicts = {part.verdict for part in parts}
        return next((kind for kind in kinds if kind in verdicts), "not testable here"), False
    if set(tested) == {"reversed"}:
        return "reversed", whole
    if {*REFUSED} & set(tested):
        return "not reproduced", whole
    weakest_first: tuple[Verdict, ...] = (*UNDECIDED, SIZE_EXCLUDED, SIZE_OPEN)
    verdict: Verdict = next((word for word in weakest_first if word in tested), "reproduced")
    if verdict == "inconclusive":
        powers = (part.power for part in deciding if not math.isnan(part.power))
        verdict = undecided(min(powers, default=math.nan))
    return verdict, whole


def shown(part: Part) -> str:
    """Return our number as people write it, with its interval where it has one."""
    if part.ours is None:
        return part.what
    ours = part.ours
    low, value, high = (_text(x, part.unit) for x in (ours.low, ours.value, ours.high))
    unit = {"x": "x", "change": " %", "share": " %", "": ""}[part.unit]
    interval = f" [{low}, {high}]" if ours.has_interval and ours.low < ours.high else ""
    return f"{value}{unit}{interval}"


def missing(parts: Sequence[Part]) -> str:
    """Return everything that the untested parts of a claim would need, each thing once."""
    needs = [*_states(parts), *dict.fromkeys(part.needs for part in parts if part.needs)]
    if lacks := list(dict.fromkeys(cell for part in parts for cell in part.lacks)):
        needs.append(f"{LACKING}{', '.join(lacks)}")
    return "; ".join(needs)


def _states(parts: Sequence[Part]) -> Iterator[str]:
    """Yield each state that is needed, with what was found in its place, and the way there."""
    every = [found for part in parts for found in part.found]
    for says, way in dict.fromkeys((found.says, found.way) for found in every):
        of_state = [found for found in every if (found.says, found.way) == (says, way)]
        told = []
        for column, wanted in dict.fromkeys((found.column, found.wanted) for found in of_state):
            ends = [end for f in of_state if f.column == column for end in (f.low, f.high)]
            known = [end for end in ends if math.isfinite(end)]
            span = [_number(end) for end in (min(known), max(known))] if known else ["not recorded"]
            was = " to ".join(dict.fromkeys(span))
            told.append(f"{column} was {was}, not {wanted}")
        yield f"{says} ({', '.join(told)}): {way}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _text(value: float, unit: str) -> str:
    if unit == "change":
        return f"{100 * (value - 1):+.3g}"
    return _number(100 * value if unit == "share" else value)
