"""A disk that exists in virtual time only: every trap on any laptop, the same numbers each time.

The curves have the columns of those that `devices.probe` measures, so that everything that reads
the ones reads the others. They are simulated, and `basis` says so.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.simdisk import SCHEDULERS
from fsgreen.simdisk.virtual import replay
from fsgreen.units import SECTOR_B

PAGE_SECTORS = 8
READ_SECTORS = 128
"""64 KiB, a request of a file system that reads on."""

PATCH_SECTORS = 1 << 21
"""1 GiB: more than any disk caches."""

FILL_SECTORS = 512
PASSES = 5
READERS = 8

Request = tuple[str, int, int]
"""Action, first sector, sectors."""


class VirtualDisk:
    """A disk in virtual time, by the name of its profile.

    It is one that `fsgreen-simdisk disks` lists, or the path of a file of one's own. Places and
    order follow from the seed. Raises FsgreenError if the engine is not installed, or there is no
    such profile.
    """

    basis = "simulated in virtual time"

    def __init__(self, profile: str, seed: int = 1) -> None:
        self.profile = profile
        self.name = profile
        self._choose = random.Random(seed)
        described = self._simulate({"readers": {"total_mib": 1}})["device"]
        self.name, self.sectors = str(described["model"]), int(described["sectors"])

    def curve(self, part: str) -> pd.DataFrame:
        """Return the curve of one of `PARTS`: what the method of that name simulates."""
        simulated: pd.DataFrame = getattr(self, part)()
        return simulated

    def offset(self, places: int = 96, length_b: int = 4 << 20) -> pd.DataFrame:
        """Return bandwidth by offset: `offset_b`, `pass`, `bandwidth_b_s`."""
        count = length_b // SECTOR_B // READ_SECTORS
        span = self.sectors - (count + 1) * READ_SECTORS
        offsets = [
            place * span // (places - 1) // PAGE_SECTORS * PAGE_SECTORS for place in range(places)
        ]
        rows = []
        for number in range(PASSES):
            order = self._choose.sample(offsets, places)
            requests = [
                ("read", offset + step * READ_SECTORS, READ_SECTORS)
                for offset in order
                for step in range(count + 1)
            ]
            done_ns = self._one_by_one(requests)
            for index, offset in enumerate(order):
                # The first request brings the head there.
                first, last = index * (count + 1), (index + 1) * (count + 1) - 1
                rate_b_s = length_b * 1e9 / (done_ns[last] - done_ns[first])
                rows.append((offset * SECTOR_B, number, rate_b_s))
        return pd.DataFrame(rows, columns=["offset_b", "pass", "bandwidth_b_s"])

    def queue(self, depths: Sequence[int] = (1, 2, 4, 8, 16, 32), count: int = 500) -> pd.DataFrame:
        """Return random reads of 4 KiB by requests that the disk has at once: `queue_depth`,
        `pass`, `throughput_ops_s`.
        """
        rows = []
        for number in range(PASSES):
            requests = self._anywhere("read", count)
            for depth in depths:
                ended_ns = self._replay(requests, depth)["done_ns"].max()
                rows.append((depth, number, count * 1e9 / ended_ns))
        return pd.DataFrame(rows, columns=["queue_depth", "pass", "throughput_ops_s"])

    def scheduler(
        self,
        schedulers: Sequence[str] = SCHEDULERS,
        *,
        readers: int = READERS,
        total_mib: int = 64,
        depth: int | None = 1,
    ) -> pd.DataFrame:
        """Return when each of several readers was done: `scheduler`, `pass`, `reader`, `read_b`,
        `completion_s`.

        Each reads a file of `total_mib / readers` to its end, as the readers of nfstricks03. They
        begin within 10 ms, in each pass at other moments. `depth` is how many requests the disk
        has at once, None as many as it takes: at 1 the order is the scheduler's alone.
        """
        rows = []
        for number in range(PASSES):
            for scheduler in schedulers:
                work = {
                    "readers": readers,
                    "total_mib": total_mib,
                    "start_within_ms": 10,
                    "seed": self._seed(number),
                }
                overrides = {} if depth is None else {"depth": depth}
                report = self._simulate({"readers": work}, overrides, scheduler)
                for reader in report["readers"]:
                    took_s = (reader["done_ns"] - reader["start_ns"]) / 1e9
                    read_b = reader["sectors"] * SECTOR_B
                    rows.append((scheduler, number, reader["reader"], read_b, took_s))
        columns = ["scheduler", "pass", "reader", "read_b", "completion_s"]
        return pd.DataFrame(rows, columns=columns)

    def cache(self, count: int = 40) -> pd.DataFrame:
        """Return bandwidth of 64 KiB reads, and of the same once more: `cache`, `pass`,
        `bandwidth_b_s`.

        The cache is the disk's own; there is no kernel in virtual time that would have another.
        """
        rows = []
        for number in range(PASSES):
            places = self._anywhere("read", count, READ_SECTORS)
            done_ns = [0, *self._one_by_one([place for place in places for _ in range(2)])]
            for turn, state in enumerate(("cold", "warm")):
                spent_ns = sum(
                    done_ns[2 * index + turn + 1] - done_ns[2 * index + turn]
                    for index in range(count)
                )
                rows.append((state, number, count * READ_SECTORS * SECTOR_B * 1e9 / spent_ns))
        return pd.DataFrame(rows, columns=["cache", "pass", "bandwidth_b_s"])

    def alignment(self, count: int = 500) -> pd.DataFrame:
        """Return random requests of 4 KiB beside a page: `action`, `shift_b`, `pass`,
        `throughput_ops_s`.

        They lie inside 1 GiB that was written before, and a write is done when it is on the media.
        """
        rows = []
        for number in range(PASSES):
            base = self._choose.randrange(self.sectors - PATCH_SECTORS) // PATCH_SECTORS
            fill = [
                ("write", base * PATCH_SECTORS + at, FILL_SECTORS)
                for at in range(0, PATCH_SECTORS, FILL_SECTORS)
            ]
            pages = [
                self._choose.randrange(PATCH_SECTORS // PAGE_SECTORS - 1) for _ in range(count)
            ]
            for action in ("read", "write"):
                for shift in (0, 1, 2):
                    first = base * PATCH_SECTORS + shift
                    asked = [(action, first + page * PAGE_SECTORS, PAGE_SECTORS) for page in pages]
                    done_ns = self._one_by_one([*fill, *asked], write="through")
                    spent_ns = done_ns[-1] - done_ns[len(fill) - 1]
                    rows.append((action, shift * SECTOR_B, number, count * 1e9 / spent_ns))
        return pd.DataFrame(rows, columns=["action", "shift_b", "pass", "throughput_ops_s"])

    def read_ahead(self, total_mib: int = 16) -> pd.DataFrame:
        """Return one reader, sequential and in 8 strides, with the file system's read-ahead and
        without: `pattern`, `read_ahead`, `pass`, `bandwidth_b_s`.
        """
        rows = []
        for number in range(PASSES):
            for pattern, streams in (("sequential", 1), ("stride", 8)):
                for state, window in (("default", 2), ("off", 0)):
                    work = {
                        "total_mib": total_mib,
                        "streams": streams,
                        "window": window,
                        "start_within_ms": 10,
                        "seed": self._seed(number),
                    }
                    (reader,) = self._simulate({"readers": work})["readers"]
                    took_ns = reader["done_ns"] - reader["start_ns"]
                    rate_b_s = reader["sectors"] * SECTOR_B * 1e9 / took_ns
                    rows.append((pattern, state, number, rate_b_s))
        return pd.DataFrame(rows, columns=["pattern", "read_ahead", "pass", "bandwidth_b_s"])

    def _seed(self, number: int) -> int:
        """Return the seed of a pass, the same for all that is compared in it."""
        return 1 + number

    def _anywhere(self, action: str, count: int, sectors: int = PAGE_SECTORS) -> list[Request]:
        """Return requests at random places, with room for a shift at the end."""
        pages = (self.sectors - sectors) // PAGE_SECTORS - 1
        return [
            (action, self._choose.randrange(pages) * PAGE_SECTORS, sectors) for _ in range(count)
        ]

    def _one_by_one(self, requests: Sequence[Request], **overrides: str) -> list[int]:
        """Return when each of the requests is done, if the disk has one at a time."""
        log = self._replay(requests, depth=1, **overrides)
        return [int(done_ns) for done_ns in log.sort_values("stream")["done_ns"]]

    def _replay(self, requests: Iterable[Request], depth: int, **overrides: str) -> pd.DataFrame:
        """Return the log of requests that wait all at once; `stream` is their number."""
        waiting = ((action, at, sectors, 0.0) for action, at, sectors in requests)
        asked = {"depth": depth, **overrides}
        report = replay(self.profile, waiting, overrides=asked, log=True)
        return pd.read_csv(io.StringIO(report["log"]))

    def _simulate(
        self, work: dict[str, Any], overrides: Mapping[str, Any] = {}, scheduler: str = "fifo"
    ) -> dict[str, Any]:
        asked = {
            "disk": self.profile,
            "overrides": dict(overrides),
            "scheduler": scheduler,
            "work": work,
        }
        try:
            from fsgreen_engine import simulate
        except ImportError as error:
            raise FsgreenError(
                f"there is no simulator: {error}", where=self.name, next_step=paths.BUILD
            ) from error
        try:
            return dict(simulate(json.dumps(asked)))
        except ValueError as error:
            raise FsgreenError(
                f"cannot be simulated: {error}", where=self.name, next_step="fsgreen-simdisk disks"
            ) from error
