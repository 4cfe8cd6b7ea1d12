"""An NVMe drive's own power, through the program `nvme` of nvme-cli, once a second.

A drive that measures itself gives the mean power of the last second and its lifetime energy in the
SMART log. Of any other only the power state is known, for which the maker states a maximum: that is
no measurement, and is `modelled`. Log pages are read raw: nvme-cli before 3.0 has no name for these
fields, in JSON or otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from fsgreen.errors import FsgreenError
from fsgreen.meters.common import programs
from fsgreen.meters.common.answers import json_object
from fsgreen.meters.common.polled import Connectionless, Remote
from fsgreen.meters.core.base import DeviceOf, Driver, Meter
from fsgreen.meters.core.settings import Above0, GainError, MeterSettings, Texts
from fsgreen.meters.nvme.pages import (
    MEASUREMENT,
    MEASUREMENT_B,
    SMART,
    SMART_B,
    estimated,
    measured_w,
    parser,
    percent_error,
    states_max_w,
)
from fsgreen.trace import MeterInfo

TIMEOUT_S = 5.0
NEXT_STEP = (
    "measure as root; list the drives with: nvme list; install it with: apt install nvme-cli"
)
BY_ID = Path("/dev/disk/by-id")


class NvmeSettings(MeterSettings):
    """Which drive, and what of it."""

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


@dataclass
class Drive(Connectionless):
    """One drive, identified again at every start; `sheet` holds what the settings say.

    `gives`: "measured", "state", or "auto" for the first of these that the drive has.
    """

    device: str
    gives: str
    sheet: MeterInfo
    question: tuple[str, ...] = ()

    def identify(self) -> MeterInfo:
        """Ask the drive who it is and what it knows of its power; raises FsgreenError."""
        controller = json_object(self._nvme("id-ctrl", "--output-format=json"))
        if controller is None:
            raise self._error("what nvme says of this drive cannot be read")
        info = replace(
            self.sheet,
            model=f"{_field(controller, 'mn')}, firmware {_field(controller, 'fr')}",
            serial=_field(controller, "sn"),
        )
        self.question = _page(SMART, SMART_B)
        if self.gives != "state" and measured_w(self.ask()) > 0:
            return self._measured(info)
        if self.gives == "measured":
            raise self._error("this drive reports no power of its own")
        self.question = ("get-feature", "--feature-id=2")
        states_w = states_max_w(controller)
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

    def ask(self) -> bytes:
        """Return the SMART log page of a drive that measures, else its power state."""
        return self._nvme(*self.question)

    def _measured(self, info: MeterInfo) -> MeterInfo:
        """Say how good the drive's own numbers are; a drive may leave that out."""
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

    def _nvme(self, command: str, *options: str) -> bytes:
        return programs.answer(
            ["nvme", command, self.device, *options], timeout_s=TIMEOUT_S, next_step=NEXT_STEP
        )

    def _error(self, what: str) -> FsgreenError:
        return FsgreenError(what, where=self.device, next_step="see docs/meters/nvme.md")


def _field(controller: Mapping[str, Any], name: str) -> str:
    return str(controller.get(name, "")).strip()


def _page(log: int, length_b: int) -> tuple[str, ...]:
    return ("get-log", f"--log-id={log:#x}", f"--log-len={length_b}", "--raw-binary")


def open_nvme(settings: NvmeSettings, _: DeviceOf) -> Meter:
    """Open the drive; raises FsgreenError."""
    wanted = settings.boundary
    boundary = "modelled" if wanted == "modelled" else "dc-rail"
    sheet = settings.info(boundary=boundary, rate_hz=1.0, resolution_w=0.01)
    meter = Remote(Drive(settings.device, settings.gives, sheet), parser)
    if wanted == "dc-rail" and meter.describe().boundary != wanted:
        settings.refuse(f"the power of this drive is modelled: {meter.describe().source}")
    return meter


def find() -> list[str]:
    """Return the drives by the names that stay between boots."""
    own = re.compile(r"nvme-(?!eui\.|nvme\.).*(?<!_[0-9])(?<!-part[0-9])(?<!-part[0-9]{2})")
    names = sorted(path.name for path in BY_ID.glob("nvme-*"))
    return [f'device = "{BY_ID / name}"' for name in names if own.fullmatch(name)]


DRIVER = Driver(
    name="nvme",
    kind="counter",
    summary="an NVMe drive's own power where it measures any, else its power state (modelled)",
    settings=NvmeSettings,
    open=open_nvme,
    parser=parser,
    missing=partial(programs.missing, "nvme", "nvme-cli"),
    find=find,
)
