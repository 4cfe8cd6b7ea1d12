"""Trees of sysfs in software: RAPL counters that advance, and a sensor chip on a rail.

Each is a folder of real files with the names and units of the kernel's, and a thread that writes
them. A file is replaced at once, so that no reader sees half of it.
"""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self


class Tree(ABC):
    """A folder whose attributes a thread writes every `pace_s`, from entry to exit."""

    def __init__(self, root: Path, pace_s: float) -> None:
        self.root = root
        self._pace_s = pace_s
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"emulator {root}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def write(self, attribute: str, value: object) -> None:
        """Put a value into an attribute, and its folder there where it is none."""
        path = self.root / attribute
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}")
        fresh.write_text(f"{value}\n")
        os.replace(fresh, path)

    @abstractmethod
    def step(self, elapsed_s: float) -> None:
        """Write what has changed since the step before."""

    def _run(self) -> None:
        last_s = time.monotonic()
        while not self._end.wait(self._pace_s):
            now_s = time.monotonic()
            self.step(now_s - last_s)
            last_s = now_s


class RaplTree(Tree):
    """Zones of powercap that count the watts of `power_w`, by zone, and wrap at `wrap_uj`.

    `zones` gives the name of each zone, such as package-0 of intel-rapl:0.
    """

    def __init__(
        self,
        root: Path,
        zones: Mapping[str, str],
        power_w: Callable[[str], float],
        *,
        wrap_uj: int = 262_143_328_850,
        start_uj: int = 0,
        pace_s: float = 0.01,
    ) -> None:
        super().__init__(root, pace_s)
        self._power_w = power_w
        self._wrap_uj = wrap_uj
        self.counts_uj = dict.fromkeys(zones, float(start_uj))
        for zone, name in zones.items():
            self.write(f"{zone}/name", name)
            self.write(f"{zone}/max_energy_range_uj", wrap_uj)
            self.write(f"{zone}/energy_uj", start_uj)

    def step(self, elapsed_s: float) -> None:
        """Count the energy of the time that has passed."""
        for zone, count_uj in self.counts_uj.items():
            grown_uj = count_uj + self._power_w(zone) * elapsed_s * 1e6
            self.counts_uj[zone] = grown_uj % self._wrap_uj
            self.write(f"{zone}/energy_uj", int(self.counts_uj[zone]))


class Ina226Tree(Tree):
    """One INA226 as chip number `number` at `place`, on a rail of `voltage_v` with `power_w`."""

    def __init__(
        self,
        root: Path,
        power_w: Callable[[], float],
        *,
        number: int = 0,
        place: str = "1-0040",
        voltage_v: float = 5.0,
        update_ms: int = 2,
        pace_s: float = 0.01,
    ) -> None:
        super().__init__(root, pace_s)
        self._power_w = power_w
        self._voltage_v = voltage_v
        self._chip = f"hwmon{number}"
        device = root / "devices" / place
        device.mkdir(parents=True, exist_ok=True)
        self.write(f"{self._chip}/name", "ina226")
        self.write(f"{self._chip}/update_interval", update_ms)
        (root / self._chip / "device").symlink_to(device)
        self.step(0.0)

    def step(self, _: float) -> None:
        """Measure: in steps of 1.25 mV and 1 mA, power by the chip's own product."""
        millivolts = round(self._voltage_v * 1e3 / 1.25) * 1.25
        milliamperes = round(self._power_w() / self._voltage_v * 1e3)
        self.write(f"{self._chip}/in1_input", round(millivolts))
        self.write(f"{self._chip}/curr1_input", milliamperes)
        self.write(f"{self._chip}/power1_input", round(millivolts * milliamperes))
