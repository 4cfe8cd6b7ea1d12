"""The numbers that every report gives of its campaign: verdicts, trust, setup, what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

import pandas as pd

from fsgreen import confounds, rules
from fsgreen.analysis.cells import ended_from
from fsgreen.analysis.claims.assay import ENOUGH
from fsgreen.analysis.discarded import both_ways
from fsgreen.analysis.interactions import drawable
from fsgreen.analysis.intervals import intervals
from fsgreen.analysis.setaside import set_aside
from fsgreen.analysis.setup import setup, simulated_disks
from fsgreen.analysis.todo import to_do
from fsgreen.claims import EVEN, MEASURED_TOLERANCE, PUBLISHED_TOLERANCE, UNTESTED, VERDICTS, Basis
from fsgreen.design import Plan, Study
from fsgreen.design.overview import left_out
from fsgreen.reduce import due_trials, read_identity, read_plan, read_study, read_table
from fsgreen.rules import repeated

MEANING = {
    "reproduced": "our interval lies inside the tolerance around the published value",
    "direction only, size open": "the same direction; the interval is too wide to tell the size",
    "direction only, size excluded": "the same direction, and another size",
    "not reproduced": "our interval excludes the published value, of a part at least",
    "reversed": "our interval lies in the opposite direction",
    "inconclusive": "the interval decides neither, or a cell has no steady state",
    "underpowered": "not decided, and it seldom could be, even if the published number is right",
    "by construction": "the experiment or its model was made so: it is no evidence",
    "not in the state of the claim": "the trials were in another state than the one it is about",
    "not testable here": "it takes something that this campaign does not have",
}


BASES = get_args(Basis)


def campaign_numbers(campaign: str, paper: Mapping[str, str]) -> dict[str, Any]:
    """Return the values that the reports of all studies show, ready to be written as JSON.

    `paper` describes what the report is about. It has at least a `title`.
    """
    plan = read_plan(campaign)
    identity = read_identity(campaign)
    trials, cells, effects = (read_table(campaign, name) for name in ("trials", "cells", "effects"))
    claims, combined = read_table(campaign, "claims"), read_table(campaign, "interactions")
    return {
        "campaign": campaign,
        "paper": paper,
        "boundary": identity["boundary"],
        "simulated_disk": " and ".join(simulated_disks(identity, cells)) or None,
        "testbed": identity["testbed"]["kind"],
        "setup": setup(campaign, plan, identity, trials, cells),
        "verdicts": _verdicts(claims),
        "claims": {
            "total": len(claims),
            "tested": int((~claims["verdict"].isin(UNTESTED)).sum()),
            **{basis: int((claims["basis"] == basis).sum()) for basis in BASES},
            "decidable": int((claims["power_p"] >= ENOUGH).sum()),
            "with_power": int(claims["power_p"].notna().sum()),
            "enough": f"{ENOUGH:g}",
            "even": f"{EVEN:g}",
            "part": int((claims["scope"] == "part").sum()),
        },
        "tolerance": {
            "measured": f"{MEASURED_TOLERANCE:.0%}".replace("%", " %"),
            "published": f"{PUBLISHED_TOLERANCE:.0%}".replace("%", " %"),
            "equivalence": f"{plan.bounds['equivalence_percent']:g} %"
            if "equivalence_percent" in plan.bounds
            else None,
        },
        "trials": {
            "whole": len(trials),
            "planned": len(due_trials(plan, trials)),
            "cells": len(cells),
            "on_target": int(cells["target_met"].sum()),
            "target": f"{plan.bounds['ci_half_width_percent']:g} %",
            "enough": bool(cells["enough"].all()),
            "least": int(cells["n"].min()),
            "minimum": f"{plan.bounds['minimum_trials']:g}",
        },
        "intervals": intervals(cells, effects, combined, least_n=ended_from(plan, trials)),
        "interactions": list(_interaction_plots(combined)),
        "discarded": both_ways(repeated.once(effects), plan.constants),
        "set_aside": set_aside(campaign),
        "gate": confounds.sentence(repeated.once(effects)),
        "repeated": repeated.numbers(effects),
        "trust": trust(campaign),
        "to_do": to_do(claims),
        "not_run": _not_run(plan, read_study(campaign), trials),
    }


def report_numbers(
    campaign: str, paper: Mapping[str, str], captions: Mapping[str, str]
) -> dict[str, Any]:
    """Return `campaign_numbers`, the captions of the paper's figures, and `probed`.

    `captions` has the caption of each figure by its name.
    """
    return {
        **campaign_numbers(campaign, paper),
        "figures": captioned(captions),
        "probed": probed(campaign),
    }


def captioned(captions: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the file and the caption of each figure."""
    return [{"file": f"{name}.svg", "caption": text} for name, text in captions.items()]


def probed(campaign: str) -> bool:
    """Return whether the bare testbed was probed: whether a curve of it exists."""
    return any(not curve.empty for curve in confounds.read_probes(campaign).values())


def _interaction_plots(table: pd.DataFrame) -> Iterator[dict[str, str]]:
    """Yield the file and the caption of each plot of throughput."""
    for name, pairs in drawable(table, "", "throughput").items():
        if len(pairs):
            where = " on ".join(pairs[["workload", "file_system"]].iloc[0])
            caption = (
                f"Pairs of options, {where}. The dashed line ends where both would be if their "
                "changes multiplied, the solid one where they are."
            )
            yield {"file": f"{name}.svg", "caption": caption}


def trust(campaign: str) -> dict[str, Any]:
    """Return every rule with its state. Those that a reader must know of come first."""
    table = rules.by_state(rules.read(campaign))
    names = {number: rule.name for number, rule in rules.rules().items()}
    counts = rules.counts(table)
    return {
        "rules": len(table),
        "states": [
            {"state": state, "count": counts[state], "meaning": meaning}
            for state, meaning in rules.STATES.items()
        ],
        "modes": [{"mode": mode, "meaning": meaning} for mode, meaning in rules.MODES.items()],
        "command": f"fsgreen rules --campaign {campaign}",
        "rows": table.assign(name=table["rule"].map(names)).to_dict("records"),
    }


def _verdicts(claims: pd.DataFrame) -> list[dict[str, Any]]:
    """Return how many claims have each verdict, by basis. Counts of bases are never added up."""
    kinds = claims["basis"].fillna("")
    return [
        {
            "verdict": verdict,
            "counts": [int((kinds[of] == kind).sum()) for kind in (*BASES, "")],
            "part": int((of & (claims["scope"] == "part")).sum()),
            "meaning": MEANING[verdict],
        }
        for verdict, of in ((verdict, claims["verdict"] == verdict) for verdict in VERDICTS)
    ]


def _not_run(plan: Plan, study: Study, trials: pd.DataFrame) -> list[str]:
    lines = [f"{what}: {why}" for what, why in left_out(plan, study)]
    missing = sorted({entry.trial for entry in due_trials(plan, trials)} - set(trials["trial"]))
    if missing:
        shown = ", ".join(missing[:5]) + (" ..." if len(missing) > 5 else "")
        lines.append(f"{len(missing)} planned trials are missing: {shown}")
    return lines
