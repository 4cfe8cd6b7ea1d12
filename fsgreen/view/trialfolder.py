"""The folder of a trial as a source of the live view, while the trial runs or later.

What stands in a running trial is its raw trace: watts. Its phases and its work come with its
record, when it is complete.
"""

from __future__ import annotations

import json
import os
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from fsgreen.errors import FsgreenError
from fsgreen.meters import Chunk, Readings
from fsgreen.meters.core.rawtrace import as_bytes
from fsgreen.meters.core.registry import parser_of
from fsgreen.paths import RECORD
from fsgreen.trace import MeterInfo
from fsgreen.trial import Phase
from fsgreen.view.source import Work

RAW = "power.raw"

MALFORMED = (ValueError, KeyError, TypeError, AttributeError, StopIteration)
"""What is raised by a line that is not one of a raw trace."""

DEAD_S = 10.0
DEAD_INTERVALS = 5
"""A trial is dead whose trace has not grown for both of these: its harness was killed."""


def newest_trial(campaign_folder: Path) -> Path:
    """Return the folder of the trial that runs or ran last; raises FsgreenError if none does."""
    traces = (campaign_folder / "trials").glob(f"*/{RAW}")
    newest = max(traces, key=lambda trace: trace.stat().st_mtime, default=None)
    if newest is None:
        raise FsgreenError(
            "there is no trial yet that a meter watches",
            where=campaign_folder,
            next_step="start one: ./run measure STUDY",
        )
    return newest.parent


class TrialFolder:
    """Follows a trial, which keeps its identity when its folder gets its final name."""

    def __init__(self, folder: Path) -> None:
        self._path = folder
        self._lock = threading.Lock()
        try:
            self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            weakref.finalize(self, os.close, self._folder)
            self._raw = self._open(RAW)
            weakref.finalize(self, self._raw.close)
        except OSError as error:
            raise FsgreenError(
                f"no trace of a trial can be read here: {error.strerror}",
                where=folder / RAW,
                next_step="look again once the trial has begun",
            ) from error
        try:
            head = next(self._lines())["meters"]
            self.meters: Mapping[str, MeterInfo] = {
                name: MeterInfo.from_dict(values) for name, values in head.items()
            }
        except MALFORMED as error:
            raise self._broken(error) from error
        self._parsers = {name: parser_of(info) for name, info in self.meters.items()}
        self._batches: dict[str, list[Readings]] = {name: [] for name in self.meters}

    def running(self) -> bool:
        """Whether the trial goes on: it has no record, was not discarded, and is not dead."""
        if self._has_record() or os.fstat(self._folder).st_nlink == 0:
            return False
        slowest_s = max(1 / info.rate_hz for info in self.meters.values())
        silent_s = time.time() - os.fstat(self._raw.fileno()).st_mtime
        return silent_s < max(DEAD_S, DEAD_INTERVALS * slowest_s)

    def now_s(self) -> float:
        """Return the host's monotonic time; after the end, that of the last reading."""
        if self.running():
            return time.monotonic()
        self._read()
        ends_s = [
            float(batch.time_s[-1]) for batches in self._batches.values() for batch in batches
        ]
        return max(ends_s, default=0.0)

    def since(self, meter: str, time_s: float) -> Readings:
        """Return the readings of a meter that are later than `time_s`."""
        self._read()
        with self._lock:
            later: list[Readings] = []
            for batch in reversed(self._batches[meter]):
                if not (batch.time_s > time_s).any():
                    break
                later.insert(0, batch)
        readings = Readings.joined(later)
        return readings.part(int(np.searchsorted(readings.time_s, time_s, "right")))

    def work(self, time_s: float) -> Work:
        """Return the rates of work that are later than `time_s`; none before the trial's end."""
        if not self._has_record():
            return Work(np.empty(0), np.empty(0))
        later = self._ops["time_s"].to_numpy(float) > time_s
        return Work(
            self._ops["time_s"].to_numpy(float)[later],
            (self._ops["work_ops"] / self._ops["duration_s"]).to_numpy(float)[later],
        )

    def phases(self) -> Sequence[Phase]:
        """Return the phases; none before the trial's end."""
        return self._phases if self._has_record() else ()

    def _has_record(self) -> bool:
        try:
            os.stat(RECORD, dir_fd=self._folder)
        except FileNotFoundError:
            return False
        return True

    @cached_property
    def _phases(self) -> tuple[Phase, ...]:
        with self._open(RECORD) as file:
            return tuple(Phase(**phase) for phase in json.load(file)["phases"])

    @cached_property
    def _ops(self) -> pd.DataFrame:
        try:
            with self._open("ops.parquet") as file:
                return pd.read_parquet(file)
        except FileNotFoundError:
            # A trial whose meter failed before the work began.
            return pd.DataFrame({"time_s": [], "work_ops": [], "duration_s": []}, dtype=float)

    def _open(self, name: str) -> BinaryIO:
        return os.fdopen(os.open(name, os.O_RDONLY, dir_fd=self._folder), "rb")

    def _read(self) -> None:
        """Parse what was added to the raw trace."""
        with self._lock:
            new: dict[str, list[Readings]] = {name: [] for name in self.meters}
            try:
                for line in self._lines():
                    chunk = Chunk(float(line["t"]), as_bytes(line))
                    new[line["m"]].append(Readings.of(self._parsers[line["m"]].feed(chunk)))
            except MALFORMED as error:
                raise self._broken(error) from error
            for name, batches in new.items():
                if len(batch := Readings.joined(batches)):
                    self._batches[name].append(batch)

    def _lines(self) -> Iterator[Any]:
        """Yield the whole lines that were not read before."""
        while line := self._raw.readline():
            if not line.endswith(b"\n"):
                self._raw.seek(-len(line), os.SEEK_CUR)
                return
            yield json.loads(line)

    def _broken(self, error: Exception) -> FsgreenError:
        return FsgreenError(
            f"this is not a raw power trace: {error!r}",
            where=self._path / RAW,
            next_step="move it away; fsgreen unpack CAMPAIGN brings back what was packed",
        )
