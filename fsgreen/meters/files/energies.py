"""The energy of a file of readings, or of a part of it, with limits of error and flaws.

The energy is computed by the trapezoid rule. If each row is the mean of the interval that it ends,
or its energy, it is the sum of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np

from fsgreen import trace
from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Imported
from fsgreen.meters.core.powertable import power_table
from fsgreen.meters.core.readings import Readings
from fsgreen.meters.files.dates import UNIX_S
from fsgreen.trace import REMARKS, Flaw, MeterEnergy

MARGIN = 2
"""Number of readings between a flagged one and a sound part. The next one depends on its flag."""

TRUE = REMARKS | {"lost", "out-of-order", "cut", "reset", "power-cycled"}
"""Flags of readings whose power is still what the meter gave. They concern the time, the readings
before or after, or the counter."""


def moment(text: str | None, imported: Imported) -> float | None:
    """Return a moment on a file's clock, given seconds from its first reading or a time.

    A time without an offset from UTC is in UTC. Raises FsgreenError if the text is neither, or if
    it is a time and the file has no date.
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
            f"{text} is neither a number of seconds nor a time",
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
    """Return the spans without flagged readings in them or near, in seconds from the first one."""
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
    """Return the span between two moments on a file's clock; by default, the whole file.

    Raises FsgreenError if the file has no readings there, or if the span ends before it begins.
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
    """Return the energy of a span on the file's own clock; by default, of the whole file.

    A reading whose flag says that its value is not true counts as missing.
    """
    span = span or span_of(imported)
    readings = imported.readings
    untrue = [place for place, flag in readings.flags.items() if set(flag.split("|")) - TRUE]
    said = _energy_of(readings, imported, span)
    if not untrue:
        return said
    within = [nth for nth in sorted(untrue) if span[0] <= readings.time_s[nth] <= span[1]]
    flaws = [_untrue(readings, within)] if within else []
    sound = _energy_of(_without(readings, untrue), imported, span)
    return replace(sound, flaws=(*flaws, *said.flaws))


def _energy_of(readings: Readings, imported: Imported, span: tuple[float, float]) -> MeterEnergy:
    info = imported.info
    table = power_table({info.driver: readings})
    reduced = trace.MeterTrace.of(table, info, [span], means=imported.means)
    return trace.meter_energy(info.driver, info, reduced, [span])


def _without(readings: Readings, places: Sequence[int]) -> Readings:
    """Return readings in which those at some places have no power and no energy."""
    blank = np.zeros(len(readings), dtype=bool)
    blank[places] = True
    energy_wh = readings.energy_wh
    return replace(
        readings,
        power_w=np.where(blank, np.nan, readings.power_w),
        energy_wh=None if energy_wh is None else np.where(blank, np.nan, energy_wh),
    )


def _untrue(readings: Readings, places: Sequence[int]) -> Flaw:
    """Return the flaw of readings with untrue values: their number, and the first of them."""
    first = places[0]
    since_s, power_w = readings.time_s[first] - readings.time_s[0], readings.power_w[first]
    value = f"{power_w:.4g} W, " if np.isfinite(power_w) else ""
    return Flaw(
        14,
        "untrue",
        f"{len(places)} of {len(readings)} values are not true, the first {since_s:g} s after the "
        f"first reading: {value}marked {readings.flags[first].replace('|', ' and ')}",
    )
