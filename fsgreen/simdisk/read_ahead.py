"""A file server that reads ahead, in virtual time: by a heuristic of the engine, or one's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fsgreen.errors import FsgreenError
from fsgreen.simdisk.virtual import engine

if TYPE_CHECKING:
    import pandas as pd

Rule = Callable[[int, int], int]
"""Gives a sequential count from the one before and how many bytes off a read is (0: it goes on)."""

MOST_COUNT = 127
NEAR_B = 64 * 1024

READS: Mapping[str, Mapping[str, Any]] = {
    "in order": {},
    "6 % late": {"late_percent": 6},
    "2 strides": {"streams": 2},
    "8 strides": {"streams": 8},
    "8 files in turn": {"files": 8},
    "at random": {"order": "random"},
}
"""What may be asked of a server, by what it is called."""


@dataclass(frozen=True)
class Own:
    """A heuristic of one's own: it keeps a sequential count for each place of a file."""

    rule: Rule
    """Gives the new count of a place: at 1 or less nothing is read ahead, at n as much as n - 1
    reads, at most 128 KiB. What is read for the first time has a count of 1."""
    places: int = 1
    """How many are kept of a file. With one, every read is of that place; with more, a read that is
    farther than 64 KiB from all of them begins another, in the place of the one that was not used
    for longest."""

    def begin(self) -> Callable[[int, int, int], int]:
        """Return a heuristic that has seen nothing: it takes file, offset and bytes of a read."""
        files: dict[int, list[tuple[int, int]]] = {}

        def heuristic(file: int, offset_b: int, count_b: int) -> int:
            places = files.setdefault(file, [])
            nearest = min(places, key=lambda place: abs(place[0] - offset_b), default=None)
            if nearest is None or (self.places > 1 and abs(nearest[0] - offset_b) > NEAR_B):
                count = 1
                del places[: max(len(places) - self.places + 1, 0)]
            else:
                places.remove(nearest)
                count = max(0, min(MOST_COUNT, self.rule(nearest[1], abs(nearest[0] - offset_b))))
            places.append((offset_b + count_b, count))
            return count

        return heuristic


def rates(
    heuristics: Mapping[str, str | Own],
    reads: Mapping[str, Mapping[str, Any]] = READS,
    *,
    disk: str = "wd200bb",
    total_mib: int = 32,
    disk_reads_ahead: bool = False,
    **settings: int,
) -> pd.DataFrame:
    """Return what clients get of a server, in MB/s (10^6 B/s): a row for each way to read.

    Nothing is measured: the disk and the server are simulated, and the same each time. There is a
    column for each heuristic, one's own or one of the engine (default, always, slowdown or
    cursors). What is asked is in `reads`: `files`, `streams`, `order`, `late_percent`,
    `late_places`, `seed` (docs/readahead.md); `total_mib` is of all files together. `disk` is one
    of `fsgreen-simdisk disks`, or a file like theirs. With `disk_reads_ahead` the disk reads ahead
    into its own cache as well, as nearly all do; it hides much of what a server does. `settings` of
    a heuristic of the engine are `cursors`, `slots`, `probes`; of all `window_kib`.

    Raises FsgreenError if the engine is not installed, too old, or refuses: in its own words.
    """
    import pandas as pd

    of_disk: dict[str, Any] = {"disk": disk, "scheduler": "elevator"}
    if not disk_reads_ahead:
        of_disk["overrides"] = {"read_ahead_kib": 0}
    columns = {
        name: {
            way: _rate(heuristic, {"total_mib": total_mib, **asked}, of_disk, settings)
            for way, asked in reads.items()
        }
        for name, heuristic in heuristics.items()
    }
    return pd.DataFrame(columns).rename_axis(index="reads", columns="MB/s, simulated")


def _rate(
    heuristic: str | Own,
    reads: Mapping[str, Any],
    of_disk: Mapping[str, Any],
    settings: Mapping[str, int],
) -> float:
    own = heuristic.begin() if isinstance(heuristic, Own) else None
    name = {} if isinstance(heuristic, Own) else {"heuristic": heuristic}
    nfs = {"reads": dict(reads), "read_ahead": {**settings, **name}, "partition": 1}
    try:
        report = engine().simulate(json.dumps({**of_disk, "work": {"nfs": nfs}}), own)
    except ValueError as error:
        raise FsgreenError(
            str(error),
            where=f"{heuristic}: {dict(reads)}",
            next_step="correct the reads or the settings of read-ahead that it names",
        ) from error
    rate: float = report["nfs"]["delivered_mb_s"]
    return rate
