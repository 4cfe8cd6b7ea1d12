"""Readings of a file as CSV or Parquet that say of themselves what they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from fsgreen.durable import whole
from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Imported
from fsgreen.meters.core.powertable import power_table
from fsgreen.trace import MeterEnergy

KEY = b"fsgreen"
"""Under this key the metadata of a Parquet file are JSON."""


def write_readings(imported: Imported, said: MeterEnergy, path: Path) -> None:
    """Write the readings as the ending of `path` says: `.csv` or `.parquet`.

    In both are what the meter is (boundary, accuracy, serial number), what was decided about its
    file, and the energy with its limits of error: as lines that begin with `#`, or as metadata.
    Raises FsgreenError where the file is there already or cannot be written, or for another ending.
    """
    writers = {".csv": _write_csv, ".parquet": _write_parquet}
    if path.suffix not in writers:
        raise FsgreenError(
            f"readings are not written as '{path.suffix}'",
            where=path,
            next_step=f"end its name in {' or '.join(writers)}",
        )
    table = power_table({imported.info.driver: imported.readings})
    write_new(path, lambda partial: writers[path.suffix](table, _about(imported, said), partial))


def write_new(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file that is not there yet; raises FsgreenError where it is, or cannot be written."""
    if path.exists():
        raise FsgreenError("there is a file already", where=path, next_step="choose another file")
    try:
        with whole(path) as partial:
            write(partial)
    except OSError as error:
        raise FsgreenError(
            f"the file cannot be written: {error.strerror or error}",
            where=path,
            next_step=f"choose another folder, or make this one: mkdir -p {path.parent}",
        ) from error


def _about(imported: Imported, said: MeterEnergy) -> dict[str, Any]:
    about = {
        "meter": asdict(imported.info),
        "decisions": imported.decisions,
        "energy": asdict(said),
    }
    plain: dict[str, Any] = json.loads(json.dumps(about), parse_constant=lambda _: None)
    return plain


def _write_csv(table: pd.DataFrame, about: Mapping[str, Any], path: Path) -> None:
    lines = [f"# {name}: {json.dumps(value)}\n" for name, value in about["meter"].items()]
    lines += [f"# decision: {sentence}\n" for sentence in about["decisions"]]
    lines += [f"# energy: {json.dumps(about['energy'])}\n"]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(lines)
        table.drop(columns="meter").to_csv(file, index=False, lineterminator="\n")


def _write_parquet(table: pd.DataFrame, about: Mapping[str, Any], path: Path) -> None:
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    metadata = {**(arrow.schema.metadata or {}), KEY: json.dumps(about)}
    pq.write_table(arrow.replace_schema_metadata(metadata), path)
