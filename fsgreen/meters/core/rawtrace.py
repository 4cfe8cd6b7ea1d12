"""`power.raw`: the unchanged bytes of several meters, written before anything is parsed.

The first line is JSON and names the meters. Each further line is a chunk: its arrival time `t` on
the host's monotonic clock, the meter `m`, and the bytes, as text in latin-1 (`b`) or, if that is
shorter, in base64 (`b64`). If the harness was killed, the last line may be cut off: it has no
newline.
"""

from __future__ import annotations

import base64
import io
import json
import math
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Chunk
from fsgreen.meters.core.powertable import power_table, write_power
from fsgreen.meters.core.readings import Readings
from fsgreen.meters.core.registry import parser_of
from fsgreen.trace import MeterInfo


class RawWriter:
    """Writes a raw trace without a buffer, from any thread.

    After a line could not be written, no further line is written, as lines after a torn one cannot
    be read. `ahead_s` is the host's seconds since 1970 minus its monotonic clock; it is for traces
    without a trial record. Raises FsgreenError if the file cannot be written, as on a full disk.
    """

    def __init__(
        self, path: Path, infos: Mapping[str, MeterInfo], *, ahead_s: float | None = None
    ) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._failed: OSError | None = None
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            head: dict[str, Any] = {"meters": {name: asdict(i) for name, i in infos.items()}}
            self._write(head if ahead_s is None else {**head, "ahead_s": ahead_s})
        except FsgreenError:
            self.close()
            raise

    def store(self, meter: str, chunk: Chunk) -> None:
        """Write one chunk. The kernel has it when this returns."""
        self._write({"t": chunk.time_s, "m": meter, **_as_text(chunk.data)})

    def close(self) -> None:
        """Close the file. It may be repeated."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def _write(self, line: Mapping[str, Any]) -> None:
        left = memoryview(json.dumps(line).encode("ascii") + b"\n")
        with self._lock:
            try:
                if self._failed is not None:
                    raise self._failed
                while left:
                    left = left[os.write(self._file, left) :]
            except OSError as error:
                self._failed = error
                raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> FsgreenError:
        return FsgreenError(
            f"the raw power trace cannot be written: {error.strerror}",
            where=self._path,
            next_step=f"make room (df -h {self._path.parent}), then the same command again",
        )


class RawTrace:
    """A stored raw trace. Raises FsgreenError if the file is not one, or is damaged before its end.

    `data` is the content of the file, if it has been read already. `infos` describe the meters, by
    name. `torn_b` is the length of a last line that was cut off, whose chunk is lost; 0 if there is
    none. `ahead_s` is the parameter of `RawWriter`.
    """

    def __init__(self, path: Path, data: bytes | None = None) -> None:
        self._path, self._data = path, data
        try:
            with self._open() as lines:
                head = json.loads(next(lines))
                described = head["meters"].items()
                self.infos = {name: MeterInfo.from_dict(info) for name, info in described}
                self.ahead_s = None if head.get("ahead_s") is None else float(head["ahead_s"])
                self.torn_b = _torn_b(lines)
            if not self.infos:
                raise ValueError("it names no meter")
        except (
            OSError,
            StopIteration,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
        ) as error:
            raise self._damaged(1, error) from error

    def readings(self, meter: str) -> Iterator[Readings]:
        """Parse the chunks of one meter again; yield the readings that each chunk completes."""
        parser = parser_of(self.infos[meter])
        for chunk in self.chunks(meter):
            yield Readings.of(parser.feed(chunk))

    def chunks(self, meter: str) -> Iterator[Chunk]:
        """Yield the chunks of one meter. Raises FsgreenError at a damaged line."""
        with self._open() as lines:
            next(lines)
            for number, text in enumerate(lines, start=2):
                if not text.endswith(b"\n"):
                    return
                try:
                    line = json.loads(text)
                    if line["m"] not in self.infos:
                        raise ValueError(f"no meter is named {line['m']!r}")
                    chunk = Chunk(float(line["t"]), as_bytes(line)) if line["m"] == meter else None
                except (ValueError, LookupError, TypeError, AttributeError) as error:
                    raise self._damaged(number, error) from error
                if chunk is not None:
                    yield chunk

    def _open(self) -> BinaryIO:
        return self._path.open("rb") if self._data is None else io.BytesIO(self._data)

    def _damaged(self, line: int, error: Exception) -> FsgreenError:
        if self._data is not None and line == 1:
            return FsgreenError(
                "this is no raw power trace: its first line names no meter",
                where=self._path,
                next_step="give a file that fsgreen record wrote; a table is read by "
                "--driver table, and fsgreen meters lists what reads other files",
            )
        return FsgreenError(
            f"this is not a whole raw power trace: {error!r} in line {line}",
            where=self._path,
            next_step="move it away; fsgreen unpack CAMPAIGN brings back what was packed"
            if self._data is None
            else f"cut the file before its line {line}: what comes before is whole",
        )


def reparse(raw_path: Path) -> pd.DataFrame:
    """Parse a stored raw trace again; return the table of `power.parquet`.

    Its `attrs["torn_b"]` is `RawTrace.torn_b`. Raises FsgreenError as `RawTrace` does.
    """
    raw = RawTrace(raw_path)
    table = power_table({name: Readings.joined(raw.readings(name)) for name in raw.infos})
    table.attrs["torn_b"] = raw.torn_b
    return table


def write_parsed(raw_path: Path, file: Path) -> None:
    """Parse a stored raw trace into a `power.parquet`, whatever its length.

    Raises FsgreenError as `RawTrace` does, and OSError if `file` cannot be written.
    """
    raw = RawTrace(raw_path)
    write_power(file, {name: raw.readings(name) for name in raw.infos})


def _as_text(data: bytes) -> dict[str, str]:
    """Return bytes in the shorter of both forms, under its key."""
    if data.isascii():
        text = data.decode("ascii")
        in_base64_count = 4 * math.ceil(len(data) / 3)
        if len(json.dumps(text)) <= in_base64_count + len('64""'):
            return {"b": text}
    return {"b64": base64.b64encode(data).decode("ascii")}


def as_bytes(line: Mapping[str, str]) -> bytes:
    """Return the bytes of a line. Raises ValueError or KeyError if it holds none."""
    if "b64" in line:
        return base64.b64decode(line["b64"], validate=True)
    return line["b"].encode("latin-1")


def _torn_b(stream: BinaryIO) -> int:
    """Return the number of bytes after the last newline."""
    size_b = place_b = stream.seek(0, os.SEEK_END)
    while place_b > 0:
        step_b = min(place_b, 2**16)
        place_b = stream.seek(place_b - step_b)
        newline = stream.read(step_b).rfind(b"\n")
        if newline >= 0:
            return size_b - (place_b + newline + 1)
    return size_b
