"""Files of readings: `fsgreen import FILE --driver hoboware --set dates=DMY`.

They are read with a driver and its settings; of a file or a part of it the energy is told, with its
limits of error and flaws; and its readings are written as CSV or Parquet that say what they are.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from fsgreen import trace
from fsgreen.durable import whole
from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Imported, Importer
from fsgreen.meters.core.powertable import power_table
from fsgreen.meters.core.readings import Readings
from fsgreen.meters.core.settings import Settings
from fsgreen.meters.files.text import some
from fsgreen.trace import REMARKS, Flaw, MeterEnergy, MeterInfo

UNIX_S = 1e8
"""Times above are seconds since 1970 UTC; those below count from the first reading."""

MARGIN = 2
"""A part without flaws begins so many readings after a flagged one: the next is judged with it."""

TRUE = REMARKS | {"lost", "out-of-order", "cut", "reset", "power-cycled"}
"""Marks that leave a reading's own power what the meter gave: of its time, of what stood before it
or behind it, of the counter."""

KEY = b"fsgreen"
"""Under this key the metadata of a Parquet file are JSON."""


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
    try:
        settings = importer.settings.of(table)
    except FsgreenError as error:
        if importer.columns is None:
            raise
        raise FsgreenError(
            f"{error.what}\nits columns seem to be: {some(list(importer.columns(data)), 20)}",
            where=error.where,
            next_step="name those of time and power, and what they are: --set time=NAME "
            '--set power="NAME in W" --set boundary=wall --set gain_error=0.01; all settings: '
            f"fsgreen meters {importer.name}",
        ) from error
    return importer.read(data, settings)


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


def moment(text: str | None, imported: Imported) -> float | None:
    """Return a moment on a file's clock: of seconds from its first reading, or of a time.

    A time without an offset from UTC is in UTC. Raises FsgreenError where it is neither, or the
    file has no date.
    """
    if text is None:
        return None
    first_s = float(imported.readings.time_s[0])
    try:
        return first_s + float(text)
    except ValueError:
        pass
    try:
        when = datetime.fromisoformat(text)
    except ValueError as error:
        raise FsgreenError(
            f"{text} is no moment",
            where=imported.info.title,
            next_step="give seconds from the first reading, or a time: 2026-08-17T13:00:00Z",
        ) from error
    if first_s < UNIX_S:
        raise FsgreenError(
            "the times of this file have no known date",
            where=imported.info.title,
            next_step="give seconds from its first reading, or its --set gmt_offset=+01:00",
        )
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def sound_spans(imported: Imported) -> list[tuple[float, float]]:
    """Return the parts without a flagged reading in them or near, in seconds from the first one."""
    readings = imported.readings
    flagged = [place for place, flag in readings.flags.items() if set(flag.split("|")) - REMARKS]
    last = len(readings) - 1
    edges = [-MARGIN, *sorted(flagged), last + MARGIN]
    since_s = readings.time_s - readings.time_s[0]
    return [
        (float(since_s[before + MARGIN]), float(since_s[after - MARGIN]))
        for before, after in pairwise(edges)
        if after - before > 2 * MARGIN
    ]


def span_of(
    imported: Imported, from_s: float | None = None, to_s: float | None = None
) -> tuple[float, float]:
    """Return the span between two moments on a file's clock, by default from its first to its last.

    Raises FsgreenError where the file has no readings there, or it would end before it begins.
    """
    time_s = imported.readings.time_s
    first_s, last_s = float(time_s[0]), float(time_s[-1])
    start_s = first_s if from_s is None else from_s
    end_s = last_s if to_s is None else to_s
    if from_s is not None and to_s is not None and not start_s < end_s:
        early_s, late_s = end_s - first_s, start_s - first_s
        turned = f"--from {early_s:g} --to {late_s:g}"
        raise FsgreenError(
            f"--from, {late_s:g} s after the first reading, is not before --to, {early_s:g} s",
            where=imported.info.title,
            next_step=turned if early_s < late_s else "give a later --to",
        )
    if not first_s <= start_s < end_s <= last_s:
        raise FsgreenError(
            f"the file has no readings from {start_s - first_s:g} s to {end_s - first_s:g} s: it "
            f"ends {last_s - first_s:g} s after its first reading",
            where=imported.info.title,
            next_step="name moments in the file: --from 0 is its first reading",
        )
    return start_s, end_s


def energy_of(imported: Imported, span: tuple[float, float] | None = None) -> MeterEnergy:
    """Return what a file says of a span on its own clock, by default of all of it.

    A reading whose mark says that its value is not true has none here: it is part of no energy.
    """
    span = span or span_of(imported)
    readings = imported.readings
    untrue = [place for place, flag in readings.flags.items() if set(flag.split("|")) - TRUE]
    said = _energy_of(readings, imported.info, span)
    if not untrue:
        return said
    within = [nth for nth in sorted(untrue) if span[0] <= readings.time_s[nth] <= span[1]]
    flaws = [_untrue(readings, within)] if within else []
    sound = _energy_of(_without(readings, untrue), imported.info, span)
    return replace(sound, flaws=(*flaws, *said.flaws))


def _energy_of(readings: Readings, info: MeterInfo, span: tuple[float, float]) -> MeterEnergy:
    table = power_table({info.driver: readings})
    return trace.meter_energy(info.driver, info, trace.MeterTrace.of(table, info, [span]), [span])


def _without(readings: Readings, places: Sequence[int]) -> Readings:
    """Return readings of which some have no power and no energy."""
    blank = np.zeros(len(readings), dtype=bool)
    blank[places] = True
    energy_wh = readings.energy_wh
    return replace(
        readings,
        power_w=np.where(blank, np.nan, readings.power_w),
        energy_wh=None if energy_wh is None else np.where(blank, np.nan, energy_wh),
    )


def _untrue(readings: Readings, places: Sequence[int]) -> Flaw:
    """Say of readings whose value is not true how many there are, and which is the first."""
    first = places[0]
    since_s, power_w = readings.time_s[first] - readings.time_s[0], readings.power_w[first]
    value = f"{power_w:.4g} W, " if np.isfinite(power_w) else ""
    return Flaw(
        14,
        "untrue",
        f"{len(places)} of {len(readings)} values are not true, the first {since_s:g} s after the "
        f"first reading: {value}marked {readings.flags[first].replace('|', ' and ')}",
    )


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
