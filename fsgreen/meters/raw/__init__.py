"""Raw bytes of a live meter in a file: record them without a campaign, and read them again.

A file is a `power.raw` of `fsgreen record`, of a Watts Up's memory, or of a trial.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Imported, Importer
from fsgreen.meters.core.capture import Capture
from fsgreen.meters.core.rawtrace import RawTrace
from fsgreen.meters.core.readings import QUANTITIES, Readings
from fsgreen.meters.core.registry import live_driver, open_meters
from fsgreen.meters.core.settings import Settings, Texts
from fsgreen.meters.files.checks import SUM_OF_ROWS, Flags, mark_frozen, same_rows


class RawSettings(Settings):
    """The settings of raw bytes, which themselves say which meter they are from."""

    meter: str = ""
    """The name of the meter, if there are several."""
    covers: Texts | None = None
    """The parts that draw the power, if the record is wrong."""


def read(data: bytes, settings: RawSettings) -> Imported:
    """Parse raw bytes with the present parser of their meter.

    Raises FsgreenError if the file holds no raw bytes, or those of several meters and none is
    chosen.
    """
    raw = RawTrace(Path(settings.name), data)
    names = list(raw.infos)
    name = settings.meter or names[0]
    if name not in names or (len(names) > 1 and not settings.meter):
        raise FsgreenError(
            f"the bytes are of {len(names)} meters: {', '.join(names)}",
            where=settings.name,
            next_step=f"choose one: --set meter={names[0]}",
        )
    info = raw.infos[name]
    if settings.boundary not in (None, info.boundary):
        settings.refuse(f"the boundary is {info.boundary}, as was recorded")
    info = replace(info, covers=settings.covers or info.covers)
    readings = Readings.joined(raw.readings(name))
    if len(readings) < 2:
        raise FsgreenError(
            f"the meter gave {len(readings)} readings",
            where=settings.name,
            next_step="record it for longer",
        )
    decisions = [f"{len(readings)} readings were parsed from the bytes of {name}."]
    flags = dict(readings.flags)
    if info.boundary != "modelled":  # a model has no noise, so that its rows may be equal
        for place in _frozen(readings, info.resolution_w):
            flags[place] = "|".join(filter(None, [flags.get(place), "frozen"]))
    if raw.torn_b:
        last = len(readings) - 1
        flags[last] = "|".join(filter(None, [flags.get(last), "cut"]))
        decisions.append(f"The last line was torn: {raw.torn_b} bytes, which were left out.")
    if raw.ahead_s is None:
        shift_s = -float(readings.time_s[0])
        decisions.append("The host's clock was not kept: times count from the first reading.")
    else:
        shift_s = raw.ahead_s
        decisions.append("Times are the host's, in seconds since 1970 UTC.")
    means = live_driver(info.driver).means(info)
    decisions += [SUM_OF_ROWS] if means else []
    readings = replace(readings, time_s=readings.time_s + shift_s, flags=flags)
    return Imported(info, readings, tuple(decisions), means)


def _frozen(readings: Readings, step_w: float) -> list[int]:
    """Return the places of readings that repeat the previous reading for too long.

    Readings of power alone are not checked: a meter that is polled often gives one several times.
    """
    given = [getattr(readings, name) for name in QUANTITIES if name != "time_s"]
    known = [column for column in given if column is not None and np.isfinite(column).any()]
    flags = Flags()
    if len(known) > 1:
        same = same_rows(np.column_stack(known))
        mark_frozen(same, readings.power_w, step_w, len(known), flags)
    return flags.places("frozen")


def import_raw(path: Path, meter: str) -> Imported:
    """Read a file that `record` wrote; raises FsgreenError as `read` does."""
    settings = RawSettings(name=path.name, driver=IMPORTER.name, meter=meter)
    return read(path.read_bytes(), settings)


def record(
    table: Mapping[str, Any], seconds: float, raw: Path, *, begun: Callable[[], object]
) -> None:
    """Record the meter that a table `[[meter]]` describes, until the time is over or Ctrl-C.

    `begun` is called when the meter delivers. All bytes that came are on the disk at any moment.
    Raises FsgreenError if the file exists already, if the meter cannot be opened, or if it falls
    silent; the bytes until then are kept.
    """
    if raw.exists():
        raise FsgreenError("there is a file already", where=raw, next_step="name a new file")
    if not seconds > 0:
        raise FsgreenError(
            f"{seconds:g} s is no time", next_step="--seconds 60, or another time above 0"
        )
    ((name, meter),) = open_meters([table], lambda: None).items()
    failed = threading.Event()
    ahead_s = time.time() - time.monotonic()
    with closing(meter), Capture({name: meter}, raw, ahead_s=ahead_s) as capture:
        capture.on_fault(failed.set)
        begun()
        with suppress(KeyboardInterrupt):
            failed.wait(seconds)
    if capture.fault is not None:
        raise FsgreenError(
            capture.fault.what,
            where=capture.fault.where,
            next_step=f"check its power and cable; what came before is in {raw}",
        )


IMPORTER = Importer(
    name="raw",
    summary="raw bytes that fsgreen stored: of record, of a Watts Up's memory, of a trial",
    settings=RawSettings,
    read=read,
)
