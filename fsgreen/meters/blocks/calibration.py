"""Calibration of a block stream's channels: from readings at known currents, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fsgreen.errors import FsgreenError
from fsgreen.meters.blocks.format import Channel
from fsgreen.meters.core.readings import Readings


@dataclass(frozen=True, slots=True)
class Correction:
    """What makes a shown value true: `gain` x shown + `offset`, in the channel's unit.

    `residual` is the largest distance of a known value from that line, NaN where not fitted.
    """

    gain: float = 1.0
    offset: float = 0.0
    residual: float = float("nan")

    def setting(self, channel: str, unit: str) -> str:
        """Return the line for the settings `calibration` and `calibration_after`."""
        return f"{channel} {unit} {self.gain:.6g} {self.offset:.6g}"


def calibrate(steps: Sequence[tuple[float, Readings]], quantity: str = "current_a") -> Correction:
    """Fit a correction to readings taken at known values, by least squares.

    Parameters
    ----------
    steps : sequence of (float, Readings)
        A value by a reference instrument, and the readings meanwhile; two different ones at least.
        Those marked with a flag are left out.
    quantity : str
        `current_a`, `voltage_v` or `power_w`.
    """
    known = np.array([value for value, _ in steps])
    shown = np.array([_mean(readings, quantity) for _, readings in steps])
    if len(known) < 2 or not np.ptp(known) > 0 or not np.ptp(shown) > 0:
        raise FsgreenError(
            f"a calibration of {quantity} needs readings at two different known values",
            where=f"{len(known)} steps at {known.tolist()}, which read {shown.tolist()}",
            next_step="measure at no load and at two or more known loads",
        )
    gain, offset = np.polyfit(shown, known, 1)
    residual = float(abs(gain * shown + offset - known).max())
    return Correction(float(gain), float(offset), residual)


def _mean(readings: Readings, quantity: str) -> float:
    column = getattr(readings, quantity)
    sound = np.ones(len(readings), dtype=bool)
    sound[list(readings.flags)] = False
    if column is None or not sound.any():
        raise FsgreenError(
            f"a step of the calibration has no sound reading of {quantity}",
            where=f"{len(readings)} readings, {len(readings.flags)} of them flagged",
            next_step="measure that step again",
        )
    return float(column[sound].mean())


Names = tuple[str, str]
"""A channel's name and unit."""


@dataclass(frozen=True)
class Calibration:
    """Corrections found before a campaign and, once it is over, after it."""

    before: Mapping[Names, Correction]
    after: Mapping[Names, Correction]
    source: str

    def check(self, channels: Sequence[Channel]) -> None:
        """Raise FsgreenError where a line names no channel of these."""
        known = {(channel.name, channel.unit) for channel in channels}
        for name, unit in self.before.keys() - known:
            raise FsgreenError(
                f"the calibration names {name} {unit}, which the sender does not send",
                where=f"calibration, source: {self.source}",
                next_step=f"name one of {', '.join(sorted(' '.join(names) for names in known))}",
            )

    def correction(self, channel: Channel) -> Correction:
        """Return the mean of what was found before and after."""
        before, after = self._both(channel)
        return Correction((before.gain + after.gain) / 2, (before.offset + after.offset) / 2)

    def gain_error(self, channel: Channel) -> float:
        """Return half the change of the gain, as a fraction."""
        before, after = self._both(channel)
        return abs(after.gain / before.gain - 1) / 2

    def offset_error(self, channel: Channel) -> float:
        """Return half the change of the offset, in the channel's unit."""
        before, after = self._both(channel)
        return abs(after.offset - before.offset) / 2

    def _both(self, channel: Channel) -> tuple[Correction, Correction]:
        names = channel.name, channel.unit
        before = self.before.get(names, Correction())
        return before, self.after.get(names, before)


def corrections(lines: Sequence[str]) -> dict[Names, Correction]:
    """Return the corrections in lines `NAME UNIT GAIN OFFSET`; raises ValueError."""
    found: dict[Names, Correction] = {}
    for line in lines:
        try:
            name, unit, gain, offset = line.rsplit(maxsplit=3)
            correction = Correction(float(gain), float(offset))
        except ValueError:
            raise ValueError(f"the line {line!r} is not NAME UNIT GAIN OFFSET") from None
        if not (0 < correction.gain < float("inf") and abs(correction.offset) < float("inf")):
            raise ValueError(f"the line {line!r} has no gain above 0 and finite offset")
        found[name, unit] = correction
    return found
