"""What passed to and from each device of a trial, where it has several."""

from __future__ import annotations

from collections.abc import Mapping

from fsgreen.meters.core.host import DISKSTATS, parse_diskstats
from fsgreen.testbeds import Testbed

COUNTED = ("read_b", "write_b", "reads_count", "writes_count")
STARTS = "start_stops_count"
"""How often the platters of a simulated disk were started."""

Counters = Mapping[str, Mapping[str, float]]
"""Bytes and requests, cumulative, by what a device is to the cell."""


def counted(testbed: Testbed) -> Counters:
    """Return the counters of the devices of a trial that has several; empty where it has one."""
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
    """Return by how much each counter has grown."""
    return {
        role: {name: value - before[role][name] for name, value in of_device.items()}
        for role, of_device in now.items()
    }
