"""Reads a `power.parquet` of any size, one row group at a time, for one meter after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fsgreen.errors import FsgreenError
from fsgreen.trace.table import check_units, flawed, numbers
from fsgreen.trace.values import HUGE

NUMBERS = ("power_w", "voltage_v", "current_a", "energy_wh")
COLUMNS = ("time_s", "meter", *NUMBERS, "quality")
PIECE = ("time_s", *NUMBERS, "quality")
OK = "ok"

PIECE_COUNT = 2**18
"""Most readings in a piece: a row group of our own files (2 MiB per column)."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Piece:
    """Successive readings of one meter, in columns of shape (readings,).

    A quantity that the meter does not give is None. `codes` has, for each reading, the place of its
    quality in `qualities`; None means that every reading is ok. `bounds_w`, if it is known, has the
    least and the greatest power; NaN does not count. A file gives volts and amperes only if one of
    them may be over range.
    """

    time_s: Floats
    power_w: Floats
    voltage_v: Floats | None = None
    current_a: Floats | None = None
    energy_wh: Floats | None = None
    codes: NDArray[np.int32] | None = None
    qualities: Sequence[str] = ()
    bounds_w: tuple[float, float] | None = None

    @classmethod
    def of(cls, readings: pd.DataFrame) -> Self:
        """Return the readings of a table of one meter. Raises FsgreenError if it is not one."""
        check_units(readings)
        if "meter" in readings and readings["meter"].nunique() > 1:
            raise flawed("readings of several meters in one trace: select one")
        columns: dict[str, Any] = {name: numbers(readings, name) for name in ("time_s", "power_w")}
        for name in NUMBERS[1:]:
            if name in readings and readings[name].notna().any():
                columns[name] = numbers(readings, name)
        codes, qualities = pd.factorize(readings.get("quality", np.full(len(readings), OK, object)))
        if not set(qualities) <= {OK}:
            columns["codes"] = codes.astype(np.int32)
        return cls(**columns, qualities=list(qualities))

    def part(self, begin: int, end: int) -> Piece:
        """Return a copy of the readings from place `begin` up to `end`."""
        return self.at(slice(begin, end))

    def at(self, places: slice | NDArray[np.bool_]) -> Piece:
        """Return a copy of the readings at some places."""
        columns: dict[str, Any] = {}
        for name in ("time_s", *NUMBERS, "codes"):
            column = getattr(self, name)
            columns[name] = None if column is None else column[places].copy()
        return Piece(**columns, qualities=self.qualities, bounds_w=self.bounds_w)

    def column(self, name: str) -> NDArray[Any]:
        """Return a column of `PIECE`: numbers, or the texts of `quality`."""
        if name == "quality" and self.codes is not None:
            return np.array(self.qualities, dtype=object)[self.codes]
        if name == "quality":
            return np.full(len(self.time_s), OK, dtype=object)
        values = getattr(self, name)
        return np.full(len(self.time_s), np.nan) if values is None else np.asarray(values)

    def frame(self) -> pd.DataFrame:
        """Return the readings as a table."""
        return pd.DataFrame({name: self.column(name) for name in PIECE})


class PowerFile:
    """An open `power.parquet`, for one thread only. It is a context manager.

    Raises FsgreenError if the file is not a table of power, lacks a column, or is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._source = pa.OSFile(str(path))
        except OSError as error:
            raise self._foreign(str(error)) from error
        try:
            self._file = pq.ParquetFile(self._source, read_dictionary=["meter", "quality"])
        except (OSError, ValueError, KeyError) as error:
            self._source.close()
            raise self._foreign(str(error)) from error
        self._place = {name: nth for nth, name in enumerate(self._file.schema_arrow.names)}
        if lacking := [name for name in COLUMNS if name not in self._place]:
            self.close()
            raise self._foreign(f"it lacks {', '.join(lacking)}")

    def __enter__(self) -> PowerFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. It may be repeated."""
        self._source.close()

    def meters(self) -> list[str]:
        """Return the names of the meters, in the order of their first readings."""
        names: dict[str, None] = {}
        for group in range(self._file.metadata.num_row_groups):
            only = self._only(group, "meter")
            if only is not None:
                names[only] = None
            else:
                for table in self._batches(group, ["meter"]):
                    several = table["meter"].cast(pa.string())
                    names |= dict.fromkeys(several.unique().to_pylist())
        return list(names)

    def tables(self, meter: str) -> Iterator[pa.Table]:
        """Yield all columns of one meter's readings, in their order."""
        for group in range(self._file.metadata.num_row_groups):
            only = self._only(group, "meter")
            if only in (None, meter):
                yield from self._batches(group, COLUMNS, meter if only is None else None)

    def pieces(self, meter: str) -> Iterator[Piece]:
        """Yield one meter's readings in their order, with the columns that reductions need.

        Some facts come from the statistics of a row group, without reading its column: that there
        is no counter, that all readings are ok, that no volts or amperes are over range, and the
        bounds of power.
        """
        for group in range(self._file.metadata.num_row_groups):
            only = self._only(group, "meter")
            if only not in (None, meter):
                continue
            columns = ["time_s", "power_w"]
            columns += [name for name in ("voltage_v", "current_a") if self._is_huge(group, name)]
            if not self._is_null(group, "energy_wh"):
                columns.append("energy_wh")
            if self._only(group, "quality") != OK:
                columns.append("quality")
            bounds_w = self._bounds(group, "power_w")
            for batch in self._batches(group, columns, meter if only is None else None):
                flagged = "quality" in columns
                codes, qualities = coded(batch["quality"]) if flagged else (None, [])
                numbers = {name: floats(batch[name]) for name in columns if name != "quality"}
                yield Piece(**numbers, codes=codes, qualities=qualities, bounds_w=bounds_w)

    def _batches(
        self, group: int, columns: Sequence[str], meter: str | None = None
    ) -> Iterator[pa.Table]:
        """Yield columns of a row group in batches; only readings of `meter`, if it is given."""
        try:
            for batch in self._file.iter_batches(
                PIECE_COUNT,
                row_groups=[group],
                columns=list(dict.fromkeys([*columns, *(["meter"] if meter is not None else [])])),
                use_threads=False,
            ):
                table = pa.Table.from_batches([batch])
                if meter is not None:
                    table = table.filter(pc.equal(table["meter"].cast(pa.string()), meter))
                if table.num_rows:
                    yield table
        except (OSError, ValueError) as error:
            raise self._foreign(str(error)) from error

    def _is_null(self, group: int, column: str) -> bool:
        about = self._file.metadata.row_group(group).column(self._place[column])
        counts = about.statistics
        return (
            counts is not None and counts.has_null_count and counts.null_count == about.num_values
        )

    def _is_huge(self, group: int, column: str) -> bool:
        """Return whether a value of a column in a row group may be over range."""
        about = self._file.metadata.row_group(group).column(self._place[column])
        has_bounds = about.statistics is not None and about.statistics.has_min_max
        return not self._is_null(group, column) and not (has_bounds and about.statistics.max < HUGE)

    def _only(self, group: int, column: str) -> Any:
        """Return the only value of a text column in a row group; None if it may have several."""
        bounds = self._bounds(group, column)
        return bounds[0] if bounds is not None and bounds[0] == bounds[1] else None

    def _bounds(self, group: int, column: str) -> tuple[Any, Any] | None:
        """Return the least and the greatest value of a column in a row group; None if unknown."""
        about = self._file.metadata.row_group(group).column(self._place[column]).statistics
        if about is None or not about.has_min_max or about.null_count:
            return None
        return about.min, about.max

    def _foreign(self, reason: str) -> FsgreenError:
        return FsgreenError(
            f"this is not a whole table of power: {reason}",
            where=self._path,
            next_step="make it anew from power.raw: fsgreen reparse CAMPAIGN --into FOLDER",
        )


def floats(column: pa.ChunkedArray) -> Floats:
    """Return a column as float64, if possible without a copy. Null becomes NaN."""
    whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    values: Floats = whole.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return values


def coded(column: pa.ChunkedArray) -> tuple[NDArray[np.int32] | None, list[str]]:
    """Return the place of each reading's quality in a list, and the list; None if all are ok."""
    if column.null_count:
        column = column.cast(pa.string()).fill_null("none")
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    qualities = [str(quality) for quality in whole.dictionary.to_pylist()]
    codes = whole.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    if OK in qualities and (codes == qualities.index(OK)).all():
        return None, qualities
    return codes, qualities
