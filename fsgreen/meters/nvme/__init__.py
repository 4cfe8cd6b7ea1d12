"""An NVMe drive's own power, through the program `nvme` of nvme-cli, once a second.

A drive that measures itself gives the mean power of the last second and its lifetime energy in the
SMART log. For other drives, only the power state is known, and the maker states a maximum for it:
that is no measurement, and the boundary is `modelled`. Log pages are read raw, because nvme-cli
before 3.0 has no names for these fields. Layouts and units: NVM Express Base Specification, Get Log
Page 02h and 25h, power state descriptors and feature 02h; interval power came with TP4199 (2025).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from fsgreen.audit.nvme import power_state
from fsgreen.errors import FsgreenError
from fsgreen.meters.common import asking
from fsgreen.meters.common.answers import json_object, quality, whole
from fsgreen.meters.common.live import Asked
from fsgreen.meters.core.base import Chunk, Driver
from fsgreen.meters.core.readings import NAN, Reading
from fsgreen.meters.core.settings import Above0, GainError, MeterSettings, Texts
from fsgreen.trace import MeterInfo

SMART, SMART_B = 0x02, 512
ENERGY_AT = 232  # 8 bytes: watt-hours since manufacture, rounded up; 0: not reported
POWER_AT = 240  # 4 bytes: value in bits 15:0, scale in 17:16, type in 25:20; 0: not reported
MEASUREMENT, MEASUREMENT_B = 0x25, 64
ATTRIBUTES_AT, ESTIMATED = 2, 1 << 2
PERCENT_ERROR_AT = 56  # at most 100; 255: not reported

SCALE_W = {1: 0.0001, 2: 0.01}
WHOLE_DRIVE = 0

TIMEOUT_S = 5.0
NEXT_STEP = (
    "measure as root; list the drives with: nvme list; install it with: apt install nvme-cli"
)
BY_ID = Path("/dev/disk/by-id")


def measured_w(page: bytes) -> float:
    """Return the power of the last second from a SMART log page; NaN if the page has none."""
    if len(page) != SMART_B:
        return NAN
    (field,) = struct.unpack_from("<I", page, POWER_AT)
    value, scale, kind = field & 0xFFFF, (field >> 16) & 0x3, (field >> 20) & 0x3F
    return value * SCALE_W.get(scale, NAN) if field and kind == WHOLE_DRIVE else NAN


def estimated(page: bytes) -> bool:
    """Return whether a power measurement page says that the drive only estimates its power."""
    return len(page) == MEASUREMENT_B and bool(page[ATTRIBUTES_AT] & ESTIMATED)


def percent_error(page: bytes) -> int | None:
    """Return the greatest error that a power measurement page states; None if it states none."""
    if len(page) != MEASUREMENT_B or page[PERCENT_ERROR_AT] > 100:
        return None
    return page[PERCENT_ERROR_AT]


def states_max_w(controller: dict[str, Any]) -> list[float]:
    """Return the maximum of each power state from `nvme id-ctrl`; 0 if it is not stated.

    nvme-cli before 2.6 gives the scale in the lowest bit of `flags`.
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
        state = power_state(chunk.data)
        if state is None:
            return [Reading(chunk.time_s, NAN, quality="cut")]
        if state >= len(self._max_w) or not self._max_w[state]:
            return [Reading(chunk.time_s, NAN, quality="missing")]
        return [Reading(chunk.time_s, self._max_w[state])]


def parser(info: MeterInfo) -> MeasuredParser | StateParser:
    """Return the parser for the answers of this drive."""
    return StateParser(info) if "state_max_w" in info.options else MeasuredParser(info)


class NvmeSettings(MeterSettings):
    """The settings: a drive, and whether its power is measured or stated."""

    device: str
    """The drive, best by its name in /dev/disk/by-id."""
    gives: Literal["auto", "measured", "state"] = "auto"
    """What the drive measures, or its power state; auto: measured where it does."""
    boundary: Literal["dc-rail", "modelled"] | None = None
    """dc-rail is refused where the drive's power is modelled."""
    covers: Texts = ("disk",)
    gain_error: GainError = 0.1
    """Where the drive states none."""
    range_w: Above0 = 100.0


class Nvme(Asked):
    """One drive; the setting `gives` chooses its measured power or its power state."""

    settings: NvmeSettings
    parser = staticmethod(parser)

    def identify(self) -> MeterInfo:
        """Ask the drive for its identity, and how it gives its power; raises FsgreenError."""
        chosen = self.settings
        controller = json_object(self._nvme("id-ctrl", "--output-format=json"))
        if controller is None:
            raise self._error("what nvme says of this drive cannot be read")
        info = chosen.info(
            model=f"{_field(controller, 'mn')}, firmware {_field(controller, 'fr')}",
            serial=_field(controller, "sn"),
            boundary=chosen.boundary or "dc-rail",
            rate_hz=1.0,
            resolution_w=0.01,
        )
        self._question = _page(SMART, SMART_B)
        if chosen.gives != "state" and measured_w(self.ask()) > 0:
            info = self._measured(info)
        elif chosen.gives == "measured":
            raise self._error("this drive reports no power of its own")
        else:
            info = self._of_state(info, states_max_w(controller))
        if chosen.boundary == "dc-rail" and info.boundary != "dc-rail":
            chosen.refuse(f"the power of this drive is modelled: {info.source}")
        return info

    def ask(self) -> bytes:
        """Return the SMART log page if the drive measures its power, else its power state."""
        return self._nvme(*self._question)

    def _measured(self, info: MeterInfo) -> MeterInfo:
        """Describe the accuracy of the drive's measurement, which a drive may leave out."""
        try:
            page = self._nvme(*_page(MEASUREMENT, MEASUREMENT_B))
        except FsgreenError:
            page = b""
        how = "estimated" if estimated(page) else "measured"
        percent = percent_error(page)
        stated = "not stated by the drive" if percent is None else f"{percent} % by the drive"
        return replace(
            info,
            boundary="modelled" if estimated(page) else info.boundary,
            gain_error=info.gain_error if percent is None else percent / 100,
            source=f"interval power of the SMART log, {how} by the drive; greatest error {stated}",
        )

    def _of_state(self, info: MeterInfo, states_w: list[float]) -> MeterInfo:
        """Describe the maximum power of each power state, which the maker states."""
        self._question = ("get-feature", "--feature-id=2")
        if not any(states_w):
            raise self._error("this drive neither measures its power nor states it for a state")
        return replace(
            info,
            boundary="modelled",
            range_w=max(states_w),
            resolution_w=0.0,
            gain_error=1.0,
            source="maximum of the power state by its maker: the drive draws anything up to it",
            options={"state_max_w": states_w},
        )

    def _nvme(self, command: str, *options: str) -> bytes:
        return asking.answer(
            ["nvme", command, self.settings.device, *options],
            timeout_s=TIMEOUT_S,
            next_step=NEXT_STEP,
        )

    def _error(self, what: str) -> FsgreenError:
        return FsgreenError(what, where=self.settings.device, next_step="see docs/meters/nvme.md")


def _field(controller: Mapping[str, Any], name: str) -> str:
    return str(controller.get(name, "")).strip()


def _page(log: int, length_b: int) -> tuple[str, ...]:
    return ("get-log", f"--log-id={log:#x}", f"--log-len={length_b}", "--raw-binary")


def find() -> list[str]:
    """Return the drives by names that boots do not change."""
    own = re.compile(r"nvme-(?!eui\.|nvme\.).*(?<!_[0-9])(?<!-part[0-9])(?<!-part[0-9]{2})")
    names = sorted(path.name for path in BY_ID.glob("nvme-*"))
    return [f'device = "{BY_ID / name}"' for name in names if own.fullmatch(name)]


DRIVER = Driver(
    name="nvme",
    kind="counter",
    summary="an NVMe drive's own power where it measures any, else its power state (modelled)",
    settings=NvmeSettings,
    open=Nvme,
    parser=parser,
    missing=partial(asking.missing, "nvme", "nvme-cli"),
    find=find,
)
