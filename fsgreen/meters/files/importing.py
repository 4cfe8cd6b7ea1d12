"""Files of readings: `fsgreen import FILE --driver hoboware --set dates=DMY`.

They are read by a driver with its settings, and written as CSV or Parquet with a description.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from fsgreen.durable import whole
from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Imported, Importer
from fsgreen.meters.core.powertable import power_table
from fsgreen.meters.core.settings import Settings
from fsgreen.meters.files.text import some
from fsgreen.trace import MeterEnergy

KEY = b"fsgreen"
"""The key of the metadata of a Parquet file. Its value is JSON."""


def import_file(path: Path, importer: Importer, options: Mapping[str, Any]) -> Imported:
    """Read a file with a driver and its settings.

    Raises FsgreenError if the file does not exist or cannot be trusted, or if a setting is wrong.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FsgreenError(
            f"the file cannot be read: {error.strerror}", where=path, next_step="check its path"
        ) from error
    table = {**options, "name": path.name, "driver": importer.name}
    try:
        settings = importer.settings.of(table)
    except FsgreenError as error:
        if importer.columns is None:
            raise
        raise FsgreenError(
            f"{error.what}\nits columns seem to be: {some(list(importer.columns(data)), 20)}",
            where=error.where,
            next_step="name the columns of time and power, and the boundary: --set time=NAME "
            '--set power="NAME in W" --set boundary=wall --set gain_error=0.01; all settings: '
            f"fsgreen meters {importer.name}",
        ) from error
    return importer.read(data, settings)


def beside(path: Path) -> dict[str, Any]:
    """Return the driver and its settings from a file beside a log; empty if there is none.

    Its name is that of the log with `.toml` appended. Raises FsgreenError if it is not TOML.
    """
    file = path.with_name(f"{path.name}.toml")
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise FsgreenError(
            f"the settings beside the log cannot be read: {error}",
            where=file,
            next_step='write it as TOML: driver = "table", then one setting per line',
        ) from error


def options_of(texts: Sequence[str], settings: type[Settings] | None = None) -> dict[str, Any]:
    """Return settings from texts such as `dates=DMY` or `range_w=3600`.

    A value that TOML reads as a number, a boolean or a list is one, unless `settings` declares a
    text. Any other value is a text. Raises FsgreenError for a text without `=`.
    """
    options: dict[str, Any] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (equals and key):
            raise FsgreenError(f"'{text}' is no setting", next_step="write it as --set dates=DMY")
        declared = settings.model_fields.get(key) if settings else None
        read = _value(value)
        is_text = declared is not None and declared.annotation is str
        options[key] = value if is_text and not isinstance(read, str) else read
    return options


def _value(text: str) -> Any:
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value if isinstance(value, (bool, int, float, list, str)) else text


def write_readings(imported: Imported, said: MeterEnergy, path: Path) -> None:
    """Write the readings in the format of the ending of `path`: `.csv` or `.parquet`.

    Both have the description of the meter (boundary, accuracy, serial number), the decisions about
    its file, and the energy with its limits of error: as lines that begin with `#`, or as metadata.
    Raises FsgreenError if the file exists or cannot be written, or if the ending is another one.
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
    """Write a new file. Raises FsgreenError if it exists already, or cannot be written."""
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
