"""A disk in virtual time that sleeps, wakes, reads and rests, and two meters that look at it.

Its power is known exactly, so that the error of a meter can be. All of it is simulated.
"""

from __future__ import annotations

import random
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fsgreen.simdisk.virtual import Request, replay
from fsgreen.trace import MeterInfo, MeterTrace

DISK = "st4000nm0033"
STANDBY_AFTER_S = 10.0
IDLE_W = 6.7
"""Of the disk while it turns and nothing is asked (`fsgreen-simdisk show`)."""

LOAD_OPS_S = 60
SECTORS = 8
SPAN = 1 << 31
"""Sectors that are read in: a quarter of the disk."""

RANGE_W = 15.0
"""Of the meter with the short range: the disk draws 19 W while it spins up."""

Floats = NDArray[np.float64]


class MeteredDisk:
    """A disk that sleeps, wakes, reads for a minute and rests, seen by two meters.

    When it wakes, how long it reads and where, and when the meters look follow from the seed. The
    measured span is from `start_s` to `end_s`.
    """

    basis = f"simulated in virtual time: {DISK}"
    idle_w = IDLE_W

    def __init__(self, seed: int) -> None:
        choose = random.Random(seed)
        self._wakes_s = choose.uniform(50, 60)
        self._reads_until_s = self._wakes_s + choose.uniform(60, 80)
        self._seed = seed
        self.start_s = float(round(self._wakes_s - 20))
        self.end_s = float(round(self._reads_until_s + 8))

    def readings(self, meter: str) -> pd.DataFrame:
        """Return what a meter says: `time_s`, `power_w` (the mean since the reading before),
        `quality`.

        Meter `a` reports once in 3 s while the disk works, and twice a second while it does not.
        Meter `b` reports once a second, up to 15 W.
        """
        time_s = self._times_of_a() if meter == "a" else np.arange(0.0, self.end_s + 5)
        power_w = np.diff(self._joules(time_s)) / np.diff(time_s)
        table = pd.DataFrame({"time_s": time_s[1:], "power_w": power_w.round(1), "quality": "ok"})
        if meter == "b":
            over = table["power_w"] > RANGE_W
            table.loc[over, ["power_w", "quality"]] = (RANGE_W, "over-range")
        return table

    @cached_property
    def runs(self) -> pd.DataFrame:
        """Return two ways to do the same 1,000 reads, a row for each: `power_w`, `duration_s`."""
        paces_s = {"in a hurry": 0.0, "at leisure": 0.01}
        reports = {
            name: replay(DISK, self._anywhere(1000, 0.0, pace_s))
            for name, pace_s in paces_s.items()
        }
        return pd.DataFrame(
            {
                name: {
                    "power_w": report["energy"]["total_fj"] / report["end_ns"] / 1e6,
                    "duration_s": report["end_ns"] / 1e9,
                }
                for name, report in reports.items()
            }
        ).T.round(3)

    @cached_property
    def trials(self) -> pd.DataFrame:
        """Return three trials of random reads at three loads: `work_ops`, `energy_j`."""
        rows = []
        for load_ops_s, duration_s in ((5, 90), (30, 20), (60, 10)):
            count = load_ops_s * duration_s
            report = replay(DISK, self._anywhere(count, 0.0, 1 / load_ops_s))
            rows.append((load_ops_s, count, report["energy"]["total_fj"] / 1e15))
        columns = ["load_ops_s", "work_ops", "energy_j"]
        return pd.DataFrame(rows, columns=columns).round(1)

    def inside(self, meter: str) -> pd.DataFrame:
        """Return the readings of a meter in the measured span."""
        readings = self.readings(meter)
        return readings[readings["time_s"].between(self.start_s, self.end_s)]

    def energy_j(self) -> float:
        """Return the energy of the span by meter a, as the library computes it."""
        info = MeterInfo(
            driver="lab",
            model="?",
            serial="?",
            boundary="modelled",
            covers=("disk",),
            rate_hz=1.0,
            range_w=30.0,
            resolution_w=0.1,
            gain_error=0.0,
            constant_error_w=0.0,
            source="this lab",
        )
        span = (self.start_s, self.end_s)
        return MeterTrace.of(self.readings("a"), info, [span]).energy_j()

    def _times_of_a(self) -> Floats:
        choose = random.Random(self._seed + 1)
        times_s = [0.0]
        while times_s[-1] < self.end_s + 4:
            works = self._wakes_s < times_s[-1] < self._reads_until_s
            times_s.append(times_s[-1] + choose.uniform(0.8, 1.2) * (3.0 if works else 0.5))
        return np.array(times_s).round(3)

    def _joules(self, time_s: Floats) -> Floats:
        """Return what the disk has drawn until each moment."""
        begins_s, power_w = self._power
        until_j = np.concatenate([[0.0], np.cumsum(power_w[:-1] * np.diff(begins_s))])
        place = np.searchsorted(begins_s, time_s, side="right") - 1
        joules: Floats = until_j[place] + power_w[place] * (time_s - begins_s[place])
        return joules

    @cached_property
    def _power(self) -> tuple[Floats, Floats]:
        """Return since when the disk draws how much; the last power holds on."""
        count = int(self._reads_until_s - self._wakes_s) * LOAD_OPS_S
        reads = self._anywhere(count, self._wakes_s, 1 / LOAD_OPS_S)
        first, last = (("read", 0, SECTORS, at_s) for at_s in (0.0, self.end_s + 9))
        asked = [first, *reads, last]
        report = replay(DISK, asked, standby_after_s=STANDBY_AFTER_S, power=True)
        changes = np.array(report["power_uw"], dtype=float)
        return changes[:, 0] / 1e9, changes[:, 1] / 1e6

    def _anywhere(self, count: int, start_s: float, pace_s: float) -> list[Request]:
        """Return reads of 4 KiB at random places, one each `pace_s`."""
        choose = random.Random(self._seed + 2)
        places = [choose.randrange(SPAN // SECTORS) * SECTORS for _ in range(count)]
        return [("read", at, SECTORS, start_s + n * pace_s) for n, at in enumerate(places)]
