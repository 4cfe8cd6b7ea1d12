"""The ledger of a paper's claims: its parts, and tables with a row per claim and per part."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import pandas as pd

from fsgreen.analysis.claims import refusals
from fsgreen.analysis.claims.declared import Claims
from fsgreen.analysis.claims.directions import by_direction
from fsgreen.analysis.claims.selectors import selected
from fsgreen.analysis.claims.source import Numbers, Source
from fsgreen.claims import (
    OTHER_STATE,
    Part,
    by_construction,
    combine,
    labelled,
    missing,
    published_labelled,
    shown,
)
from fsgreen.reduce import write_table
from fsgreen.rules.verdicts import MEASURED
from fsgreen.stats import Estimate

VIRTUAL = "virtual"
"""The name of virtual time among kinds of testbeds."""

TESTABLE: Mapping[str, tuple[str, ...]] = {
    "loop": ("loop",),
    "block": ("real-disk",),
    "vm": ("vm",),
    "simdisk": ("simulation", "loop", "simdisk"),
    VIRTUAL: ("simulation",),
}
"""The words of `testable_on` that each kind of testbed meets. A simulated disk in real time has a
kernel above it, as a loop device has. Virtual time has a model of a kernel."""

SIMULATED = ("simdisk", "vm", VIRTUAL)
"""Testbeds whose disk or processor is a program: their results are called simulated."""

GATES = ("", "passed", "unknown", "flagged")
"""The states of a comparison in the gate of the confounds, the worst last."""

CLAIM_COLUMNS = (
    *("id", "slug", "section", "statement", "kind", "decisive", "verdict", "scope", "basis"),
    *("tested_count", "parts_count", "published", "ours", "n", "power_p", "gate"),
    *("testbed", "boundary", "needs", "notes", "caution", "states"),
)
PART_COLUMNS = (
    *("slug", "part", "detail", "verdict", "basis", "published", "ours", "unit"),
    *("band_low_x", "band_high_x", "side"),
    *("ours_x", "ours_low_x", "ours_high_x", "n", "degrees_count", "power_p"),
    *("gate", "boundary", "needs"),
)

SIDES: Mapping[Literal[-1, 0, 1], str] = {-1: "below", 0: "", 1: "above"}
"""The claimed side of 1, in words."""

Ledger = Mapping[str, Sequence[Part]]
"""The parts of every claim of a paper, by its slug."""

Check = Callable[[Any, Numbers], Iterable[Part]]
"""A function that returns parts that no selector can declare. It takes a source, or other printed
numbers of the paper, and the published numbers of the claim."""


def functions_of(module: Mapping[str, Any], asked: str) -> dict[str, Check]:
    """Return a module's public functions whose parameters are `asked` and `numbers`, by name.

    Their names are those of checks in `claims.yaml`, or slugs of claims that they recompute.
    """
    return {
        name.removeprefix("_"): function
        for name, function in module.items()
        if inspect.isfunction(function)
        and function.__module__ == module["__name__"]
        and [*inspect.signature(function).parameters] == [asked, "numbers"]
    }


def judge_claims(
    claims: Claims,
    sources: Mapping[str, Source],
    checks: Mapping[str, Check],
    recomputed: Mapping[str, Check],
    printed: Any = None,
) -> dict[str, list[Part]]:
    """Return the parts of every claim, by slug.

    A test on a source decides first. If none can, the paper's own numbers decide: `recomputed` has
    functions of `printed` by slug. A claim that neither decides is not testable here. A part is
    refused only if its refusal holds after a correction for all parts of its claim
    (`refusals.of_claim`). `sources` are by the kind of testbed; `checks` return by their name the
    parts that no selector can declare.
    """
    ledger = {}
    for slug, claim in claims.stated.items():
        parts = [
            on_testbed(part, claims, slug, testbed)
            for testbed, source in sources.items()
            for part in parts_of(claims, slug, source, checks)
        ]
        if claims.entries[slug].published and not any(part.tested for part in parts):
            parts = [part for part in parts if part.verdict == OTHER_STATE] + [
                replace(part, needs=claims.needs.get(part.needs, part.needs))
                for part in recomputed[slug](printed, claim["numbers"])
            ]
        untold = Part(claim["statement"], "not testable here", needs=claims.needed(slug))
        ledger[slug] = refusals.of_claim(parts or [untold])
    return ledger


def parts_of(claims: Claims, slug: str, source: Source, checks: Mapping[str, Check]) -> list[Part]:
    """Return the parts of a claim that its entry declares, on one source.

    A part of a check must be in the state of the claim: the cells that it names, or all cells.
    """
    entry, numbers = claims.entries[slug], claims.stated[slug]["numbers"]
    parts = selected(entry, numbers, source, claims.cells, claims.states)
    if entry.check is not None:
        asked = [claims.states[name] for name in entry.state]
        checked = checks[entry.check](source, numbers)
        parts += [source.in_state(part, asked, part.cells or None) for part in checked]
    return [by_construction(part) if entry.built else part for part in parts]


def on_testbed(part: Part, claims: Claims, slug: str, testbed: str) -> Part:
    """Return a part of a claim, reduced to what it counts for on a kind of testbed.

    Where the claim cannot be tested, the measurement is kept but decides nothing. On a simulated
    disk or in a virtual machine, it is simulated. Virtual time decides only directions.
    """
    testable_on = [*claims.stated[slug]["testable_on"], *claims.entries[slug].also_on]
    if not set(TESTABLE.get(testbed, ())) & set(testable_on):
        return _undecided(part, testable_on, claims.needed(slug))
    if testbed == VIRTUAL:
        part = replace(by_direction(part), virtual=True)
    if testbed in SIMULATED and part.basis == "measured":
        return replace(part, basis="simulated")
    return part


def write_ledger(
    campaign: str, claims: Claims, ledger: Ledger, testbed: str, boundary: str
) -> None:
    """Write `claims.csv` (a row per claim) and `claim_parts.csv`."""
    write_table(claims_table(claims, ledger, testbed, boundary), campaign, "claims")
    write_table(parts_table(ledger), campaign, "claim_parts")


def claims_table(claims: Claims, ledger: Ledger, testbed: str, boundary: str) -> pd.DataFrame:
    """Return a row per claim: verdict, basis, published numbers and ours, or the test's needs.

    The columns are `CLAIM_COLUMNS`. `testbed` is the one whose trials decide the claim. It is empty
    if none do: a verdict in virtual time is simulated, and is by no trial.
    """
    rows = []
    for slug, claim in claims.stated.items():
        parts = ledger[slug]
        verdict, whole = combine(parts)
        tested = [part for part in parts if part.tested]
        deciding = [part for part in tested if part.verdict != "by construction"]
        bases = [part.basis for part in deciding or tested if part.basis]
        basis = bases[0] if bases else ""
        by_trials = any(part.basis in MEASURED and not part.virtual for part in deciding)
        powers = [part.power for part in deciding if not math.isnan(part.power)]
        counts = [part.ours.n for part in tested if part.ours is not None]
        rows.append(
            {
                "id": claim["id"],
                "slug": slug,
                "section": str(claim["section"]),
                "statement": claim["statement"],
                "kind": claim["kind"],
                "decisive": bool(claim.get("decisive", False)),
                "verdict": verdict,
                "scope": "" if not deciding else "whole" if whole else "part",
                "basis": basis,
                "tested_count": len(tested),
                "parts_count": len(parts),
                "published": "; ".join(published_labelled((p.what, p.published) for p in tested)),
                "ours": _ours(tested),
                "n": min(counts) if counts and basis != "published" else None,
                "power_p": min(powers, default=math.nan),
                "gate": max((part.gate for part in tested), key=GATES.index, default=""),
                "testbed": testbed if by_trials else "",
                "boundary": boundary if any(part.boundary for part in tested) else "",
                "needs": missing(parts),
                "notes": claim.get("notes", ""),
                "caution": claims.entries[slug].caution,
                "states": ", ".join(claims.entries[slug].states),
            }
        )
    return pd.DataFrame(rows, columns=CLAIM_COLUMNS).astype({"n": "Int64"})


def parts_table(ledger: Ledger) -> pd.DataFrame:
    """Return a row per part: the published number, the band of agreement, ours with interval.

    The columns are `PART_COLUMNS`.
    """
    untested = Estimate.without_interval()
    rows = []
    for slug, parts in ledger.items():
        for part in parts:
            ours = part.ours or untested
            rows.append(
                {
                    "slug": slug,
                    "part": part.what,
                    "detail": part.detail,
                    "verdict": part.verdict,
                    "basis": part.basis or "",
                    "published": part.published,
                    "ours": shown(part) if part.tested else "",
                    "unit": part.unit if part.ours else "",
                    "band_low_x": part.band.low if part.band else math.nan,
                    "band_high_x": part.band.high if part.band else math.nan,
                    "side": SIDES[part.band.direction] if part.band else "",
                    "ours_x": ours.value,
                    "ours_low_x": ours.low,
                    "ours_high_x": ours.high,
                    "n": ours.n if part.ours else None,
                    "degrees_count": (ours.degrees or ours.n - 1) if ours.has_interval else None,
                    "power_p": part.power if part.tested else math.nan,
                    "gate": part.gate if part.tested else "",
                    "boundary": part.boundary,
                    "needs": missing([part]),
                }
            )
    return pd.DataFrame(rows, columns=PART_COLUMNS).astype({"n": "Int64"})


def _ours(parts: Sequence[Part]) -> str:
    """Return our numbers, each with the label of its part; a number alone after its source."""
    of_source: dict[str, list[tuple[str, str, str]]] = {}
    for part in parts:
        row = part.what, part.published, shown(part)
        of_source.setdefault(part.source, []).append(row)
    told = []
    for source, rows in of_source.items():
        lines = labelled(rows)
        told += [f"{source}: {lines[0]}"] if source and len(lines) == 1 else lines
    return "; ".join(told)


def _undecided(part: Part, testable_on: Iterable[str], texts: str) -> Part:
    """Return a part that keeps its measurement but decides nothing on this testbed."""
    where = " or ".join(place for place in testable_on if place != "published-data")
    testbed = f"a testbed of the kind {where}"
    needs = part.needs or (f"{testbed}; {texts}" if texts else testbed)
    return replace(part, verdict="not testable here", basis=None, needs=needs)
