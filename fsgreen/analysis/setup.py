"""What a campaign was measured on, in words: the table of the setup in every report."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from fsgreen import confounds
from fsgreen.design import Plan, Study
from fsgreen.design.imported import decided
from fsgreen.design.overview import blocks_of
from fsgreen.reduce import in_guest, read_study, simulated_disk_of
from fsgreen.rules.served import by_workload, uncounted
from fsgreen.words import listed

MOST_FILES = 24
"""Most files of an import that a report names. `campaign.json` has all."""


def setup(
    campaign: str,
    plan: Plan,
    identity: Mapping[str, Any],
    trials: pd.DataFrame,
    cells: pd.DataFrame,
) -> list[list[str]]:
    """Return names and texts: where it was measured or, of imported runs, where they come from."""
    if "imported" in identity:
        return _imported(identity)
    return [
        *_measured(plan, read_study(campaign), identity, trials, cells),
        ["Upper bounds", _bounds(campaign, identity, trials)],
    ]


def simulated_disks(identity: Mapping[str, Any], cells: pd.DataFrame) -> list[str]:
    """Return the names of the simulated disks of the cells, else the model of the campaign's."""
    model = simulated_disk_of(identity)
    if model is None:
        return []
    return sorted(cells["disk"].dropna().unique()) or [model]


def _measured(
    plan: Plan, study: Study, identity: Mapping[str, Any], trials: pd.DataFrame, cells: pd.DataFrame
) -> list[list[str]]:
    audit, testbed = identity["audit"], identity["testbed"]
    where = "in memory" if testbed.get("in_memory") else "on disk"
    meters = [
        f"{name}: {meter['model']}, {meter['serial']}" for name, meter in identity["meters"].items()
    ]
    begun = datetime.fromtimestamp(identity["started_unix_s"], UTC)
    disks = simulated_disks(identity, cells)
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


def _bounds(campaign: str, identity: Mapping[str, Any], trials: pd.DataFrame) -> str:
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
