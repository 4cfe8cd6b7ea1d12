"""Idle power before the first trial: it tells later whether the machine has settled."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fsgreen import audit, processes, trace
from fsgreen.campaign.state import Campaign
from fsgreen.design import Plan
from fsgreen.design.factors import AS_FOUND
from fsgreen.devices.names import CPU_MAX_KHZ, OF_NVME
from fsgreen.errors import FsgreenError
from fsgreen.meters import Capture, Meter
from fsgreen.preflight import load
from fsgreen.progress import progress
from fsgreen.testbeds import Testbed

ATTEMPTS = 3
"""Most attempts to measure it while other programs use the machine."""

DECIDING = (*OF_NVME, CPU_MAX_KHZ)
"""The factors that decide idle power, beside the disk: states of a drive, and a frequency."""

IDLE_S = 5.0
"""Least duration of the measurement (rule 18)."""

IDLE_READINGS = 3
"""Least number of readings of the slowest meter. The first one of a counter gives no power."""


def idle_key(plan: Plan, cell: Mapping[str, Any]) -> str | None:
    """Return a name for the levels of a cell that decide idle power; None if there are none."""
    disk = [cell["disk"]] if "disk" in cell else []
    levels, named = plan.levels(cell), deciding(plan)
    states = [f"{name} {AS_FOUND if levels[name] is None else levels[name]}" for name in named]
    return ", ".join(disk + states) or None


def idle_band_w(identity: Mapping[str, Any], plan: Plan, cell: Mapping[str, Any]) -> float:
    """Return the upper end of the idle band of a cell, in watts (rule 11).

    `identity` is `campaign.json`.
    """
    bands_w = identity.get("idle_bands_w")
    own_w = bands_w.get(idle_key(plan, cell)) if bands_w else None
    return float(identity["idle_band_w"] if own_w is None else own_w)


def deciding(plan: Plan) -> list[str]:
    """Return those of `DECIDING` that some cell of a plan names."""
    every = [plan.levels(cell) for cell in plan.cells]
    return [name for name in DECIDING if any(levels.get(name) is not None for levels in every)]


def idle_powers_w(
    campaign: Campaign, plan: Plan, testbed: Testbed, meters: Mapping[str, Meter]
) -> dict[str | None, float]:
    """Return the idle power, in watts, by the names that `idle_key` gives to cells of the plan.

    Raises FsgreenError if other programs use the machine in each attempt, or if a meter has no
    sound reading.
    """
    idle_w: dict[str | None, float] = {}
    for cell in plan.cells:
        key, levels = idle_key(plan, cell), plan.levels(cell)
        if key not in idle_w:
            states = {name: levels.get(name) for name in deciding(plan)}
            testbed.load({"disk": cell.get("disk"), **states})
            idle_w[key] = _idle_power_w(campaign, meters, plan.bounds["others_percent"])
    if deciding(plan):  # what is probed next is in the states of the baseline
        testbed.load(plan.levels(plan.baseline))
    return idle_w


def _idle_power_w(campaign: Campaign, meters: Mapping[str, Meter], others_percent: float) -> float:
    """Return the mean total power of some idle seconds, in watts.

    Raises FsgreenError if other programs are busy, as the band of rule 11 would be too wide for all
    trials. It also does if a meter has no reading, as the band would be too narrow.
    """
    busy_percent, who = 0.0, ""
    for _ in range(ATTEMPTS):
        before, running = audit.HERE.text("proc/stat") or "", [*processes.others()]
        power_w = _mean_power_w(campaign.folder / ".idle.raw", meters)
        used = load.shares(before, audit.HERE.text("proc/stat") or "")
        busy_percent = 0.0 if used is None else used.busy_percent
        if busy_percent < others_percent:
            return power_w
        who = processes.busiest(running, processes.others())
    most = f"; of the programs here, {who} took most" if who else ""
    raise FsgreenError(
        f"idle power cannot be measured: others use {busy_percent:.0f} % of all cores, "
        f"{others_percent:g} % or more (rule 10){most}",
        where=f"the start of the campaign {campaign.name}",
        next_step="end other work (top), then start the same command again",
    )


def _mean_power_w(raw: Path, meters: Mapping[str, Meter]) -> float:
    slowest_hz = min(meter.describe().rate_hz for meter in meters.values())
    seconds = math.ceil(max(IDLE_S, IDLE_READINGS / slowest_hz))
    try:
        with Capture(meters, raw, None) as capture:
            # With a meter that is read once in minutes, this takes many minutes.
            for _ in progress(range(seconds), "idle power", "s"):
                time.sleep(1)
                if capture.fault is not None:
                    raise capture.fault
            power, _ = capture.finish()
    finally:
        raw.unlink(missing_ok=True)
    sound = power.loc[[set(flags.split("|")) <= trace.REMARKS for flags in power["quality"]]]
    mean_w = sound.groupby("meter")["power_w"].mean().reindex(list(meters))
    if silent := list(mean_w.index[mean_w.isna()]):
        raise FsgreenError(
            f"no sound reading of idle power from {', '.join(silent)}",
            where="the meters of the testbed file",
            next_step="fsgreen meters",
        )
    return float(mean_w.sum())
