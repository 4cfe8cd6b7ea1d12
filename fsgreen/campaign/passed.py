"""The traffic of each device of a trial that has several."""

from __future__ import annotations

from collections.abc import Mapping

from fsgreen.meters.core.host import DISKSTATS, parse_diskstats
from fsgreen.testbeds import Testbed

COUNTED = ("read_b", "write_b", "reads_count", "writes_count")
STARTS = "start_stops_count"
"""The counter of starts of a simulated disk's platters."""

Counters = Mapping[str, Mapping[str, float]]
"""Cumulative bytes and requests by the role of the device in the cell, then by counter."""


def counted(testbed: Testbed) -> Counters:
    """Return the counters of a trial's devices; empty if it has only one."""
    devices = testbed.devices()
    if len(devices) < 2:
        return {}
    text, found = DISKSTATS.read_text(), {}
    for role, device in devices.items():
        row = parse_diskstats(text, device.name)
        found[role] = {name: row[f"disk_{name}"] for name in COUNTED}
        if (control := device.simulator()) is not None:
            found[role][STARTS] = control.ask("counters")["counters"].get(STARTS, 0)
    return found


def since(before: Counters, now: Counters) -> dict[str, dict[str, float]]:
    """Return the growth of each counter, by role of the device."""
    return {
        role: {name: value - before[role][name] for name, value in of_device.items()}
        for role, of_device in now.items()
    }
