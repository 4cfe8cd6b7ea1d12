"""Idle power before the first trial, by which it is told whether the machine has settled."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path

from fsgreen import audit, processes, trace
from fsgreen.campaign.state import Campaign
from fsgreen.design import Plan
from fsgreen.errors import FsgreenError
from fsgreen.meters import Capture, Meter
from fsgreen.preflight import load
from fsgreen.progress import progress
from fsgreen.testbeds import Testbed

ATTEMPTS = 3
"""How often it is measured where others use the machine meanwhile."""

IDLE_S = 5.0
"""How long idle power is measured before the first trial (rule 18), at least."""

IDLE_READINGS = 3
"""As many readings of the slowest meter at least: the first of a counter is no power yet."""


def idle_powers_w(
    campaign: Campaign, plan: Plan, testbed: Testbed, meters: Mapping[str, Meter]
) -> dict[str | None, float]:
    """Return the idle power with each disk of the plan, by its name; None is the testbed's own."""
    idle_w = {}
    for disk in dict.fromkeys(cell.get("disk") for cell in plan.cells):
        testbed.load({"disk": disk})
        idle_w[disk] = _idle_power_w(campaign, meters, plan.bounds["others_percent"])
    return idle_w


def _idle_power_w(campaign: Campaign, meters: Mapping[str, Meter], others_percent: float) -> float:
    """Return the mean total power of some seconds in which the harness does nothing.

    Raises FsgreenError where others do: the band of rule 11 would be too wide for all trials. So
    does a meter without a reading, without which it would be too narrow.
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
            # A meter that is read once in minutes takes many of them.
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
