"""The numbers that every report gives of its campaign: verdicts, trust, setup, what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, get_args

import pandas as pd

from fsgreen import confounds, rules
from fsgreen.analysis.cells import ended_from
from fsgreen.analysis.claims.assay import ENOUGH
from fsgreen.analysis.discarded import both_ways
from fsgreen.analysis.interactions import drawable
from fsgreen.analysis.intervals import intervals
from fsgreen.analysis.setaside import set_aside
from fsgreen.analysis.todo import to_do
from fsgreen.claims import (
    EVEN,
    MEASURED_TOLERANCE,
    PUBLISHED_TOLERANCE,
    UNTESTED,
    VERDICTS,
    Basis,
)
from fsgreen.design import Plan, Study
from fsgreen.design.imported import decided
from fsgreen.design.overview import blocks_of, left_out
from fsgreen.reduce import (
    due_trials,
    in_guest,
    read_identity,
    read_plan,
    read_study,
    read_table,
    simulated_disk_of,
)
from fsgreen.rules import repeated
from fsgreen.rules.served import by_workload, uncounted
from fsgreen.words import listed

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

MOST_FILES = 24
"""Most files of an import that a report names. `campaign.json` has all."""


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
        "simulated_disk": " and ".join(_simulated_disks(identity, cells)) or None,
        "testbed": identity["testbed"]["kind"],
        "setup": _imported(identity)
        if "imported" in identity
        else [
            *_setup(plan, read_study(campaign), identity, trials, cells),
            ["Upper bounds", _bounds(campaign, identity, trials)],
        ],
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


def _setup(
    plan: Plan,
    study: Study,
    identity: dict[str, Any],
    trials: pd.DataFrame,
    cells: pd.DataFrame,
) -> list[list[str]]:
    audit, testbed = identity["audit"], identity["testbed"]
    where = "in memory" if testbed.get("in_memory") else "on disk"
    meters = [
        f"{name}: {meter['model']}, {meter['serial']}" for name, meter in identity["meters"].items()
    ]
    begun = datetime.fromtimestamp(identity["started_unix_s"], UTC)
    disks = _simulated_disks(identity, cells)
    settings = {
        "Testbed": f"{testbed['kind']}, image of {plan.profile.image_b / 2**30:g} GiB {where}",
        **({"Guest": _guest(testbed)} if in_guest(identity) else {}),
        "Machine": f"{audit['cpu']}, {audit['cores_count']} cores, "
        f"{audit['memory_b'] / 2**30:.1f} GiB",
        "Kernel": audit["kernel"],
        "Meters": _told_by(meters, identity["boundary"]),
        "Idle power": f"{identity['idle_power_w']:.1f} W, {identity['boundary']}",
        "Begun": f"{begun:%Y-%m-%d %H:%M} UTC",
        "Plan": f"profile {plan.profile.name}, {blocks_of(plan)} blocks, "
        f"seed {plan.seed}, hash {plan.hash[:12]}",
        "Trial": _length(plan),
        **({"Scale": size} if (size := scaled(plan, study, trials)) else {}),
        **({"Reads": told} if (told := reads(trials)) else {}),
        "File systems": ", ".join(sorted(cells["file_system"].unique())),
        **({"Disks": f"{', '.join(disks)}, simulated"} if disks else {}),
        "Harness": f"at most {trials['harness_cpu_percent'].max():.2f} % of one core",
    }
    return [[name, text] for name, text in settings.items()]


def _simulated_disks(identity: Mapping[str, Any], cells: pd.DataFrame) -> list[str]:
    """Return the names of the simulated disks of the cells, else the model of the campaign's."""
    model = simulated_disk_of(identity)
    if model is None:
        return []
    return sorted(cells["disk"].dropna().unique()) or [model]


def _told_by(meters: list[str], boundary: str) -> str:
    """Return the meters of the power in words, or the models that it comes from."""
    if boundary == "modelled":
        return f"none; power is modelled, after {'; '.join(meters)}"
    return f"{'; '.join(meters)} (boundary: {boundary})"


def _guest(testbed: Mapping[str, Any]) -> str:
    """Return the description of a virtual machine, and what its times may be compared with."""
    dirty_mib = testbed.get("guest_dirty_mib")
    dirty = "" if dirty_mib is None else f" of which {dirty_mib} MiB may wait to be written,"
    return (
        f"Linux {testbed['guest_kernel']}, {testbed['guest_cores']} cores, "
        f"{testbed['guest_memory_mib']} MiB,{dirty} in QEMU {testbed['qemu']}; "
        f"{testbed['compares']}"
    )


def _imported(identity: Mapping[str, Any]) -> list[list[str]]:
    """Return the source of imported runs, and the decisions that were taken about them."""
    imported = identity["imported"]
    decisions = [["Decided", line] for line in decided(imported)]
    return [
        ["Format", imported["format"]],
        ["Files", listed((entry["file"] for entry in imported["files"]), MOST_FILES)],
        ["Power", identity["boundary"]],
        *(decisions or [["Decided", "nothing had to be"]]),
    ]


def _bounds(campaign: str, identity: dict[str, Any], trials: pd.DataFrame) -> str:
    """Return the upper bounds of bandwidth, and the bandwidth of the fastest trial (rule 42)."""
    cores_count = identity["audit"]["cores_count"]
    found = confounds.upper_bounds_b_s(confounds.read_probes(campaign), cores_count)
    known = {
        "device and its bus": found.get("device"),
        f"memory, {cores_count} cores": found.get("memory"),
        "fastest trial": trials["bandwidth_b_s"].max(),
    }
    return "; ".join(
        f"{name}: " + ("not measured" if bound is None else f"{bound / 2**20:,.0f} MiB/s")
        for name, bound in known.items()
    )


def _length(plan: Plan) -> str:
    warmup_s, measure_s = plan.profile.warmup_s, plan.profile.measure_s
    at_most = "at most " if plan.readers_only else ""
    return f"{warmup_s:g} s warm-up, {at_most}{measure_s:g} s measured"


def scaled(plan: Plan, study: Study, trials: pd.DataFrame) -> str:
    """Return the scale of each workload, relative to the published one, in words.

    A command that takes no scale has a size of its own: the size of its files stands instead.
    """
    own = [name for name, declared in study.workloads.items() if _has_own_size(declared)]
    factors = {name: factor for name, factor in plan.profile.scale.items() if name not in own}
    of_published = ", ".join(f"{name} {factor:g}" for name, factor in factors.items())
    known = trials[trials["files_b"].notna() & trials["workload"].isin(own)]
    sizes = [
        f"{name}: {size_b / 2**20:,.0f} MiB of files, set by the profile and not scaled"
        for name, size_b in known.groupby("workload")["files_b"].max().items()
    ]
    told = [f"{of_published} of the published {_of_what(plan)}"] if factors else []
    return "; ".join([*told, *sizes])


def _has_own_size(declared: Mapping[str, Any]) -> bool:
    return "command" in declared and "{scale}" not in str(declared)


def _of_what(plan: Plan) -> str:
    if plan.readers_only:
        return "bytes that are read"
    return "file counts (oltp: of the file size)" if "oltp" in plan.profile.scale else "size"


def reads(trials: pd.DataFrame) -> str:
    """Return what share of the reads the device served, in words; "" if trials read nothing."""
    if served := by_workload(trials):
        return f"of their bytes the device served: {served}"
    if not uncounted(trials).any():
        return ""
    held = trials["resident_percent"].max()
    before = "" if pd.isna(held) else f"; memory held {held:.2g} % of the files or less before"
    return f"nobody counted what the device served: no counter of this machine is its own{before}"


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
