"""Records several meters during one trial: raw bytes go to disk first, readings are made later.

Readings that are parsed during the trial serve live views and the detection of failing meters. Only
the newest ones are kept. The table of power is parsed from the raw bytes after the trial.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Meter, Parser
from fsgreen.meters.core.host import COLUMNS, Sampler
from fsgreen.meters.core.rawtrace import RawWriter, reparse
from fsgreen.meters.core.readings import Newest, Readings
from fsgreen.meters.core.registry import parser_of
from fsgreen.trace import MeterInfo

POLL_S = 1.2
"""Longest wait for bytes. It is longer than the interval of most meters, so that a reading wakes
the thread. A capture stops at the next reading, or after this time."""

SILENCE_S = 3.0
SILENT_INTERVALS = 3
"""A meter fails if it gives no reading for this time and for this number of intervals."""

HOST_INTERVAL_S = 1.0


def silence_s(info: MeterInfo) -> float:
    """Return the longest time without a reading, in seconds, before a meter counts as failed."""
    return max(SILENCE_S, SILENT_INTERVALS / info.rate_hz)


class Capture:
    """Record `meters`, and the host's counters, from entry to `stop`, `finish` or exit.

    A failing meter sets `fault`, but ends nothing else: the caller decides. Nothing is retried.
    `ahead_s` is the parameter of `RawWriter`.
    """

    def __init__(
        self,
        meters: Mapping[str, Meter],
        raw_path: Path,
        host: Sampler | None = None,
        *,
        ahead_s: float | None = None,
    ) -> None:
        self._meters = meters
        self._raw_path = raw_path
        self._ahead_s = ahead_s
        self._host = host
        self._host_rows: list[dict[str, float]] = []
        self._recent = {name: Newest() for name in meters}
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], object]] = []
        self._threads: list[threading.Thread] = []
        self._raw: RawWriter | None = None
        self._excused_s = -math.inf
        self.fault: FsgreenError | None = None
        """Why the capture cannot be trusted; None if it can."""
        self.cpu_s = 0.0
        """Processor time of the threads that have ended, in seconds."""

    def __enter__(self) -> Self:
        infos = self.infos
        parsers = {name: parser_of(info) for name, info in infos.items()}
        self._raw = RawWriter(self._raw_path, infos, ahead_s=self._ahead_s)
        try:
            for meter in self._meters.values():
                meter.start()
        except BaseException:
            self.stop()
            raise
        for name, info in infos.items():
            self._spawn(name, partial(self._record, name, info, parsers[name], self._raw))
        if self._host is not None:
            self._spawn("host", partial(self._sample, self._host))
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def latest_w(self, name: str, since_s: float = float("-inf")) -> float | None:
        """Return the newest sound power of a meter since `since_s`, in watts; None without one."""
        return self._recent[name].latest_w(since_s)

    def since(self, name: str, time_s: float) -> Readings:
        """Return the kept readings of a meter that are later than `time_s`.

        A live view calls it, from any thread, with the time of the last reading that it has seen.
        """
        return self._recent[name].since(time_s)

    @property
    def infos(self) -> dict[str, MeterInfo]:
        """The description of each meter."""
        return {name: meter.describe() for name, meter in self._meters.items()}

    @property
    def running(self) -> bool:
        """Whether the capture is recording."""
        return self._raw is not None

    @contextmanager
    def excusing(self) -> Iterator[None]:
        """Let meters be silent in the `with` block, as long as it takes.

        The account of a simulated SSD is, while its server brings the drive into another state.
        """
        self._excused_s = math.inf
        try:
            yield
        finally:
            self._excused_s = time.monotonic()

    def on_fault(self, callback: Callable[[], object]) -> None:
        """Call `callback` at the first fault, from another thread; at once if there was one."""
        with self._lock:
            if self.fault is None:
                self._callbacks.append(callback)
                return
        callback()

    def finish(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Stop, and return the tables of `power.parquet` and `host.parquet`, in memory."""
        self.stop()
        return reparse(self._raw_path), self.host_table()

    def stop(self) -> None:
        """End the recording and stop the meters. It may be repeated."""
        if self._raw is None:
            return
        self._stop.set()
        for thread in self._threads:
            thread.join()
        for name, meter in self._meters.items():
            try:
                meter.stop()
            except FsgreenError as error:
                self._fail(error)
                self._meters[name].close()
        self._raw.close()
        self._raw = None

    def host_table(self) -> pd.DataFrame:
        """Return the table of `host.parquet`."""
        return pd.DataFrame(self._host_rows, columns=list(COLUMNS))

    def _spawn(self, name: str, work: Callable[[], None]) -> None:
        def run() -> None:
            try:
                work()
            except FsgreenError as error:
                self._fail(error)
            except Exception as error:
                self._fail(_unforeseen(name, error))
            finally:
                with self._lock:
                    self.cpu_s += time.thread_time()

        thread = threading.Thread(target=run, name=f"capture {name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _record(self, name: str, info: MeterInfo, parser: Parser, raw: RawWriter) -> None:
        """Listen until the end. Close a meter that fails, so that it must be identified again."""
        try:
            self._listen(name, info, parser, raw)
        except Exception:
            self._meters[name].close()
            raise

    def _listen(self, name: str, info: MeterInfo, parser: Parser, raw: RawWriter) -> None:
        meter, recent = self._meters[name], self._recent[name]
        limit_s = silence_s(info)
        sound_s = heard_s = time.monotonic()
        while not self._stop.is_set():
            asked_s = time.monotonic()
            chunk = meter.read(POLL_S)
            if chunk is None:
                # While this process stood still, nobody listened: what came meanwhile is read next.
                late_s = time.monotonic() - asked_s - POLL_S
                sound_s = min(asked_s, max(sound_s, self._excused_s)) + max(0.0, late_s)
            else:
                raw.store(name, chunk)
                heard_s = time.monotonic()
                readings = Readings.of(parser.feed(chunk))
                recent.add(readings)
                if any("power-cycled" in quality for quality in set(readings.flags.values())):
                    raise _fault(name, "lost power since the campaign began", info)
                if not np.isnan(readings.power_w).all():
                    sound_s = heard_s
            now_s = time.monotonic()
            if now_s - max(sound_s, self._excused_s) > limit_s:
                how = "speaks garbage" if now_s - heard_s < limit_s / 2 else "went silent"
                raise _fault(name, f"{how}: no reading for {limit_s:g} s", info)

    def _sample(self, host: Sampler) -> None:
        due_s = time.monotonic()
        while True:
            self._host_rows.append(host.sample())
            due_s += HOST_INTERVAL_S
            if self._stop.wait(max(0.0, due_s - time.monotonic())):
                self._host_rows.append(host.sample())
                return

    def _fail(self, error: FsgreenError) -> None:
        with self._lock:
            callbacks, self._callbacks = self._callbacks, []
            self.fault = self.fault or error
        for callback in callbacks:
            callback()


def _fault(name: str, what: str, info: MeterInfo) -> FsgreenError:
    return FsgreenError(
        f"the meter {name} {what}",
        where=info.title,
        next_step="check its power and USB cable; the trial does not count and runs again",
    )


def _unforeseen(name: str, error: Exception) -> FsgreenError:
    return FsgreenError(
        f"recording {name} ended by an error of fsgreen: {error!r}",
        where=f"thread capture {name}",
        next_step="report it with the trial's power.raw; the trial does not count and runs again",
    )
