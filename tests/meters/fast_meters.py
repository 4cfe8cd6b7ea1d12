"""What tests of fast meters share: descriptions, streams of known power, how to feed them."""

import os
from dataclasses import astuple, replace

import numpy as np
from hypothesis import settings

from fsgreen.meters.blocks.emulator import RAIL_5V
from fsgreen.meters.blocks.format import Block
from fsgreen.meters.core.base import Chunk
from fsgreen.meters.core.readings import Readings
from fsgreen.meters.powersensor3.emulator import DIVIDER, MLX10, OFF, levels_of, stream_of
from fsgreen.meters.powersensor3.packets import SAMPLE_B, SENSORS
from fsgreen.trace import MeterInfo

FUZZ = settings(max_examples=round(60 * max(1.0, float(os.environ.get("FSGREEN_FUZZ_S", "1")))))

RATE_HZ = 20000.0
RAIL_12V = (MLX10, DIVIDER)
ALL = [*RAIL_12V, *[OFF] * 6]

POWERSENSOR3 = MeterInfo(
    driver="powersensor3",
    model="PowerSensor3",
    serial="1",
    boundary="dc-rail",
    covers=("disk",),
    rate_hz=RATE_HZ,
    range_w=165.0,
    resolution_w=0.33,
    gain_error=0.01,
    constant_error_w=0.5,
    source="test",
    options={"sensors": [list(astuple(sensor)) for sensor in ALL]},
)


def info_of(sensors):
    rows = [list(astuple(sensor)) for sensor in [*sensors, *[OFF] * (SENSORS - len(sensors))]]
    return replace(POWERSENSOR3, options={"sensors": rows})


def powersensor3_stream(numbers, current_a=1.0, *, sensors=RAIL_12V, volts=12.0, jitter_us=0):
    """The bytes of the samples of these numbers; `current_a` is one or an array."""
    levels = np.zeros((len(numbers), SENSORS), dtype=np.uint16)
    for nth, sensor in enumerate(sensors):
        values = np.broadcast_to(volts if nth % 2 else current_a, len(numbers))
        levels[:, nth] = levels_of(np.asarray(values, float), sensor)
    return stream_of(levels, np.asarray(numbers) * 1e6 // RATE_HZ + jitter_us)


def chunks_of(data, *, size=2000 * SAMPLE_B, first_s=1000.0, delay_s=None):
    """Cut a stream of whole seconds' bytes into chunks that come as its last byte is sent."""
    byte_s = 1 / (RATE_HZ * SAMPLE_B)
    ends = [*range(size, len(data), size), len(data)]
    starts = [0, *ends[:-1]]
    late_s = delay_s or (lambda nth: 0.0)
    return [
        Chunk(first_s + end * byte_s + late_s(nth), data[start:end])
        for nth, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]


def parsed(parser, chunks):
    return Readings.joined([parser.feed(chunk) for chunk in chunks])


def energy_j(readings):
    return float(np.trapezoid(readings.power_w, readings.time_s))


def block(first=0, count=100, *, sequence=None, current_a=0.5, volts=5.0, **changed):
    """A block of a stream at 10 kHz that cuts into blocks of `count` samples."""
    numbers = first + np.arange(count)
    amperes, voltage = RAIL_5V
    current = np.broadcast_to(current_a(numbers / 1e4) if callable(current_a) else current_a, count)
    raw = [
        np.clip(np.rint((values - c.offset) / c.gain), c.low, c.high)
        for values, c in ((current, amperes), (np.full(count, volts), voltage))
    ]
    values = {
        "sequence": first // count if sequence is None else sequence,
        "stream": 7,
        "first": first,
        "t0_ns": round(first * 1e5),
        "sent_ns": round((first + count) * 1e5),
        "rate_hz": 1e4,
        "serial": "hall-1",
        "modelled": False,
        "channels": tuple(RAIL_5V),
        "samples": np.column_stack(raw).astype(np.int16),
    }
    return Block(**(values | changed))


def arriving(blocks, *, first_s=50.0):
    """Each block in a chunk of its own, which comes when its sender says that it sent it."""
    return [Chunk(first_s + b.sent_ns * 1e-9, b.packed()) for b in blocks]
