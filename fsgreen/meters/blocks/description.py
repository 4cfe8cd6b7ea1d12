"""What a block stream measures: its channels, the settings and the calibration put together."""

from __future__ import annotations

from dataclasses import astuple

from fsgreen.errors import FsgreenError
from fsgreen.meters.blocks.calibration import Calibration, Correction
from fsgreen.meters.blocks.format import Block, Channel
from fsgreen.meters.common.accuracy import Accuracy
from fsgreen.trace import Boundary, MeterInfo


def description(
    block: Block,
    address: str,
    accuracy: Accuracy,
    calibration: Calibration,
    boundary: Boundary,
    covers: tuple[str, ...],
) -> MeterInfo:
    """Return what a sender is, by its first block and the settings.

    A current and a voltage of one name are a pair; a current without one is at the nominal
    voltage `accuracy.volts`; watts are taken as they are. All add up.
    """
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
        volts = accuracy.volts or (None if paired is None else tops[paired])
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
    source = f"{accuracy.source}; calibration: {calibration.source or 'none'}"
    return MeterInfo(
        driver="blocks",
        model="block stream: " + ", ".join(f"{c.name} in {c.unit}" for c in channels),
        serial=block.serial,
        boundary="modelled" if block.modelled else boundary,
        covers=covers,
        rate_hz=block.rate_hz,
        range_w=range_w,
        resolution_w=resolution_w,
        gain_error=accuracy.gain_error + max(gain_errors),
        constant_error_w=accuracy.constant_error_w + constant_w,
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
