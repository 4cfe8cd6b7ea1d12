"""The claims ledger: a published number, ours with its interval, and the verdict between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from fsgreen import paths, schema
from fsgreen.stats import Estimate

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

EVEN = 0.5
"""Chance of "reproduced", were the published number right, below which a part that was not decided
is underpowered (rule 46)."""

OTHER_STATE: Verdict = "not in the state of the claim"
UNTESTED: tuple[Verdict, ...] = (OTHER_STATE, "not testable here")
"""What is no verdict on what was claimed, and says what one would take."""

LACKING = "trials of cells that this campaign does not have: "
"""What stands before the cells that a test would take."""

MEASURED_TOLERANCE = 0.10
"""A measured ratio agrees within 10 % of the published one, on another machine and kernel, and
within half the published effect where that is less: no effect must not agree with a small one."""

PUBLISHED_TOLERANCE = 0.02
"""Printed numbers agree with each other within 2 %, or within their rounding if that is more: one
percentage point, or half a unit in the last printed place of a factor, but never less closely than
measured ones do: 4.5 is no 4."""

ORDER_OF_MAGNITUDE = math.sqrt(10)
"""A factor is of the order that is named when it is within half a decade of it."""

WORDS: Mapping[str, str] = {
    "order_of_magnitude": "about ",
    "at_least": "at least ",
    "greater_than": "above ",
    "at_most": "at most ",
    "less_than": "below ",
}
"""What stands before a number by how ours relates to it; nothing before one that is met."""


@dataclass(frozen=True)
class Band:
    """The ratios that count as agreement, and the side of 1 on which the claim is."""

    low: float
    high: float
    direction: Literal[-1, 0, 1]


ABOVE = Band(math.nextafter(1, math.inf), math.inf, 1)
"""One is above another, by the ratio of the two; an interval that begins at 1 does not show it."""


def about(value: float) -> Band:
    """Return the band of an absolute number: within the tolerance of measured ones."""
    return Band(value * (1 - MEASURED_TOLERANCE), value * (1 + MEASURED_TOLERANCE), 0)


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
    `cells` are those whose trials it rests on, where a comparison or a level of cells decides it.
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
    found: tuple[Found, ...] = ()
    power: float = math.nan
    cells: tuple[Mapping[str, Any], ...] = ()
    detail: str = ""

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


def band(number: Mapping[str, Any], basis: Basis, bound: float) -> Band:
    """Return the ratios that agree with a published number.

    Parameters
    ----------
    number : mapping
        An entry of `numbers` in the published claims.
    basis : str
        What ours rests on; it decides the tolerance.
    bound : float
        Relative difference within which two cells are equal, from the plan.
    """
    unit, op = unit_of(number), number["op"]
    value = as_ratio(number["value"], unit)
    if op == "order_of_magnitude":
        return Band(value / ORDER_OF_MAGNITUDE, value * ORDER_OF_MAGNITUDE, _side(value))
    if op == "indistinguishable" or value == 1:
        return Band(1 - bound, 1 / (1 - bound), 0)
    if op == "less_than" and unit == "change":
        return Band(1 - number["value"] / 100, value, 0)
    if op in ("greater_than", "at_least"):
        return Band(value, math.inf, _side(value))
    if op in ("less_than", "at_most"):
        return Band(0.0, value, _side(value))
    high = as_ratio(number.get("value_high", number["value"]), unit)
    margins = [_margin(ratio, number, basis) for ratio in (value, high)]
    return Band(value - margins[0], high + margins[1], _side(value))


def judge(ours: Estimate, target: Band) -> Verdict:
    """Return the verdict on a ratio (rule 44).

    reproduced: the interval is inside the band. direction only: it is wholly on the published side
    of 1 but not inside; the size is excluded if it is outside, else open. reversed: wholly on the
    other side. not reproduced: it excludes the band without showing a direction, or shows a
    difference where none was claimed. Otherwise, and without an interval, inconclusive.
    """
    if not ours.has_interval:
        return "inconclusive"
    if target.low <= ours.low and ours.high <= target.high:
        return "reproduced"
    apart = ours.high < target.low or ours.low > target.high
    if target.direction == 0:
        return "not reproduced" if apart else "inconclusive"
    side = 1 if ours.low > 1 else -1 if ours.high < 1 else 0
    if side == target.direction:
        return SIZE_EXCLUDED if apart else SIZE_OPEN
    if side == -target.direction and apart:
        return "reversed"
    return "not reproduced" if apart else "inconclusive"


def by_construction(part: Part) -> Part:
    """Return a part about what the experiment or its model was made to do.

    That it does is no evidence; that it does not is.
    """
    if part.verdict not in AGREES:
        return part
    return replace(part, verdict="by construction", basis="by construction")


def combine(parts: Sequence[Part]) -> tuple[Verdict, bool]:
    """Return the verdict on a claim and whether all of its parts were tested.

    All parts must hold; a part that could not be tested, or holds by construction, neither helps
    nor harms the verdict, but leaves the claim tested in part only.
    """
    tested = [part.verdict for part in parts if part.tested and part.verdict != "by construction"]
    whole = len(tested) == len(parts)
    if not tested:
        kinds: tuple[Verdict, ...] = ("by construction", OTHER_STATE)
        found = {part.verdict for part in parts}
        return next((kind for kind in kinds if kind in found), "not testable here"), False
    if set(tested) == {"reversed"}:
        return "reversed", whole
    if {"reversed", "not reproduced"} & set(tested):
        return "not reproduced", whole
    mildest_last: tuple[Verdict, ...] = ("inconclusive", "underpowered", SIZE_EXCLUDED, SIZE_OPEN)
    return next((verdict for verdict in mildest_last if verdict in tested), "reproduced"), whole


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
    lacks = list(dict.fromkeys(cell for part in parts for cell in part.lacks))
    if lacks:
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


def _side(ratio: float) -> Literal[-1, 0, 1]:
    return 1 if ratio > 1 else -1 if ratio < 1 else 0


def _margin(ratio: float, number: Mapping[str, Any], basis: Basis) -> float:
    measured = min(MEASURED_TOLERANCE * ratio, abs(ratio - 1) / 2)
    if basis != "published":
        return measured
    places = len(f"{number['value']:g}".partition(".")[2])
    rounding = 0.01 if unit_of(number) == "change" else 0.5 * 10.0**-places
    return min(max(PUBLISHED_TOLERANCE * ratio, rounding), measured)
