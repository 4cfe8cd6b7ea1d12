"""What a block stream measures: its channels, the settings and the calibration put together."""

from __future__ import annotations

from dataclasses import astuple
from typing import Annotated, Literal

from pydantic import AfterValidator, model_validator

from fsgreen.errors import FsgreenError
from fsgreen.meters.blocks.calibration import Calibration, Correction, corrections
from fsgreen.meters.blocks.format import Block, Channel, address_of
from fsgreen.meters.core.settings import Accuracy, MeterSettings, Texts
from fsgreen.trace import MeterInfo


def _lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    corrections(lines)
    return lines


Corrections = Annotated[Texts, AfterValidator(_lines)]


class BlocksSettings(MeterSettings, Accuracy):
    """Who sends, and how well it measures."""

    listen: str = ""
    """Where senders call: PORT or ADDRESS:PORT."""
    connect: str = ""
    """Whom to call: HOST:PORT."""
    protocol: Literal["tcp", "udp"] = "tcp"
    """What the sender speaks; over udp one can only listen."""
    calibration: Corrections = ()
    """Corrections of channels, each NAME UNIT GAIN OFFSET."""
    calibration_after: Corrections = ()
    """Those that were found after the campaign."""
    calibration_source: str = ""
    """The reference instrument and the day."""
    covers: Texts = ("disk",)

    @model_validator(mode="after")
    def _reachable(self) -> BlocksSettings:
        if bool(self.listen) == bool(self.connect):
            raise ValueError("one of listen and connect is needed")
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
        """Where to listen or whom to call."""
        return self.listen or self.connect

    def corrected(self) -> Calibration:
        """Return the calibration."""
        return Calibration(
            corrections(self.calibration),
            corrections(self.calibration_after),
            self.calibration_source,
        )


def description(block: Block, settings: BlocksSettings) -> MeterInfo:
    """Return what a sender is, by its first block and the settings.

    A current and a voltage of one name are a pair; a current without one is at the nominal
    voltage `volts`; watts are taken as they are. All add up.
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
