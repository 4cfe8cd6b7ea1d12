"""What an NVMe drive says of its power: log pages as the drive sends them, and its power state.

Layouts and units: NVM Express Base Specification, Get Log Page 02h and 25h, power state
descriptors and feature 02h; interval power came with TP4199 (2025).
"""

from __future__ import annotations

import re
import struct
from typing import Any

from fsgreen.meters.common.answers import quality, whole
from fsgreen.meters.core.base import Chunk
from fsgreen.meters.core.readings import NAN, Reading
from fsgreen.trace import MeterInfo

SMART, SMART_B = 0x02, 512
ENERGY_AT = 232  # 8 bytes: watt-hours since manufacture, rounded up; 0: not reported
POWER_AT = 240  # 4 bytes: value in bits 15:0, scale in 17:16, type in 25:20; 0: not reported
MEASUREMENT, MEASUREMENT_B = 0x25, 64
ATTRIBUTES_AT, ESTIMATED = 2, 1 << 2
PERCENT_ERROR_AT = 56  # at most 100; 255: not reported

SCALE_W = {1: 0.0001, 2: 0.01}
WHOLE_DRIVE = 0
FEATURE = re.compile(rb"get-feature:0x0?2 .*value:(?:0x)?([0-9a-fA-F]{1,8})\s*\n")
"""What nvme-cli prints of feature 02h; the low five bits are the power state."""


def measured_w(page: bytes) -> float:
    """Return the power of the last second from a SMART log page, NaN where it has none."""
    if len(page) != SMART_B:
        return NAN
    (field,) = struct.unpack_from("<I", page, POWER_AT)
    value, scale, kind = field & 0xFFFF, (field >> 16) & 0x3, (field >> 20) & 0x3F
    return value * SCALE_W.get(scale, NAN) if field and kind == WHOLE_DRIVE else NAN


def estimated(page: bytes) -> bool:
    """Whether a power measurement page says that the drive estimates, and measures nothing."""
    return len(page) == MEASUREMENT_B and bool(page[ATTRIBUTES_AT] & ESTIMATED)


def percent_error(page: bytes) -> int | None:
    """Return the greatest error that a power measurement page states, None where it has none."""
    if len(page) != MEASUREMENT_B or page[PERCENT_ERROR_AT] > 100:
        return None
    return page[PERCENT_ERROR_AT]


def states_max_w(controller: dict[str, Any]) -> list[float]:
    """Return the maximum of each power state from `nvme id-ctrl`; 0 where it is not stated.

    nvme-cli before 2.6 gives the scale as the lowest bit of `flags`.
    """
    states = controller.get("psds")
    powers_w = []
    for state in states if isinstance(states, list) else []:
        fields = state if isinstance(state, dict) else {}
        power, scale = (
            whole(str(fields.get(name, fields.get(older, 0)))) or 0
            for name, older in (("max_power", ""), ("max_power_scale", "flags"))
        )
        powers_w.append(power * (0.0001 if scale & 1 else 0.01))
    return powers_w


class MeasuredParser:
    """Watts and watt-hours from SMART log pages. Flags: cut, missing, over-range, reset."""

    def __init__(self, info: MeterInfo) -> None:
        self._range_w = info.range_w
        self._last_wh = 0

    def feed(self, chunk: Chunk) -> list[Reading]:
        """Return the reading of one page."""
        if len(chunk.data) != SMART_B:
            return [Reading(chunk.time_s, NAN, quality="cut")]
        power_w = measured_w(chunk.data)
        flags = ["missing"] if power_w != power_w else []
        flags += ["over-range"] if power_w > self._range_w else []
        (counted_wh,) = struct.unpack_from("<Q", chunk.data, ENERGY_AT)
        flags += ["reset"] if counted_wh < self._last_wh else []
        energy_wh = float(counted_wh) if counted_wh >= max(1, self._last_wh) else NAN
        self._last_wh = counted_wh
        return [Reading(chunk.time_s, power_w, energy_wh=energy_wh, quality=quality(flags))]


class StateParser:
    """The maximum that the maker states for the power state. Flags: cut, missing."""

    def __init__(self, info: MeterInfo) -> None:
        self._max_w = info.options["state_max_w"]

    def feed(self, chunk: Chunk) -> list[Reading]:
        """Return the reading of one answer to get-feature."""
        match = FEATURE.search(chunk.data)
        if match is None:
            return [Reading(chunk.time_s, NAN, quality="cut")]
        state = int(match[1], 16) & 0x1F
        if state >= len(self._max_w) or not self._max_w[state]:
            return [Reading(chunk.time_s, NAN, quality="missing")]
        return [Reading(chunk.time_s, self._max_w[state])]


def parser(info: MeterInfo) -> MeasuredParser | StateParser:
    """Return the parser of what the drive gives."""
    return StateParser(info) if "state_max_w" in info.options else MeasuredParser(info)
