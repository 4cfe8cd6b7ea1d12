"""Importing a file of readings: `fsgreen import FILE --driver hoboware --set dates=DMY`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Imported, Importer
from fsgreen.meters.core.settings import Settings


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


def beside(path: Path) -> dict[str, Any]:
    """Return the driver and its settings that stand in a file beside a log, if there is one.

    It is called like the log, with `.toml` behind. Raises FsgreenError where it is no TOML.
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
            next_step='write it as TOML: driver = "table", then a setting a line',
        ) from error


def options_of(texts: Sequence[str], settings: type[Settings] | None = None) -> dict[str, Any]:
    """Return settings from texts such as `dates=DMY` or `range_w=3600`.

    A value that TOML reads as a number, truth or list is one, but not where `settings` declares a
    text; every other is a text. Raises FsgreenError for a text without `=`.
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
