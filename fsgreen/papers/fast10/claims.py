"""The ledger of the 99 claims of fast10: each with a verdict, or what a test would need."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from fsgreen import paths
from fsgreen.claims import Part, combine, load_claims, missing, shown
from fsgreen.papers.fast10.measured import Bench, test
from fsgreen.papers.fast10.published import RECOMPUTED
from fsgreen.papers.fast10.reference import Printed
from fsgreen.reduce import read_plan, read_table, write_table
from fsgreen.stats import Estimate
from fsgreen.trial import Trial, list_trials

PAPER = "fast10"
TESTABLE = {"loop": "loop", "block": "real-disk", "vm": "vm", "simdisk": "simulation"}
"""The testbeds by the names that `testable_on` of the published claims uses."""


def write(campaign: str) -> Path:
    """Write `claims.csv` (a row per claim) and `claim_parts.csv`; return their folder."""
    identity = json.loads((paths.raw(campaign) / "campaign.json").read_text())
    bench = Bench(
        read_table(campaign, "trials"),
        read_table(campaign, "cells"),
        read_plan(campaign).bounds,
        str(identity["boundary"]),
        declared("needs"),
        geometry_table(list_trials(paths.raw(campaign))),
    )
    testbed = str(identity["testbed"]["kind"])
    ledger = judge_all(bench, testbed, Printed.load())
    write_table(claims_table(ledger, testbed, bench.boundary), campaign, "claims")
    write_table(parts_table(ledger), campaign, "claim_parts")
    return paths.results(campaign)


def geometry_table(records: Iterable[Trial]) -> pd.DataFrame:
    """Return a row per trial: file system, option, and what mkfs made, as it was read back."""
    return pd.DataFrame(
        [
            {
                "file_system": trial.record["cell"]["file_system"],
                "option": trial.record["cell"]["option"],
                **(trial.record["mount"].get("geometry") or {}),
            }
            for trial in records
        ]
    )


def declared(name: str) -> dict[str, Any]:
    """Return one of the declarations that lie beside this file: `claims` or `needs`."""
    return dict(yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text()))


def judge_all(bench: Bench, testbed: str, printed: Printed) -> dict[str, list[Part]]:
    """Return the parts of every claim, by slug.

    A measurement decides where the claim can be tested on such a testbed, else fast10's own
    numbers where they can; what neither decides is not testable here.
    """
    tests = declared("claims")
    ledger = {}
    for slug, claim in load_claims(PAPER).items():
        entry, numbers = tests[slug], claim["numbers"]
        texts = "; ".join(bench.needs[name] for name in entry.get("needs", ()))
        parts = test(entry, numbers, bench)
        if TESTABLE.get(testbed) not in claim["testable_on"]:
            parts = [_undecided(part, claim, texts) for part in parts]
        if entry.get("published") and not any(part.tested for part in parts):
            parts = [
                replace(part, needs=bench.needs.get(part.needs, part.needs))
                for part in RECOMPUTED[slug](printed, numbers)
            ]
        ledger[slug] = parts or [Part(claim["statement"], "not testable here", needs=texts)]
    return ledger


def claims_table(ledger: Mapping[str, Sequence[Part]], testbed: str, boundary: str) -> pd.DataFrame:
    """Return a row per claim: verdict, basis, published and ours, or what a test needs."""
    rows = []
    for slug, claim in load_claims(PAPER).items():
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
                "published": "; ".join(_once(part.published for part in tested)),
                "ours": "; ".join(shown(part) for part in tested),
                "n": min(counts) if counts and basis == "measured" else None,
                "testbed": testbed if basis == "measured" else "",
                "boundary": boundary if any(part.boundary for part in tested) else "",
                "needs": missing(parts),
                "notes": claim.get("notes", ""),
            }
        )
    return pd.DataFrame(rows).astype({"n": "Int64"})


def parts_table(ledger: Mapping[str, Sequence[Part]]) -> pd.DataFrame:
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
                    "boundary": part.boundary,
                    "needs": missing([part]),
                }
            )
    return pd.DataFrame(rows).astype({"n": "Int64"})


def _once(texts: Iterable[str]) -> list[str]:
    """Return the texts, or the one that all of them are."""
    every = list(texts)
    return every[:1] if len(set(every)) == 1 else every


def _undecided(part: Part, claim: Mapping[str, Any], texts: str) -> Part:
    """Return a part whose measurement may be looked at, but decides nothing on this testbed."""
    where = " or ".join(place for place in claim["testable_on"] if place != "published-data")
    testbed = f"a testbed of the kind {where}"
    needs = part.needs or (f"{testbed}; {texts}" if texts else testbed)
    return replace(part, verdict="not testable here", basis=None, needs=needs)
