"""The ledger of a paper's claims as tables: a row per claim, and a row per tested number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from fsgreen.claims import Part, combine, load_claims, missing, shown
from fsgreen.reduce import write_table
from fsgreen.stats import Estimate

VIRTUAL = "virtual"
"""Where virtual time stands among testbeds."""

TESTABLE: Mapping[str, tuple[str, ...]] = {
    "loop": ("loop",),
    "block": ("real-disk",),
    "vm": ("vm",),
    "simdisk": ("simulation", "loop", "simdisk"),
    VIRTUAL: ("simulation",),
}
"""What each testbed is to `testable_on` of the published claims: a simulated disk in real time has
a kernel above it, as an image behind a loop device has. Virtual time has a model of one."""

SIMULATED = ("simdisk", VIRTUAL)

GATES = ("", "passed", "unknown", "flagged")
"""What the gate of the confounds can say of a comparison, the worst last."""

Ledger = Mapping[str, Sequence[Part]]
"""The parts of every claim of a paper, by its slug."""


def declared(paper: str, name: str) -> dict[str, Any]:
    """Return one of the declarations in the room of a paper: `claims` or `needs`."""
    file = Path(__file__).parents[1] / "papers" / paper / f"{name}.yaml"
    return dict(yaml.safe_load(file.read_text()))


def judge_claims(
    paper: str,
    needs: Mapping[str, str],
    test: Callable[[Mapping[str, Any], Mapping[str, Any]], list[Part]],
    recompute: Callable[[str, Sequence[Mapping[str, Any]]], Iterable[Part]],
) -> dict[str, list[Part]]:
    """Return the parts of every claim, by slug.

    A test decides where it can, else the paper's own numbers; what neither decides is not testable
    here.

    Parameters
    ----------
    paper : str
        Its short name; how each claim is tested is declared in `claims.yaml` of its room.
    needs : mapping
        Texts for what is missing, by name.
    test : callable
        Gives the parts of a claim from its declared test and the claim itself.
    recompute : callable
        Gives the parts of a claim from its slug and its published numbers.
    """
    tests = declared(paper, "claims")
    ledger = {}
    for slug, claim in load_claims(paper).items():
        entry = tests[slug]
        parts = test(entry, claim)
        if entry.get("published") and not any(part.tested for part in parts):
            parts = [
                replace(part, needs=needs.get(part.needs, part.needs))
                for part in recompute(slug, claim["numbers"])
            ]
        texts = needed(entry, needs)
        ledger[slug] = parts or [Part(claim["statement"], "not testable here", needs=texts)]
    return ledger


def needed(entry: Mapping[str, Any], needs: Mapping[str, str]) -> str:
    """Return the texts for what a declared test would take."""
    return "; ".join(needs[name] for name in entry.get("needs", ()))


def on_testbed(part: Part, claim: Mapping[str, Any], testbed: str, texts: str) -> Part:
    """Return a part as what it counts for on a kind of testbed.

    A measurement may be looked at, but decides nothing, where the claim cannot be tested; on a
    simulated disk it is simulated.
    """
    if not set(TESTABLE.get(testbed, ())) & set(claim["testable_on"]):
        return _undecided(part, claim, texts)
    if testbed in SIMULATED and part.basis == "measured":
        return replace(part, basis="simulated")
    return part


def write_ledger(campaign: str, paper: str, ledger: Ledger, testbed: str, boundary: str) -> None:
    """Write `claims.csv` (a row per claim) and `claim_parts.csv`."""
    write_table(claims_table(paper, ledger, testbed, boundary), campaign, "claims")
    write_table(parts_table(ledger), campaign, "claim_parts")


def claims_table(paper: str, ledger: Ledger, testbed: str, boundary: str) -> pd.DataFrame:
    """Return a row per claim: verdict, basis, published and ours, or what a test needs."""
    rows, tests = [], declared(paper, "claims")
    for slug, claim in load_claims(paper).items():
        parts = ledger[slug]
        verdict, whole = combine(parts)
        tested = [part for part in parts if part.tested]
        bases = [part.basis for part in tested if part.basis]
        basis = bases[0] if bases else ""
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
                "scope": "" if not tested else "whole" if whole else "part",
                "basis": basis,
                "tested_count": len(tested),
                "parts_count": len(parts),
                "published": _published(tested),
                "ours": _ours(tested),
                "n": min(counts) if counts and basis != "published" else None,
                "gate": max((part.gate for part in tested), key=GATES.index, default=""),
                "testbed": testbed if basis in ("measured", "simulated") else "",
                "boundary": boundary if any(part.boundary for part in tested) else "",
                "needs": missing(parts),
                "notes": claim.get("notes", ""),
                "caution": tests[slug].get("caution", ""),
            }
        )
    return pd.DataFrame(rows).astype({"n": "Int64"})


def parts_table(ledger: Ledger) -> pd.DataFrame:
    """Return a row per tested number: published, the band of agreement, ours with interval."""
    nan = Estimate(float("nan"), float("nan"), float("nan"), 0)
    rows = []
    for slug, parts in ledger.items():
        for part in parts:
            ours = part.ours or nan
            rows.append(
                {
                    "slug": slug,
                    "part": part.what,
                    "verdict": part.verdict,
                    "basis": part.basis or "",
                    "published": part.published,
                    "ours": shown(part) if part.tested else "",
                    "band_low_x": part.band.low if part.band else float("nan"),
                    "band_high_x": part.band.high if part.band else float("nan"),
                    "ours_x": ours.value,
                    "ours_low_x": ours.low,
                    "ours_high_x": ours.high,
                    "n": ours.n if part.ours else None,
                    "gate": part.gate if part.tested else "",
                    "boundary": part.boundary,
                    "needs": missing([part]),
                }
            )
    return pd.DataFrame(rows).astype({"n": "Int64"})


def _once(texts: Iterable[str]) -> list[str]:
    """Return the texts, or the one that all of them are."""
    every = list(texts)
    return every[:1] if len(set(every)) == 1 else every


def _published(parts: Sequence[Part]) -> str:
    """Return the published numbers, once where several sources are held against the same."""
    if not any(part.source for part in parts):
        return "; ".join(_once(part.published for part in parts))
    return "; ".join(dict.fromkeys(part.published for part in parts))


def _ours(parts: Sequence[Part]) -> str:
    """Return our numbers, those of each source behind its name."""
    texts: dict[str, list[str]] = {}
    for part in parts:
        texts.setdefault(part.source, []).append(shown(part))
    return "; ".join(
        f"{source}: {', '.join(_once(of))}" if source else "; ".join(of)
        for source, of in texts.items()
    )


def _undecided(part: Part, claim: Mapping[str, Any], texts: str) -> Part:
    """Return a part whose measurement may be looked at, but decides nothing on this testbed."""
    where = " or ".join(place for place in claim["testable_on"] if place != "published-data")
    testbed = f"a testbed of the kind {where}"
    needs = part.needs or (f"{testbed}; {texts}" if texts else testbed)
    return replace(part, verdict="not testable here", basis=None, needs=needs)
