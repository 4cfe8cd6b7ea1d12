"""What simulated disks take, in virtual time: for one transfer from standby, and for a week."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from fsgreen.papers.greenfs08.days import DAY_S, DAYS, UPDATE_B, Week, Woken
from fsgreen.simdisk.server import parameters
from fsgreen.simdisk.virtual import Request, replay
from fsgreen.units import FJ_PER_J, NS_PER_S, SECTOR_B

REQUEST_B = 2**19
TIMER_S = 60.0
"""After which a disk that sleeps stops its platters again."""
SIZES_MB = (1, 3, 10, 30, 100, 300, 1000)
ASLEEP_S = 100.0
"""When a transfer begins: its disk has stopped long before."""
UW_PER_W = 1e6


class Facts(NamedTuple):
    """Of a disk's states, as its file has them."""

    idle_w: float
    standby_w: float
    transfer_w: float
    spin_up_j: float
    spin_down_s: float
    spin_down_j: float


def facts(disk: str) -> Facts:
    """Return what the file of a simulated disk says of its states."""
    described = tomllib.loads(parameters(disk))
    of_disk = {**described["power"], **described["spin"]}
    return Facts(*(float(of_disk[name]) for name in Facts._fields))


def transfer(disk: str, size_mb: float) -> dict[str, float]:
    """Return energy and duration of reading so much, in one piece, from a disk that is stopped.

    Both are from the first request to the last answer: `energy_j`, `duration_s`. The disk serves
    the requests in their order, as a program asks for the next piece once it has the one before.
    """
    first = ("read", 0, 8, 0.0)
    pieces = _in_one_piece("read", size_mb * 1e6, ASLEEP_S)
    in_order = {"policy": "fifo"}
    report = replay(
        disk, [first, *pieces], standby_after_s=TIMER_S / 2, overrides=in_order, power=True
    )
    end_ns = report["end_ns"]
    times_ns, power_uw = np.array([*report["power_uw"], (end_ns, 0)], dtype=float).T
    lasts_ns = np.diff(np.clip(times_ns, ASLEEP_S * NS_PER_S, end_ns))
    energy_j = float((lasts_ns * power_uw[:-1]).sum() / NS_PER_S / UW_PER_W)
    return {"energy_j": energy_j, "duration_s": end_ns / NS_PER_S - ASLEEP_S}


def awake_j(disk: str, week: Week) -> float:
    """Return the energy of a week of a disk that never stops and gets each step's updates."""
    writes = [
        request
        for at_s, files in week.changed
        for request in _in_one_piece("write", len(files) * UPDATE_B, at_s)
    ]
    report = replay(disk, [("read", 0, 8, 0.0), *writes])
    return _energy_j(report) + facts(disk).idle_w * _left_s(report)


def asleep_j(disk: str, spins: Sequence[Woken]) -> float:
    """Return the energy of a week of a disk that only gets what GreenFS copies to it."""
    writes = [
        request
        for spin in spins
        for request in _in_one_piece("write", spin.copied_b, float(spin.at_s))
    ]
    report = replay(disk, [("read", 0, 8, 0.0), *writes], standby_after_s=TIMER_S)
    of_disk = facts(disk)
    stopping_j = of_disk.idle_w * TIMER_S + of_disk.spin_down_j
    rest_s = _left_s(report) - TIMER_S - of_disk.spin_down_s
    return _energy_j(report) + stopping_j + of_disk.standby_w * rest_s


def _in_one_piece(action: str, size_b: float, at_s: float) -> Iterable[Request]:
    """Yield requests for bytes that follow each other on the outermost tracks."""
    sectors, step = round(size_b / SECTOR_B), REQUEST_B // SECTOR_B
    for first in range(0, sectors, step):
        yield action, first, min(step, sectors - first), at_s


def _energy_j(report: dict[str, dict[str, float]]) -> float:
    return report["energy"]["total_fj"] / FJ_PER_J


def _left_s(report: dict[str, float]) -> float:
    return DAYS * DAY_S - report["end_ns"] / NS_PER_S
