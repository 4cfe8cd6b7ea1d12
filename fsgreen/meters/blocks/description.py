"""Describe a block stream from its channels, the settings and the calibration.

A calibration corrects channels by readings at known values, taken before and after a campaign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, model_validator

from fsgreen.errors import FsgreenError
from fsgreen.meters.blocks.format import Block, Channel, address_of
from fsgreen.meters.core.readings import Readings
from fsgreen.meters.core.settings import Accuracy, MeterSettings, Texts
from fsgreen.trace import MeterInfo

Names = tuple[str, str]
"""A channel's name and unit."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction of shown values: true = `gain` x shown + `offset`, in the channel's unit.

    `residual` is the largest distance of a known value from that line, NaN if nothing was fitted.
    """

    gain: float = 1.0
    offset: float = 0.0
    residual: float = float("nan")

    def setting(self, channel: str, unit: str) -> str:
        """Return the line for the settings `calibration` and `calibration_after`."""
        return f"{channel} {unit} {self.gain:.6g} {self.offset:.6g}"


def calibrate(steps: Sequence[tuple[float, Readings]], quantity: str = "current_a") -> Correction:
    """Fit a correction to readings taken at known values, by least squares.

    Each step is a value of a reference instrument, of at least two, with the readings meanwhile;
    those with a flag are left out. `quantity` is `current_a`, `voltage_v` or `power_w`.
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


@dataclass(frozen=True)
class Calibration:
    """Corrections found before a campaign and, when it is over, after it."""

    before: Mapping[Names, Correction]
    after: Mapping[Names, Correction]
    source: str

    def check(self, channels: Sequence[Channel]) -> None:
        """Raise FsgreenError if a correction is for none of these channels."""
        known = {(channel.name, channel.unit) for channel in channels}
        for name, unit in self.before.keys() - known:
            raise FsgreenError(
                f"the calibration names {name} {unit}, but the sender does not send it",
                where=f"calibration, source: {self.source}",
                next_step=f"name one of {', '.join(sorted(' '.join(names) for names in known))}",
            )

    def correction(self, channel: Channel) -> Correction:
        """Return the mean of the corrections before and after."""
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
    """Parse corrections from lines `NAME UNIT GAIN OFFSET`; raises ValueError."""
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


def _lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    corrections(lines)
    return lines


Corrections = Annotated[Texts, AfterValidator(_lines)]


class BlocksSettings(MeterSettings, Accuracy):
    """The settings of a sender: its address and its accuracy."""

    listen: str = ""
    """The port at which to wait for the sender: PORT or ADDRESS:PORT."""
    connect: str = ""
    """The sender to connect to: HOST:PORT."""
    protocol: Literal["tcp", "udp"] = "tcp"
    """The protocol of the sender; udp needs `listen`."""
    calibration: Corrections = ()
    """Corrections of channels, each NAME UNIT GAIN OFFSET."""
    calibration_after: Corrections = ()
    """The corrections that a calibration after the campaign gave."""
    calibration_source: str = ""
    """The reference instrument and the day."""
    covers: Texts = ("disk",)

    @model_validator(mode="after")
    def _reachable(self) -> BlocksSettings:
        if bool(self.listen) == bool(self.connect):
            raise ValueError("give either listen or connect")
        if self.connect and self.protocol == "udp":
            raise ValueError("a receiver of UDP can only listen")
        address_of(self.address)
        return self

    @model_validator(mode="after")
    def _calibrated(self) -> BlocksSettings:
        if not corrections(self.calibration_after).keys() <= corrections(self.calibration).keys():
            raise ValueError("calibration_after has a channel that calibration lacks")
        if self.calibration and not self.calibration_source:
            raise ValueError("the key calibration_source is missing")
        return self

    @property
    def address(self) -> str:
        """The address to listen at or to call."""
        return self.listen or self.connect

    def corrected(self) -> Calibration:
        """Return the calibration."""
        return Calibration(
            corrections(self.calibration),
            corrections(self.calibration_after),
            self.calibration_source,
        )


def description(block: Block, settings: BlocksSettings) -> MeterInfo:
    """Describe a sender from its first block and the settings.

    A current and a voltage of one name are a pair. A current without a voltage has the nominal
    voltage `volts`. Channels in watts are used directly. All powers are added up.
    """
    calibration, address = settings.corrected(), settings.address
    channels = block.channels
    if len({(channel.name, channel.unit) for channel in channels}) < len(channels):
        raise _undescribed("the sender sends two channels of one name and unit", address)
    calibration.check(channels)
    volts_of = {channel.name: nth for nth, channel in enumerate(channels) if channel.unit == "V"}
    watts = [nth for nth, channel in enumerate(channels) if channel.unit == "W"]
    amperes = [nth for nth, channel in enumerate(channels) if channel.unit == "A"]
    if not amperes and not watts:
        raise _undescribed("the sender sends neither amperes nor watts", address)
    steps = [abs(c.gain * calibration.correction(c).gain) for c in channels]
    tops = [_top(c, calibration.correction(c)) for c in channels]
    gain_errors = [calibration.gain_error(channels[nth]) for nth in watts]
    constant_w = sum(calibration.offset_error(channels[nth]) for nth in watts)
    range_w, resolution_w = sum(tops[nth] for nth in watts), sum(steps[nth] for nth in watts)
    pairs: list[list[float | int | None]] = []
    for nth in amperes:
        channel = channels[nth]
        paired = volts_of.get(channel.name)
        volts = settings.volts or (None if paired is None else tops[paired])
        if volts is None:
            raise _undescribed(
                f"the current {channel.name} comes without its voltage: state volts", address
            )
        error = calibration.gain_error(channel)
        constant_w += calibration.offset_error(channel) * volts
        if paired is not None:
            error += calibration.gain_error(channels[paired])
            constant_w += calibration.offset_error(channels[paired]) * tops[nth]
        gain_errors.append(error)
        range_w += tops[nth] * volts
        resolution_w += steps[nth] * volts
        pairs.append([nth, paired, volts])
    corrections = [calibration.correction(channel) for channel in channels]
    source = f"{settings.source}; calibration: {calibration.source or 'none'}"
    return settings.info(
        model="block stream: " + ", ".join(f"{c.name} in {c.unit}" for c in channels),
        serial=block.serial,
        boundary="modelled" if block.modelled else settings.boundary or "dc-rail",
        rate_hz=block.rate_hz,
        range_w=range_w,
        resolution_w=resolution_w,
        gain_error=settings.gain_error + max(gain_errors),
        constant_error_w=settings.constant_error_w + constant_w,
        source=source,
        options={
            "channels": [list(astuple(channel)) for channel in channels],
            "corrections": [[c.gain, c.offset] for c in corrections],
            "pairs": pairs,
            "watts": watts,
            "modelled": block.modelled,
        },
    )


def _top(channel: Channel, correction: Correction) -> float:
    ends = [channel.gain * end + channel.offset for end in (channel.low, channel.high)]
    return max(abs(correction.gain * end + correction.offset) for end in ends)


def _undescribed(what: str, address: str) -> FsgreenError:
    return FsgreenError(what, where=address, next_step="see docs/meters/blocks.md for the settings")
