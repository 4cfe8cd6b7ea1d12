"""The energy of a file of readings, or of a part of it, with its limits of error and flaws."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

from fsgreen import trace
from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Imported
from fsgreen.meters.core.powertable import power_table
from fsgreen.trace import REMARKS, MeterEnergy

UNIX_S = 1e8
"""Times above are seconds since 1970 UTC; those below count from the first reading."""


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
            where=imported.info.model,
            next_step="give seconds from the first reading, or a time: 2026-08-17T13:00:00Z",
        ) from error
    if first_s < UNIX_S:
        raise FsgreenError(
            "the times of this file have no known date",
            where=imported.info.model,
            next_step="give seconds from its first reading, or its --set gmt_offset=+01:00",
        )
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def sound_spans(imported: Imported) -> list[tuple[float, float]]:
    """Return the parts without a flagged reading, in seconds from the first one."""
    readings = imported.readings
    flagged = [place for place, flag in readings.flags.items() if set(flag.split("|")) - REMARKS]
    edges = [-1, *sorted(flagged), len(readings)]
    since_s = readings.time_s - readings.time_s[0]
    return [
        (float(since_s[before + 1]), float(since_s[after - 1]))
        for before, after in pairwise(edges)
        if after - before > 3
    ]


def span_of(
    imported: Imported, from_s: float | None = None, to_s: float | None = None
) -> tuple[float, float]:
    """Return the span between two moments on a file's clock, by default from its first to its last.

    Raises FsgreenError where the file has no readings there.
    """
    time_s = imported.readings.time_s
    first_s, last_s = float(time_s[0]), float(time_s[-1])
    start_s = first_s if from_s is None else from_s
    end_s = last_s if to_s is None else to_s
    if not first_s <= start_s < end_s <= last_s:
        raise FsgreenError(
            f"the file has no readings from {start_s - first_s:g} s to {end_s - first_s:g} s: it "
            f"ends {last_s - first_s:g} s after its first reading",
            where=imported.info.model,
            next_step="name moments in the file: --from 0 is its first reading",
        )
    return start_s, end_s


def energy_of(imported: Imported, span: tuple[float, float] | None = None) -> MeterEnergy:
    """Return what a file says of a span on its own clock, by default of all of it."""
    info = imported.info
    span = span or span_of(imported)
    table = power_table({info.driver: imported.readings})
    return trace.meter_energy(info.driver, info, trace.MeterTrace.of(table, info, [span]), span)
