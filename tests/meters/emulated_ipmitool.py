"""`ipmitool` and a controller in software, which measures anew every `refresh_s`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Self

from emulated_program import Program

READING = "dcmi power reading"

INFO = b"""Device ID                 : 32
Device Revision           : 1
Firmware Revision         : 1.74
IPMI Version              : 2.0
Manufacturer ID           : 10876
Manufacturer Name         : Supermicro
Product ID                : 2404 (0x0964)
Device Available          : yes
"""
GUID = b"""System GUID  : 31303043-534d-2500-90d8-7a1100000000
Timestamp    : 02/23/1996 12:20:19
"""


def reading(power_w: int, state: str = "activated") -> bytes:
    """Return what ipmitool 1.8.18 prints of a power; all its numbers are this one."""
    return (
        f"\n    Instantaneous power reading:              {power_w:8d} Watts\n"
        f"    Minimum during sampling period:           {power_w:8d} Watts\n"
        f"    Maximum during sampling period:           {power_w:8d} Watts\n"
        f"    Average power reading over sample period: {power_w:8d} Watts\n"
        "    IPMI timestamp:                           Thu Feb 15 08:36:01 2024\n"
        "    Sampling period:                          00000001 Seconds.\n"
        f"    Power reading state is:                   {state}\n\n\n"
    ).encode()


class Ipmitool:
    """A program `ipmitool` in `folder` whose controller reads `power_w` in whole watts."""

    def __init__(
        self, folder: Path, power_w: Callable[[], float], *, refresh_s: float = 1.0
    ) -> None:
        self.program = Program(folder, "ipmitool")
        self.program.says("mc info", INFO)
        self.program.says("mc guid", GUID)
        self._power_w = power_w
        self._refresh_s = refresh_s
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="emulated ipmitool", daemon=True)
        self._measure()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(self._refresh_s):
            self._measure()

    def _measure(self) -> None:
        self.program.says(READING, reading(round(self._power_w())))
