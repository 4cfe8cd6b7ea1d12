"""The lab "energy is not power": from the readings of a meter to joules that can be compared."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import numpy as np

from fsgreen.labs.feedback import Choice, Mistake, Number, Task
from fsgreen.labs.lab import Lab
from fsgreen.labs.metered_disk import MeteredDisk
from fsgreen.trace import minimum_duration_s
from fsgreen.units import JOULES_PER_WH

CONSTANT_WH = 0.3
SHARE_PERCENT = 2.0
GAIN_PERCENT = 1.5
"""Of fast10's meter (section 3.1), and what rule 16 allows constant errors to be."""

MEAN = (
    "this is the mean of the readings times the time. The meter reports more often while the disk "
    "rests, so rest has more readings than its share of the time. Give each reading the time that "
    "it stands for."
)

CONCLUSIONS = {
    "energy": "Energy is the area under the power, whenever the meter happened to look.",
    "least": "That much is proven; the flagged readings hide the rest.",
    "report": "A flag makes the span invalid. It never vanishes, and nothing is filled in.",
    "shortest": "A constant error is beaten by length, and by nothing else.",
    "gain": "What multiplies both sides leaves their ratio alone. It does not leave joules alone.",
    "saved": "The one that draws more power needs less energy; how much less depends on its rest.",
    "efficiency": "Work per energy is a total over a total: long trials count for more.",
}


class EnergyLab(Lab):
    """A disk and two meters, and a server whose power another meter is to measure.

    The disk and the server's power follow from the seed.
    """

    conclusions = CONCLUSIONS
    constant_wh, share_percent, gain_percent = CONSTANT_WH, SHARE_PERCENT, GAIN_PERCENT

    def __init__(self, seed: int = 1) -> None:
        super().__init__()
        self.disk = MeteredDisk(seed)
        self.server_w = float(random.Random(seed).randrange(90, 250))

    @property
    def tasks(self) -> Mapping[str, Callable[[], Task]]:
        """Return the tasks in their order."""
        return {
            "energy": self._energy,
            "least": self._least,
            "report": self._report,
            "shortest": self._shortest,
            "gain": self._gain,
            "saved": self._saved,
            "efficiency": self._efficiency,
        }

    def _energy(self) -> Number:
        inside = self.disk.inside("a")
        time_s, power_w = inside["time_s"].to_numpy(), inside["power_w"].to_numpy()
        duration_s = self.disk.end_s - self.disk.start_s
        whole = self.disk.readings("a")
        return Number(
            self.disk.energy_j(),
            "J",
            (
                Mistake(power_w.mean() * duration_s, MEAN),
                Mistake(whole["power_w"].mean() * duration_s, MEAN),
                Mistake(
                    np.median(power_w) * duration_s,
                    "this is a median times the time; a median is of no use for an area.",
                ),
                Mistake(
                    power_w.sum(),
                    "this is a sum of watts. It would be joules if each reading stood for 1 s.",
                ),
                Mistake(
                    np.trapezoid(whole["power_w"], whole["time_s"]),
                    "this is the area under the whole trace. Only the measured span is asked for.",
                ),
                Mistake(
                    power_w.sum() * np.median(np.diff(time_s)),
                    "this gives every reading the same time, and the readings are not regular.",
                ),
            ),
            within_percent=2.0,
        )

    def _least(self) -> Number:
        inside = self.disk.inside("b")
        good = inside[inside["quality"] == "ok"]
        known_j = float(np.trapezoid(inside["power_w"], inside["time_s"]))
        none = inside["power_w"].where(inside["quality"] == "ok", 0.0)
        return Number(
            known_j,
            "J",
            (
                Mistake(
                    float(np.trapezoid(good["power_w"], good["time_s"])),
                    "the flagged readings were dropped, and the line across the gap invents what "
                    "was there. They say something: that it was more than the range.",
                ),
                Mistake(
                    float(good["power_w"].sum()),
                    "the flagged readings were dropped, as if no time had passed meanwhile. They "
                    "say something: that it was more than the range.",
                ),
                Mistake(
                    float(np.trapezoid(none, inside["time_s"])),
                    "the flagged readings count as 0 W here. The disk drew more than the range.",
                ),
                Mistake(
                    self.disk.energy_j(),
                    "this is the energy by meter a. What does meter b prove on its own?",
                ),
            ),
        )

    def _report(self) -> Choice:
        return Choice(
            "invalid, with the least",
            {
                "the energy without flagged readings": "readings are flagged where the power was "
                "highest. Whoever drops them reports too little, and nobody can see it.",
                "the least, as the energy": "the least that is proven is a bound and no "
                "measurement. Who compares it with another disk's energy is unfair to that one.",
                "the energy with 19 W filled in": "where do the 19 W come from? Not from this "
                "meter: a number that was filled in is not measured.",
            },
        )

    def _shortest(self) -> Number:
        constant_j = CONSTANT_WH * JOULES_PER_WH
        right_s = minimum_duration_s(
            self.server_w, constant_error_w=0.0, constant_error_j=constant_j
        )
        gain = GAIN_PERCENT / 100
        return Number(
            right_s,
            "s",
            (
                Mistake(
                    right_s / JOULES_PER_WH,
                    "0.3 Wh were taken as 0.3 J. How many joules has a watt-hour?",
                ),
                Mistake(right_s / 100, "2 % were taken as 2: the share is a fraction."),
                Mistake(
                    constant_j / (self.server_w * (SHARE_PERCENT / 100 + gain)),
                    "the gain is in there. It is a share of the energy however long one measures, "
                    "so no length can help against it.",
                ),
                Mistake(
                    constant_j / (self.server_w * (SHARE_PERCENT / 100 - gain)),
                    "the gain is in there. It is a share of the energy however long one measures, "
                    "so no length can help against it.",
                ),
                Mistake(
                    constant_j / self.server_w,
                    "after that time the constant error is as large as the energy itself.",
                ),
            ),
        )

    def _gain(self) -> Choice:
        return Choice(
            "the ratio of two energies by this meter",
            {
                "one energy in joules": "a gain of 1.015 makes 1,000 J look like 1,015 J.",
                "the difference of two energies in joules": "10 J too many of 1,015 remain 1.5 % "
                "of the difference: it is stretched as each of them is.",
                "an energy by this meter over one by another": "the other meter has a gain of its "
                "own, and nothing cancels.",
            },
        )

    def _saved(self) -> Number:
        hurry, leisure = (self.disk.runs.loc[name] for name in ("in a hurry", "at leisure"))
        until_done_j = hurry["power_w"] * hurry["duration_s"]
        leisure_j = leisure["power_w"] * leisure["duration_s"]
        rest_s = leisure["duration_s"] - hurry["duration_s"]
        same_time_j = until_done_j + self.disk.idle_w * rest_s
        power_x = hurry["power_w"] / leisure["power_w"]
        watts = "this compares watts, and the two do not draw them for the same time."
        return Number(
            100 * (1 - same_time_j / leisure_j),
            "%",
            (
                Mistake(100 * (power_x - 1), watts),
                Mistake(100 * (1 - power_x), watts),
                Mistake(100 * (1 - 1 / power_x), watts),
                Mistake(
                    100 * (1 - until_done_j / leisure_j),
                    "the disk in a hurry is done early, and it goes on to draw power. Compare the "
                    "same stretch of time.",
                ),
                Mistake(
                    100 * (leisure_j / same_time_j - 1),
                    "this is how much more the other needs. Saved is a share of what is needed "
                    "without saving.",
                ),
                Mistake(
                    100 * same_time_j / leisure_j, "this is what is left, and not what is saved."
                ),
            ),
        )

    def _efficiency(self) -> Number:
        work_ops, energy_j = self.disk.trials["work_ops"], self.disk.trials["energy_j"]
        right = work_ops.sum() / energy_j.sum()
        return Number(
            right,
            "operations per joule",
            (
                Mistake(
                    (work_ops / energy_j).mean(),
                    "this is the mean of three ratios, in which ten seconds count as much as "
                    "ninety. All work over all energy is asked for.",
                ),
                Mistake(1 / right, "this is joules per operation."),
                Mistake(
                    len(work_ops) / (energy_j / work_ops).sum(),
                    "this is a harmonic mean: right only if all trials do the same work.",
                ),
            ),
        )
