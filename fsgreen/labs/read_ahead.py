"""The lab "teach a server to read ahead": heuristics of a file server in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fsgreen.labs.feedback import Choice, Mistake, NotYet, Number, Task
from fsgreen.labs.lab import Lab
from fsgreen.simdisk.read_ahead import MOST_COUNT, READS, Own, rates

READ_KIB, WINDOW_KIB = 8, 128
SLOTS_OF_OLD, SLOTS_OF_NEW = 4, 1017
PROBES_OF_NEW = 32
CURSORS = 8
RANDOM = "at random"
UNTOUCHED_SHARE = 0.05
"""By how much a heuristic may change what clients get that read at random."""

WINS_SHARE = 0.1
"""By how much a row must be faster to count."""

UNSEEN = {"3 strides": {"streams": 3}, "10 % late": {"late_percent": 10}}
"""Ways to read that no table of the lab shows."""

CONCLUSIONS = {
    "gain": "Where reads go on, a guess is nearly always right, and each saves a trip of the arm.",
    "count": "A count must climb before it helps, and each accident sets it back.",
    "lost": "A rule that forgets at once is judged by the order in which requests arrive.",
    "cursors": "One place too few, and least recently used forgets each just before its turn.",
    "record": "A heuristic that is forgotten before it is asked cannot be judged.",
    "own": "Now change one thing at a time, and find out which of them it was.",
    "own, on other reads": "It holds for reads that it was not made for.",
}


class ReadAheadLab(Lab):
    """A file server on a simulated disk.

    The disk is one of `fsgreen-simdisk disks`; all files together have `total_mib`. Which requests
    are late follows from the seed.
    """

    conclusions = CONCLUSIONS
    basis = "simulated in virtual time"

    def __init__(self, disk: str, total_mib: int, seed: int = 1) -> None:
        super().__init__()
        self._disk, self._total_mib, self._seed = disk, total_mib, seed

    def rates(
        self,
        heuristics: Mapping[str, str | Own],
        reads: Mapping[str, Mapping[str, Any]] = READS,
        *,
        disk_reads_ahead: bool = False,
        **settings: int,
    ) -> pd.DataFrame:
        """Return what clients get, in MB/s: `simdisk.read_ahead.rates` on this lab's disk."""
        asked = {way: {**how, "seed": self._seed} for way, how in reads.items()}
        return rates(
            heuristics,
            asked,
            disk=self._disk,
            total_mib=self._total_mib,
            disk_reads_ahead=disk_reads_ahead,
            **settings,
        )

    def worth(self) -> pd.DataFrame:
        """Return a server that never reads ahead beside one that always does."""
        ways = {name: READS[name] for name in ("in order", RANDOM)}
        return self.rates({"never": Own(lambda count, away_b: 0), "always": "always"}, ways)

    def late(self, **heuristics: str | Own) -> pd.DataFrame:
        """Return heuristics where some requests change places with the next, by how many do."""
        ways = {f"{percent} % late": {"late_percent": percent} for percent in (0, 2, 6, 25)}
        return self.rates({"default": "default", "slowdown": "slowdown", **heuristics}, ways)

    def strides(self, cursors: int = CURSORS) -> pd.DataFrame:
        """Return three heuristics at 1 to 16 places of a file that are read in turn."""
        ways = {f"{streams} strides": {"streams": streams} for streams in (1, 2, 4, 8, 16)}
        return self.rates({name: name for name in ENGINES}, ways, cursors=cursors)

    def tables(self) -> pd.DataFrame:
        """Return eight clients that read in order, by a small table of the server and a large."""
        ways = {"8 files in turn": READS["8 files in turn"]}
        small = self.rates({name: name for name in ENGINES}, ways, slots=SLOTS_OF_OLD)
        large = self.rates(
            {name: name for name in ENGINES}, ways, slots=SLOTS_OF_NEW, probes=PROBES_OF_NEW
        )
        return pd.concat([small, large], keys=["4 slots", "1,017 slots"], names=["table"])

    @property
    def tasks(self) -> Mapping[str, Callable[[], Task]]:
        """Return the tasks in their order."""
        return {
            "gain": self._gain,
            "count": self._count,
            "lost": self._lost,
            "cursors": self._cursors,
            "record": self._record,
            "own": lambda: Rule(self, READS),
            "own, on other reads": lambda: Rule(self, UNSEEN),
        }

    def _gain(self) -> Number:
        table = self.worth()
        ordered, randomly = (
            table.loc[way, "always"] / table.loc[way, "never"] for way in ("in order", RANDOM)
        )
        return Number(
            ordered,
            "times as fast",
            (
                Mistake(randomly, "this is the client at random; asked is the one in order."),
                Mistake(1 / ordered, "this is never over always; asked is the other way."),
                Mistake(ordered - 1, "this is the gain alone; asked is the ratio."),
                Mistake(
                    table.loc["in order", "always"] - table.loc["in order", "never"],
                    "this is a difference in MB/s; asked is a ratio.",
                ),
            ),
            within_percent=2.0,
        )

    def _count(self) -> Number:
        reads = WINDOW_KIB // READ_KIB
        return Number(
            reads + 1,
            "(a count)",
            (
                Mistake(reads, "at a count of n the server reads n - 1 reads ahead."),
                Mistake(reads - 1, "at a count of n it reads n - 1 ahead, and not n + 1."),
                Mistake(MOST_COUNT, "this is where the count ends; the window is full before."),
                Mistake(WINDOW_KIB, "this is the window in KiB. How many reads of 8 KiB is that?"),
            ),
            within_percent=0.1,
        )

    def _lost(self) -> Number:
        default = self.late()["default"]
        now, before = default["6 % late"], default["0 % late"]
        return Number(
            100 * (1 - now / before),
            "%",
            (
                Mistake(100 * now / before, "this is what is left; asked is what is lost."),
                Mistake(
                    100 * (before / now - 1),
                    "this is a share of what is left. Lost is a share of what there was.",
                ),
                Mistake(
                    100 * (1 - default["25 % late"] / before),
                    "this is the row of 25 %; asked is that of 6 %.",
                ),
                Mistake(before - now, "these are MB/s; per cent are asked for."),
            ),
            within_percent=2.0,
        )

    def _cursors(self) -> Number:
        return Number(
            16,
            "cursors",
            (
                Mistake(15, "one place fewer than there are is none at all: try it."),
                Mistake(17, "they do, and one fewer does as well."),
                Mistake(32, "they do. Fewer do as well: find the smallest number."),
                Mistake(8, "that is what the table above has, and it fails there."),
            ),
            within_percent=0.1,
        )

    def _record(self) -> Choice:
        return Choice(
            "how often the table forgets a file",
            {
                "the mean of more runs": "every run has the same table, and the same result.",
                "the speed of the disk": "the disk is the same in both, and fast enough in one.",
                "the sequential count at the end": "it would be 1, as for a client that reads at "
                "random: it does not say why.",
            },
        )


ENGINES = ("default", "slowdown", "cursors")


@dataclass(frozen=True)
class Rule:
    """The task to write a heuristic that is no slower than the default anywhere, and often faster.

    It must win in as many ways to read as `cursors` does, and leave reads at random alone.
    """

    lab: ReadAheadLab
    reads: Mapping[str, Mapping[str, Any]]

    def check(self, answer: Any) -> None:
        """Raise NotYet with the ways to read in which a heuristic does worse than it should."""
        if not isinstance(answer, Own):
            raise NotYet("a heuristic is asked for: Own(lambda count, away_b: ..., places=...).")
        names: dict[str, str | Own] = {"default": "default", "cursors": "cursors", "mine": answer}
        table = self.lab.rates(names, self.reads)
        over = table.div(table["default"], axis=0)
        if RANDOM in over.index and abs(over.loc[RANDOM, "mine"] - 1) > UNTOUCHED_SHARE:
            raise NotYet(
                "clients that read at random get another rate: it reads ahead what nobody asked "
                "for, and a server with little memory could not keep that. What should the count "
                "do at a read that is far off?"
            )
        slower = over.index[over["mine"] < 1 - WINS_SHARE]
        if len(slower):
            raise NotYet(f"it is slower than the default at: {', '.join(slower)}.")
        wins = over > 1 + WINS_SHARE
        if wins["mine"].sum() < wins["cursors"].sum():
            missed = over.index[wins["cursors"] & ~wins["mine"]]
            raise NotYet(
                f"`cursors` beats the default at {', '.join(missed)}, and yours does not. Does it "
                "keep a place for each stream? Does it forgive a read that is late?"
            )
