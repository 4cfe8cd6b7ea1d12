"""The lab "fool yourself with a disk": six traps, each measured by the student."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from fsgreen import confounds
from fsgreen.confounds import disks
from fsgreen.confounds.known import KNOWN
from fsgreen.labs.feedback import Choices, Mistake, Number, Task
from fsgreen.labs.lab import Lab
from fsgreen.units import SECTOR_B

TRAPS = {
    "place": "place on the device",
    "queue": "requests in flight",
    "scheduler": "order of requests",
    "cache": "state of the cache",
    "alignment": "alignment",
    "read-ahead": "read-ahead",
}
"""The six, by the name that a student writes; as `confounds.KNOWN` calls them."""

CURVES = {
    "place": "offset",
    "queue": "queue",
    "scheduler": "scheduler",
    "cache": "cache",
    "alignment": "alignment",
    "read-ahead": "read_ahead",
}


class DiskLab(Lab):
    """A disk, and an SSD beside it, that are asked about six traps.

    `where` is `virtual`, or the path of a device or file, which is only read; `profile` and `flash`
    are those of the disk and the SSD in virtual time. `effect_percent` is the difference that
    somebody believes in. Places and order follow from the seed.
    """

    def __init__(
        self, where: str, profile: str, flash: str, effect_percent: float, seed: int = 1
    ) -> None:
        super().__init__()
        self._disks = {
            "disk": disks.open_disk(where, profile, seed),
            "flash": disks.open_disk(where, flash, seed),
        }
        self._effect_percent = effect_percent
        self._curves: dict[tuple[str, str], pd.DataFrame] = {}

    @property
    def basis(self) -> str:
        """Return whether numbers are measured or simulated."""
        return self._disks["disk"].basis

    @property
    def name(self) -> str:
        """Return what the disk is called."""
        return self._disks["disk"].name

    def curve(self, trap: str, of: str = "disk") -> pd.DataFrame:
        """Return the curve of one of `TRAPS`, on the disk or on the `flash`; the same each time."""
        if (trap, of) not in self._curves:
            self._curves[trap, of] = self._disks[of].curve(CURVES[trap])
        return self._curves[trap, of]

    def answer(self, trap: str, of: str = "disk") -> str:
        """Return how large a trap is, with its interval, and whether it could have fooled."""
        return disks.answer(TRAPS[trap], self.curve(trap, of), self._effect_percent)

    @property
    def tasks(self) -> Mapping[str, Callable[[], Task]]:
        """Return the tasks in their order."""
        return {
            "place": self._place,
            "queue": self._queue,
            "scheduler": self._scheduler,
            "cache": self._cache,
            "alignment": self._alignment,
            "read-ahead": self._read_ahead,
            "alone": self._alone,
        }

    def conclusion(self, name: str) -> str:
        """Return how large a trap is, and whether it could have fooled."""
        if name == "alone":
            return "Each of these could have made the result, and its opposite, on its own."
        if name == "alignment":
            return f"On the SSD, {self.answer(name, 'flash')}"
        if name == "scheduler":
            return f"{self.answer(name)} The total and the waiting of each are two questions."
        return self.answer(name)

    def _place(self) -> Number:
        places = self.curve("place").groupby("offset_b")["bandwidth_b_s"].median()
        outer, inner = places.iloc[0], places.iloc[-1]
        single = self.curve("place")["bandwidth_b_s"]
        return Number(
            100 * (outer / inner - 1),
            "%",
            (
                Mistake(
                    100 * (1 - inner / outer),
                    "this is how much slower the inner end is. Asked is how much faster the outer "
                    "one is: the same two speeds, over the other.",
                ),
                Mistake(outer / inner, "this is the ratio; subtract 1, and give per cent."),
                Mistake(100 * outer / inner, "this is the ratio in per cent; subtract 100."),
                Mistake(
                    100 * (single.max() / single.min() - 1),
                    "these are the fastest and the slowest of all single reads: with enough of "
                    "them any disk has such a difference. Take the medians of two places.",
                ),
            ),
            within_percent=2.0,
        )

    def _queue(self) -> Number:
        curve = self.curve("queue")
        rates = curve.groupby("queue_depth")["throughput_ops_s"].median()
        deep, shallow = rates.loc[rates.index.max()], rates.loc[rates.index.min()]
        return Number(
            deep / shallow,
            "times as many",
            (
                Mistake(
                    rates.index.max() / rates.index.min(),
                    "this is how many times as many requests wait. There is still one arm only.",
                ),
                Mistake(shallow / deep, "this is one request over many; asked is the other way."),
                Mistake(deep / shallow - 1, "this is the gain alone; asked is the ratio."),
            ),
            within_percent=2.0,
        )

    def _scheduler(self) -> Number:
        runs = self.curve("scheduler")
        ends = runs.groupby(["scheduler", "pass"])["completion_s"].agg(["min", "max"])
        spread = (ends["max"] / ends["min"]).groupby("scheduler").median()
        name = spread.idxmax()
        of_name_s = runs.loc[runs["scheduler"] == name, "completion_s"]
        last_s = ends["max"].groupby("scheduler").median()
        return Number(
            spread[name],
            "times as long",
            (
                Mistake(
                    of_name_s.max() / of_name_s.min(),
                    "the last of one pass is held against the first of another. Take the ratio "
                    "inside each pass, then the median.",
                ),
                Mistake(
                    last_s.max() / last_s[name],
                    "this compares the totals of two schedulers. Asked is who waits: last over "
                    "first, under one scheduler.",
                ),
                Mistake(
                    spread.min(),
                    "this is the fairest of them. Look for the one whose strokes are far apart.",
                ),
                Mistake(1 / spread[name], "this is first over last; asked is last over first."),
            ),
            within_percent=2.0,
        )

    def _cache(self) -> Number:
        speeds = self.curve("cache").groupby("cache")["bandwidth_b_s"].median()
        warm_x = speeds["warm"] / speeds["cold"]
        mean = self.curve("cache")["bandwidth_b_s"].mean()
        return Number(
            warm_x,
            "times as fast",
            (
                Mistake(1 / warm_x, "this is cold over warm; asked is the other way."),
                Mistake(
                    mean / speeds["cold"],
                    "this is the mean of cold and warm runs over the cold ones: a mixture that "
                    "describes neither.",
                ),
            ),
            within_percent=2.0,
        )

    def _alignment(self) -> Number:
        curve = self.curve("alignment", "flash")
        rates = curve.groupby(["action", "shift_b"])["throughput_ops_s"].median()
        written, read = (
            100 * (1 - rates[action, SECTOR_B] / rates[action, 0]) for action in ("write", "read")
        )
        other = 100 * (rates["write", 0] / rates["write", SECTOR_B] - 1)
        return Number(
            written,
            "%",
            (
                Mistake(read, "these are the reads; asked are the writes."),
                Mistake(
                    other,
                    "this is how much faster the aligned ones are. Asked is how much slower the "
                    "others are, in per cent of the aligned.",
                ),
                Mistake(100 - written, "this is what is left of the speed; asked is what is lost."),
            ),
            within_percent=2.0,
        )

    def _read_ahead(self) -> Number:
        curve = self.curve("read-ahead")
        speeds = curve.groupby(["pattern", "read_ahead"])["bandwidth_b_s"].median()
        stride, sequential = (
            speeds[pattern, "default"] / speeds[pattern, "off"]
            for pattern in ("stride", "sequential")
        )
        return Number(
            stride,
            "times as fast",
            (
                Mistake(
                    sequential, "this is the reader in order; asked is the one in eight strides."
                ),
                Mistake(1 / stride, "this is off over on; asked is the other way."),
                Mistake(
                    speeds["sequential", "default"] / speeds["stride", "off"],
                    "two things differ here, read-ahead and the order of reads. Change one.",
                ),
            ),
            within_percent=2.0,
        )

    def _alone(self) -> Choices:
        sizes = {name: confounds.size_of(KNOWN[TRAPS[name]], self.curve(name)) for name in TRAPS}
        large = {
            name
            for name, size in sizes.items()
            if size.measured and not size.by_chance and size.low_percent > self._effect_percent
        }
        return Choices(
            large,
            set(TRAPS),
            "at least one of these is not shown to be larger than the difference on this disk. "
            "Read its interval again, from its low end.",
            "at least one more is larger than the difference, over its whole interval.",
        )
