"""Readings as the table `power.parquet`: in memory, or in a file of any length.

A row group holds readings of one meter. Nothing is rounded. Times rise evenly, so splitting them by
bytes compresses well. Other quantities come from counts of a converter, so a dictionary does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from fsgreen.meters.core.readings import Reading, Readings
from fsgreen.trace.powerfile import COLUMNS, NUMBERS, OK, PowerFile, coded, floats

BLOCK_COUNT = 2**18
"""Number of readings in a row group: columns of 2 MiB, or some seconds of a fast meter. The page of
a dictionary has room for the same number of values, so that the dictionary is always used."""

TEXT = pa.large_string()
GIVEN = ("time_s", "meter", "power_w", "quality")
"""Columns that every reading has. Columns that cannot be null take two thirds of the time to
read."""

SCHEMA = pa.schema(
    [
        pa.field(
            name, TEXT if name in ("meter", "quality") else pa.float64(), nullable=name not in GIVEN
        )
        for name in COLUMNS
    ]
)


def power_table(readings: Mapping[str, Iterable[Reading]]) -> pd.DataFrame:
    """Return readings as the table of `power.parquet`: meter by meter, in order of arrival."""
    tables = [arrow_table(name, Readings.of(several)) for name, several in readings.items()]
    return pa.concat_tables([SCHEMA.empty_table(), *tables]).to_pandas()


def write_power(file: Path, readings: Mapping[str, Iterable[Readings]]) -> None:
    """Write the table of `power.parquet` block by block; each meter's readings come in pieces."""
    with pq.ParquetWriter(
        file,
        SCHEMA,
        compression="lz4",
        dictionary_pagesize_limit=8 * BLOCK_COUNT,
        use_dictionary=["meter", *NUMBERS, "quality"],
        column_encoding={"time_s": "BYTE_STREAM_SPLIT"},
    ) as writer:
        for name, several in readings.items():
            for block in blocks(several):
                writer.write_table(arrow_table(name, block))


def read_power(file: PowerFile, meter: str) -> Iterator[Readings]:
    """Yield the readings of one meter in a `power.parquet`."""
    for table in file.tables(meter):
        numbers = {
            name: None if column.null_count == len(column) else floats(column)
            for name in NUMBERS
            for column in [table[name]]
        }
        codes, qualities = coded(table["quality"])
        flagged = {} if codes is None else _flags(codes, qualities)
        power_w = numbers.pop("power_w")
        assert power_w is not None, "power is always written"
        yield Readings(floats(table["time_s"]), power_w, **numbers, flags=flagged)


def blocks(several: Iterable[Readings], size: int = BLOCK_COUNT) -> Iterator[Readings]:
    """Yield the readings again in blocks of `size`; the last block may be smaller."""
    pending: list[Readings] = []
    count = 0
    for readings in several:
        pending.append(readings)
        count += len(readings)
        if count >= size:
            whole = Readings.joined(pending)
            rest = count % size
            yield from (whole.part(at, at + size) for at in range(0, count - rest, size))
            pending, count = [whole.part(count - rest)], rest
    if count:
        yield Readings.joined(pending)


def arrow_table(meter: str, readings: Readings) -> pa.Table:
    """Return readings of one meter as a table. A quantity that the meter does not give is null."""
    count = len(readings)
    columns = {
        "time_s": readings.time_s,
        "meter": pa.repeat(pa.scalar(meter, TEXT), count),
        **{name: getattr(readings, name) for name in NUMBERS},
        "quality": _qualities(readings),
    }
    return pa.table(
        [
            pa.nulls(count, SCHEMA.field(name).type) if columns[name] is None else columns[name]
            for name in COLUMNS
        ],
        schema=SCHEMA,
    )


def _qualities(readings: Readings) -> pa.Array:
    if not readings.flags:
        return pa.repeat(pa.scalar(OK, TEXT), len(readings))
    known = dict.fromkeys([OK, *readings.flags.values()])
    place_of = {quality: place for place, quality in enumerate(known)}
    codes = np.zeros(len(readings), np.int32)
    codes[list(readings.flags)] = [place_of[quality] for quality in readings.flags.values()]
    return pa.array(list(known), TEXT).take(pa.array(codes))


def _flags(codes: np.ndarray, qualities: list[str]) -> dict[int, str]:
    return {
        int(place): qualities[codes[place]]
        for place in np.flatnonzero(codes != qualities.index(OK) if OK in qualities else codes >= 0)
    }
