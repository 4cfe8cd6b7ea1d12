"""The lab "put disks to sleep": when it pays to stop a disk, and who pays for it.

The disk and its requests are simulated in virtual time; what greenfs08 printed is from its tables.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from fsgreen import paths
from fsgreen.labs.feedback import Choice, Mistake, Number, Task
from fsgreen.labs.lab import Lab
from fsgreen.simdisk.server import parameters
from fsgreen.simdisk.virtual import replay
from fsgreen.units import HOURS_A_YEAR, S_PER_HOUR

FACTS = (
    "idle_w",
    "standby_w",
    "spin_down_s",
    "spin_down_j",
    "spin_up_s",
    "spin_up_j",
    "rated_start_stops",
)
SECTORS = 8
REQUESTS = 60
SHORT_SHARE = 0.6
SHORT_S, LONG_S = 3.0, 120.0
"""Most requests come soon after the one before, the others minutes later: means, exponential."""

TIMEOUTS_S = (0.5, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
SYSTEM = "SERVER"

CONCLUSIONS = {
    "break-even": "A shorter rest is cheaper with the platters turning.",
    "oracle": "Nobody knows a gap beforehand; this is the bound that every timer is held against.",
    "years": "A disk wears out by starts, long before it saves what it cost.",
    "waits": "The mean hides it: sleep is paid for by whoever asks first.",
    "printed": "Printed is 12 %. The other number in that row, 12 W, seems to have got there.",
}


class SleepLab(Lab):
    """A disk with a timer, and an hour or so of requests to it.

    The disk is one of `fsgreen-simdisk disks`. When requests come, and where they read, follows
    from the seed.
    """

    conclusions = CONCLUSIONS
    basis = "simulated in virtual time"

    def __init__(self, disk: str, seed: int = 1) -> None:
        super().__init__()
        self._disk = disk
        choose = random.Random(seed)
        means_s = [SHORT_S if choose.random() < SHORT_SHARE else LONG_S for _ in range(REQUESTS)]
        self.gaps_s = np.array([choose.expovariate(1 / mean_s) for mean_s in means_s]).round(2)
        self._places = [choose.randrange(1 << 20) * SECTORS for _ in range(REQUESTS + 1)]

    @cached_property
    def facts(self) -> pd.Series:
        """Return what the disk's file says of its states, units in the names."""
        described = tomllib.loads(parameters(self._disk))
        of_disk = {**described["power"], **described["spin"]}
        return pd.Series({name: of_disk[name] for name in FACTS}, name=self._disk, dtype=float)

    def run(self, timeout_s: float, gaps_s: Sequence[float] | None = None) -> dict[str, float]:
        """Return what becomes of the requests if the disk stops after `timeout_s` without one.

        `energy_j` until the last is served, `stops_count`, `mean_ms` and `slowest_ms` of their
        times to an answer. A timeout of 0 is none: the disk never stops.
        """
        gaps = self.gaps_s if gaps_s is None else np.asarray(gaps_s, dtype=float)
        times_s = [0.0, *np.cumsum(gaps)]
        places = self._places[: len(times_s)]
        asked = [
            ("read", at, SECTORS, float(time_s)) for at, time_s in zip(places, times_s, strict=True)
        ]
        report = replay(self._disk, asked, standby_after_s=timeout_s)
        return {
            "energy_j": report["energy"]["total_fj"] / 1e15,
            "stops_count": report["counters"]["start_stops_count"],
            "mean_ms": report["response_ns"]["mean"] / 1e6,
            "slowest_ms": report["response_ns"]["max"] / 1e6,
        }

    @cached_property
    def timers(self) -> pd.DataFrame:
        """Return a row for each timeout, `never` among them, with what `run` returns."""
        rows = {f"{timeout_s:g} s": self.run(timeout_s) for timeout_s in TIMEOUTS_S}
        return pd.DataFrame({**rows, "never": self.run(0.0)}).T.rename_axis("timeout")

    @cached_property
    def printed(self) -> pd.Series:
        """Return the row of greenfs08's table 4 on the server."""
        table = pd.read_csv(paths.reference() / "greenfs08_table4.csv").set_index("system")
        columns = ["original_power_w", "greenfs_power_w", "savings_percent_printed"]
        return table.loc[SYSTEM, columns]

    @property
    def tasks(self) -> Mapping[str, Callable[[], Task]]:
        """Return the tasks in their order."""
        return {
            "break-even": self._break_even,
            "oracle": self._oracle,
            "years": self._years,
            "waits": self._waits,
            "printed": self._printed,
        }

    def _break_even_s(self) -> float:
        f = self.facts
        moving_s, moving_j = f.spin_down_s + f.spin_up_s, f.spin_down_j + f.spin_up_j
        return float((moving_j - f.standby_w * moving_s) / (f.idle_w - f.standby_w))

    def _break_even(self) -> Number:
        f = self.facts
        saved_w = f.idle_w - f.standby_w
        moving_s = f.spin_down_s + f.spin_up_s
        only_up_j = f.spin_up_j - f.standby_w * f.spin_up_s
        one_way = "stopping costs energy as well as starting."
        return Number(
            self._break_even_s(),
            "s",
            (
                Mistake(f.spin_up_j / saved_w, one_way),
                Mistake(only_up_j / saved_w, one_way),
                Mistake(
                    (f.spin_down_j + f.spin_up_j) / f.idle_w,
                    "a stopped disk still draws its standby power: saved is the difference.",
                ),
                Mistake(
                    (f.spin_down_j + f.spin_up_j) / saved_w,
                    "nearly. While it stops and starts, the disk does not draw standby power as "
                    "well: the two energies hold all of that time.",
                ),
                Mistake(
                    self._break_even_s() + moving_s,
                    "the time for stopping and starting counts twice here.",
                ),
                Mistake(
                    self._break_even_s() - f.spin_up_s,
                    "count the rest until the disk is ready again.",
                ),
            ),
        )

    def _asleep_j(self) -> np.ndarray:
        """Return the energy of each gap if the disk stops at once and is ready at its end."""
        f = self.facts
        moving_s = f.spin_down_s + f.spin_up_s
        return np.asarray(f.spin_down_j + f.spin_up_j + f.standby_w * (self.gaps_s - moving_s))

    def _oracle(self) -> Number:
        f = self.facts
        awake_j, asleep_j = f.idle_w * self.gaps_s, self._asleep_j()
        stops = self.gaps_s > self._break_even_s()
        right = np.where(stops, asleep_j, awake_j).sum()
        timed = self.gaps_s > f.spin_down_s + f.spin_up_s
        mean_s = self.gaps_s.mean()
        of_mean = len(self.gaps_s) * min(f.idle_w * mean_s, float(asleep_j.mean()))
        return Number(
            float(right),
            "J",
            (
                Mistake(
                    awake_j.sum(),
                    "this disk never stops. Some gaps are longer than the break-even.",
                ),
                Mistake(asleep_j.sum(), "this disk stops in every gap, the short ones included."),
                Mistake(
                    of_mean,
                    "this decides once, by the mean. Whoever knows the gaps decides for each.",
                ),
                Mistake(
                    np.where(timed, asleep_j, awake_j).sum(),
                    "long enough to stop and start is not yet long enough to gain by it.",
                ),
                Mistake(
                    np.where(stops, f.standby_w * self.gaps_s, awake_j).sum(),
                    "stopping and starting are missing: each costs energy of its own.",
                ),
            ),
        )

    def _years(self) -> Number:
        stops = self.timers.loc["10 s", "stops_count"]
        hours = self.gaps_s.sum() / S_PER_HOUR
        rated = self.facts.rated_start_stops
        right = rated / (stops / hours) / HOURS_A_YEAR
        return Number(
            float(right),
            "years",
            (
                Mistake(
                    float(rated / stops / HOURS_A_YEAR),
                    "these stops did not take exactly an hour: how long is the trace?",
                ),
                Mistake(right * HOURS_A_YEAR, "this is in hours; asked are years."),
                Mistake(right * HOURS_A_YEAR / 24, "this is in days; asked are years."),
                Mistake(
                    float(rated / (self.timers["stops_count"].max() / hours) / HOURS_A_YEAR),
                    "this is another timer's row; asked is the one of 10 s.",
                ),
            ),
        )

    def _waits(self) -> Choice:
        return Choice(
            "the first request after each stop",
            {
                "all requests, by a little": "look at the slowest request beside the mean.",
                "nobody": "look at the slowest request, with a timer and without.",
                "the requests just before a stop": "these were answered before the disk stopped.",
            },
        )

    def _printed(self) -> Number:
        before_w = float(self.printed["original_power_w"])
        after_w = float(self.printed["greenfs_power_w"])
        saved_w = before_w - after_w
        return Number(
            100 * saved_w / before_w,
            "%",
            (
                Mistake(
                    saved_w,
                    "these are the watts, or what is printed. Per cent are a share: of what?",
                ),
                Mistake(
                    100 * saved_w / after_w,
                    "this is a share of what is left; savings are a share of what was drawn.",
                ),
                Mistake(100 * after_w / before_w, "this is what is left, and not what is saved."),
            ),
        )
