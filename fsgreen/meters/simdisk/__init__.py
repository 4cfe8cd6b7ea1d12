"""The energy account of a simulated disk, asked over the control socket of its server.

The account is exact, but its power is that of a model: the boundary is always `modelled`. A cell
may have another disk than the previous cell; while its server starts, there is no account.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.answers import EnergyCounter, json_object
from fsgreen.meters.common.live import Asked
from fsgreen.meters.core.base import Chunk, Driver
from fsgreen.meters.core.readings import NAN, Reading
from fsgreen.meters.core.registry import WITHOUT_METER
from fsgreen.meters.core.settings import MeterSettings, Texts
from fsgreen.simdisk import PROGRAM, Control
from fsgreen.trace import MeterInfo
from fsgreen.units import JOULES_PER_WH, NS_PER_S

RATE_HZ = 20.0
"""An old disk reads 64 MB in 3 s; one interval must be below 2 % of that (rule 16)."""

RANGE_W = 200.0
"""Several times more than any disk draws while it spins up."""

ENERGY_UNIT_J = 1e-6
LONGEST = 2**63

SERVER = WITHOUT_METER[0]
DISK = {"name": "disk", "driver": "simdisk"}


class SimdiskSettings(MeterSettings):
    """The settings of the account of a simulated disk."""

    control: str = ""
    """The socket of the disk's server, which the testbed knows."""
    boundary: Literal["modelled"] = "modelled"
    covers: Texts = ("disk",)
    rate_hz: Annotated[float, Field(ge=1, le=100)] = RATE_HZ


@dataclass(frozen=True)
class Account:
    """One answer: its moment on the host's monotonic clock, and the microjoules of each part."""

    time_s: float
    total_uj: int
    parts_uj: Mapping[str, int]


def read_account(data: bytes) -> Account | str:
    """Return the account in an answer to `energy`, or the flag that says why there is none.

    Flags: cut, absent (there is no disk now), missing, bad-number, or parts (the parts, each
    rounded to a microjoule, do not add up to the total).
    """
    answer = json_object(data)
    if answer is None:
        return "cut"
    if answer.get("ok") is not True:
        return "absent"
    time_ns, total_uj, parts_uj = (answer.get(key) for key in ("time_ns", "total_uj", "parts_uj"))
    if time_ns is None or total_uj is None or not isinstance(parts_uj, dict):
        return "missing"
    if not all(map(_is_count, (time_ns, total_uj, *parts_uj.values()))):
        return "bad-number"
    if abs(sum(parts_uj.values()) - total_uj) > len(parts_uj):
        return "parts"
    return Account(time_ns / NS_PER_S, total_uj, parts_uj)


class SimdiskParser:
    """Watts and watt-hours from the growth of the account.

    The time of a reading is the moment up to which the server has settled the account. Flags: those
    of `read_account` and of `EnergyCounter`.
    """

    def __init__(self, info: MeterInfo) -> None:
        self._counter = EnergyCounter(info.range_w)

    def feed(self, chunk: Chunk) -> list[Reading]:
        """Return the reading of an answer; the first gives none."""
        account = read_account(chunk.data)
        if isinstance(account, str):
            return [Reading(chunk.time_s, NAN, quality=account)]
        step = self._counter.advance(account.time_s, account.total_uj)
        if step is None:
            return []
        power_w, flag = step
        sound = power_w == power_w
        energy_wh = self._counter.total_uj * ENERGY_UNIT_J / JOULES_PER_WH if sound else NAN
        return [Reading(account.time_s, power_w, energy_wh=energy_wh, quality=flag)]


class Simdisk(Asked):
    """The account of the disk that is served at a socket, whichever disk that is."""

    settings: SimdiskSettings
    parser = SimdiskParser

    def identify(self) -> MeterInfo:
        """Check that a disk answers; which disk it is belongs to the trial, not to the meter."""
        if not self.settings.control:
            self.settings.refuse("there is no simulated disk: it needs --testbed simdisk")
        self._control = Control(Path(self.settings.control))
        self._control.ask("energy")
        return self.settings.info(
            model="energy account of a simulated disk",
            serial=PROGRAM,
            range_w=RANGE_W,
            resolution_w=ENERGY_UNIT_J * self.settings.rate_hz,
            source="exact sums of the disk's model; what that is worth, its profile's sources say",
        )

    def ask(self) -> bytes:
        """Return the account as it came; while no disk is served, return an answer of our own."""
        try:
            return self._control.line("energy")
        except FsgreenError as error:
            return json.dumps({"ok": False, "what": error.what}).encode()


def parts_j(chunks: Iterable[Chunk], start_s: float, end_s: float) -> dict[str, float]:
    """Return the joules of each part of a disk over a span, interpolated between its readings.

    Return nothing if the chunks do not cover the span, or if they hold accounts of several disks.
    """
    import numpy as np

    answers = [read_account(chunk.data) for chunk in chunks]
    accounts = [account for account in answers if isinstance(account, Account)]
    times_s = np.array([account.time_s for account in accounts])
    if not len(accounts) or not times_s[0] <= start_s <= end_s <= times_s[-1]:
        return {}
    first = int(np.searchsorted(times_s, start_s, side="right")) - 1
    last = int(np.searchsorted(times_s, end_s, side="left"))
    within = accounts[first : last + 1]
    names = list(within[0].parts_uj)
    counts_uj = np.array(
        [[account.parts_uj.get(name, -1) for name in names] for account in within], dtype=float
    )
    if (np.diff(counts_uj, axis=0) < 0).any():
        return {}
    return {
        name: float(np.diff(np.interp([start_s, end_s], times_s[first : last + 1], of_part))[0])
        * ENERGY_UNIT_J
        for name, of_part in zip(names, counts_uj.T, strict=True)
    }


def tables(asked: Sequence[Mapping[str, Any]] | None, control: Path) -> list[dict[str, Any]]:
    """Return the `[[meter]]` tables for a simulated disk: those asked for, or server and disk.

    The socket of the disk is added to each meter that follows the disk, or that leaves out the
    processor time of its server.
    """
    return [
        {**table, "control": str(control)}
        if table.get("driver") == DISK["driver"] or table.get("emulate")
        else dict(table)
        for table in asked or (SERVER, DISK)
    ]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LONGEST


DRIVER = Driver(
    name="simdisk",
    kind="counter",
    summary="the energy account of a simulated disk, by its states (modelled)",
    settings=SimdiskSettings,
    open=Simdisk,
    parser=SimdiskParser,
    means=lambda _: True,
)
