"""Importing a file of readings: `fsgreen import FILE --driver hoboware --set dates=DMY`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fsgreen.durable import whole
from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Imported, Importer


def import_file(path: Path, importer: Importer, options: Mapping[str, Any]) -> Imported:
    """Read a file with a driver and its settings.

    Raises FsgreenError where the file is not there or cannot be trusted, and for wrong settings.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FsgreenError(
            f"the file cannot be read: {error.strerror}", where=path, next_step="check its path"
        ) from error
    table = {**options, "name": path.name, "driver": importer.name}
    return importer.read(data, importer.settings.of(table))


def write_power(imported: Imported, name: str, path: Path) -> None:
    """Write the readings as a `power.parquet` whose meter is called `name`.

    Raises FsgreenError where the file is there already or cannot be written.
    """
    from fsgreen.meters.core.powertable import power_table

    if path.exists():
        raise FsgreenError("there is a file already", where=path, next_step="choose another file")
    try:
        with whole(path) as partial:
            power_table({name: imported.readings}).to_parquet(partial, index=False)
    except OSError as error:
        raise FsgreenError(
            f"the readings cannot be written: {error.strerror}",
            where=path,
            next_step="choose another file",
        ) from error


def options_of(texts: Sequence[str]) -> dict[str, Any]:
    """Return settings from texts such as `dates=DMY` or `range_w=3600`.

    A value that TOML reads as a number, truth or list is one; every other is a text. Raises
    FsgreenError for a text without `=`.
    """
    options: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (equals and key.strip()):
            raise FsgreenError(f"'{text}' is no setting", next_step="write it as --set dates=DMY")
        options[key.strip()] = _value(value.strip())
    return options


def _value(text: str) -> Any:
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value if isinstance(value, (bool, int, float, list, str)) else text
