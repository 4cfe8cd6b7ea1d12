"""Recording several meters during one trial: raw bytes to disk first, readings after.

`power.raw` is one JSON line naming the meters, then a line per chunk: arrival time `t` on the
host's monotonic clock, meter `m`, bytes `b` as latin-1 text.
"""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Self

import pandas as pd

from fsgreen.errors import FsgreenError
from fsgreen.meters.base import Chunk, Meter
from fsgreen.meters.drivers import parser_of
from fsgreen.meters.host import COLUMNS, HostSampler
from fsgreen.meters.readings import Reading
from fsgreen.trace import MeterInfo

POLL_S = 0.25
SILENCE_S = 3.0
SILENT_INTERVALS = 3
"""A meter fails that gives no reading for both of these."""

HOST_INTERVAL_S = 1.0


class Capture:
    """Record `meters`, and the host's counters, from entry to `finish` or exit.

    A failing meter sets `fault` and ends nothing else: the caller decides. Nothing is retried.
    """

    def __init__(
        self, meters: Mapping[str, Meter], raw_path: Path, host: HostSampler | None = None
    ) -> None:
        self._meters = meters
        self._raw_path = raw_path
        self._host = host
        self._host_rows: list[dict[str, float]] = []
        self._readings: dict[str, list[Reading]] = {name: [] for name in meters}
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], object]] = []
        self._threads: list[threading.Thread] = []
        self._raw: FileIO | None = None
        self.fault: FsgreenError | None = None
        """Why the capture is not to be trusted, or None."""
        self.cpu_s = 0.0
        """Processor time of the threads that have ended."""

    def __enter__(self) -> Self:
        infos = {name: meter.describe() for name, meter in self._meters.items()}
        self._raw = self._raw_path.open("wb", buffering=0)
        try:
            self._store({"meters": {name: asdict(info) for name, info in infos.items()}})
            for meter in self._meters.values():
                meter.start()
        except BaseException:
            self._end()
            raise
        for name, info in infos.items():
            self._spawn(name, partial(self._record, name, info))
        if self._host is not None:
            self._spawn("host", partial(self._sample, self._host))
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def latest_w(self, name: str, since_s: float = float("-inf")) -> float | None:
        """Return the newest sound power of a meter in watts, None if there is none since then."""
        for reading in reversed(self._readings[name]):
            if reading.time_s < since_s:
                return None
            if reading.quality in ("ok", "retimed"):
                return reading.power_w
        return None

    def total_w(self, since_s: float = float("-inf")) -> float | None:
        """Return the sum of all meters' newest power, None while one has none since then."""
        powers = [self.latest_w(name, since_s) for name in self._meters]
        return None if None in powers else sum(p for p in powers if p is not None)

    def on_fault(self, callback: Callable[[], object]) -> None:
        """Call `callback` from another thread at the first fault, or now if there was one."""
        with self._lock:
            if self.fault is None:
                self._callbacks.append(callback)
                return
        callback()

    def finish(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Stop, and return the tables of `power.parquet` and `host.parquet`."""
        self._end()
        return power_table(self._readings), pd.DataFrame(self._host_rows, columns=list(COLUMNS))

    def _spawn(self, name: str, work: Callable[[], None]) -> None:
        def run() -> None:
            try:
                work()
            except FsgreenError as error:
                self._fail(error)
            finally:
                with self._lock:
                    self.cpu_s += time.thread_time()

        thread = threading.Thread(target=run, name=f"capture {name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _record(self, name: str, info: MeterInfo) -> None:
        """Listen until the end; a meter that fails is closed, so that it must identify anew."""
        try:
            self._listen(name, info)
        except FsgreenError:
            self._meters[name].close()
            raise

    def _listen(self, name: str, info: MeterInfo) -> None:
        meter, parser = self._meters[name], parser_of(info)
        limit_s = max(SILENCE_S, SILENT_INTERVALS / info.rate_hz)
        sound_s = heard_s = time.monotonic()
        while not self._stop.is_set():
            chunk = meter.read(POLL_S)
            if chunk is not None:
                self._store({"t": chunk.time_s, "m": name, "b": chunk.data.decode("latin-1")})
                heard_s = time.monotonic()
                readings = parser.feed(chunk)
                self._readings[name] += readings
                if any("power-cycled" in reading.quality for reading in readings):
                    raise _fault(name, "lost power since the campaign began", info)
                if any(reading.power_w == reading.power_w for reading in readings):
                    sound_s = heard_s
            now_s = time.monotonic()
            if now_s - sound_s > limit_s:
                how = "speaks garbage" if now_s - heard_s < limit_s / 2 else "went silent"
                raise _fault(name, f"{how}: no reading for {limit_s:g} s", info)

    def _sample(self, host: HostSampler) -> None:
        due_s = time.monotonic()
        while True:
            self._host_rows.append(host.sample())
            due_s += HOST_INTERVAL_S
            if self._stop.wait(max(0.0, due_s - time.monotonic())):
                self._host_rows.append(host.sample())
                return

    def _store(self, line: Mapping[str, object]) -> None:
        data = json.dumps(line).encode("ascii") + b"\n"
        try:
            with self._lock:
                assert self._raw is not None
                if self._raw.write(data) != len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise FsgreenError(
                f"the raw power trace cannot be written: {error.strerror}",
                where=self._raw_path,
                next_step=f"make room: df -h {self._raw_path.parent}",
            ) from error

    def _fail(self, error: FsgreenError) -> None:
        with self._lock:
            callbacks, self._callbacks = self._callbacks, []
            self.fault = self.fault or error
        for callback in callbacks:
            callback()

    def _end(self) -> None:
        if self._raw is None:
            return
        self._stop.set()
        for thread in self._threads:
            thread.join()
        for meter in self._meters.values():
            meter.stop()
        self._raw.close()
        self._raw = None


def reparse(raw_path: Path) -> pd.DataFrame:
    """Parse a stored raw trace again, into the table of `power.parquet`.

    Raises FsgreenError where the file is not a whole raw trace.
    """
    try:
        with raw_path.open(encoding="ascii") as lines:
            head = json.loads(next(lines))["meters"]
            parsers = {
                name: parser_of(MeterInfo.from_dict(values)) for name, values in head.items()
            }
            readings: dict[str, list[Reading]] = {name: [] for name in parsers}
            for line in map(json.loads, lines):
                chunk = Chunk(float(line["t"]), line["b"].encode("latin-1"))
                readings[line["m"]] += parsers[line["m"]].feed(chunk)
    except (OSError, StopIteration, ValueError, KeyError, TypeError, AttributeError) as error:
        raise FsgreenError(
            f"this is not a whole raw power trace: {error!r}",
            where=raw_path,
            next_step="take it back from version control: dvc checkout",
        ) from error
    return power_table(readings)


def power_table(readings: Mapping[str, Iterable[Reading]]) -> pd.DataFrame:
    """Return the table of `power.parquet`: readings meter by meter, in order of arrival."""
    names = [field.name for field in fields(Reading)]
    rows = [
        {"meter": meter} | {name: getattr(reading, name) for name in names}
        for meter, several in readings.items()
        for reading in several
    ]
    order = ["time_s", "meter", *names[1:]]
    table = pd.DataFrame(rows, columns=order)
    numbers = [name for name in order if name not in ("meter", "quality")]
    return table.astype({name: float for name in numbers} | {"meter": str, "quality": str})


def _fault(name: str, what: str, info: MeterInfo) -> FsgreenError:
    return FsgreenError(
        f"the meter {name} {what}",
        where=f"{info.model}, serial {info.serial}",
        next_step="check its power and USB cable; the trial does not count and runs again",
    )
