"""A stored `power.raw` as a file of readings: of `fsgreen record`, a memory, or a trial."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Imported, Importer
from fsgreen.meters.core.rawtrace import RawTrace
from fsgreen.meters.core.readings import Readings
from fsgreen.meters.core.settings import Settings, Texts


class RawSettings(Settings):
    """What is told of raw bytes, which say what meter they are of."""

    meter: str = ""
    """The meter, where there are several."""
    covers: Texts | None = None
    """The parts whose power it is, if other than was recorded."""


def read(data: bytes, settings: RawSettings) -> Imported:
    """Parse raw bytes with the parser of their meter, as it is today.

    Raises FsgreenError where they are none, or of several meters of which none is chosen.
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
    readings = replace(readings, time_s=readings.time_s + shift_s, flags=flags)
    return Imported(info, readings, tuple(decisions))


def import_raw(path: Path, meter: str) -> Imported:
    """Read what `record` wrote; raises FsgreenError as `read`."""
    settings = RawSettings(name=path.name, driver=IMPORTER.name, meter=meter)
    return read(path.read_bytes(), settings)


IMPORTER = Importer(
    name="raw",
    summary="raw bytes that fsgreen stored: of record, of a Watts Up's memory, of a trial",
    settings=RawSettings,
    read=read,
)
