"""Traces of known power for the tests of trace and meters."""

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from fsgreen.meters import Capture, Chunk, Reading
from fsgreen.meters.wattsup.packets import WattsUpParser
from fsgreen.trace import ClockFit, ErrorBudget, MeterInfo, MeterTrace

INFO = MeterInfo(
    driver="wattsup",
    model="Watts Up? PRO",
    serial="1",
    boundary="wall",
    covers=("server",),
    rate_hz=1.0,
    range_w=1800.0,
    resolution_w=0.1,
    gain_error=0.015,
    constant_error_w=0.3,
    source="test",
)


def parse(chunks: Iterable[Chunk], info: MeterInfo) -> list[Reading]:
    """The readings of a Watts Up's whole capture."""
    parser = WattsUpParser(info)
    return [reading for chunk in chunks for reading in parser.feed(chunk)]


def sampled(power_w: Callable[[np.ndarray], np.ndarray], time_s: np.ndarray) -> pd.DataFrame:
    """The trace of a meter that reports `power_w` at `time_s` and counts its integral."""
    values = np.broadcast_to(np.asarray(power_w(time_s), float), time_s.shape)
    parts = (values[1:] + values[:-1]) / 2 * np.diff(time_s)
    return pd.DataFrame(
        {
            "time_s": time_s,
            "meter": "system",
            "power_w": values,
            "voltage_v": 120.0,
            "current_a": values / 120,
            "energy_wh": np.concatenate(([0.0], np.cumsum(parts))) / 3600,
            "quality": "ok",
        }
    )


def whole_energy_j(readings: pd.DataFrame, start_s: float, end_s: float) -> float:
    """The energy of a span of a trace that is whole in memory."""
    return MeterTrace.of(readings, INFO, [(start_s, end_s)]).energy_j()


def whole_counter_energy_j(readings: pd.DataFrame, start_s: float, end_s: float) -> float:
    """The same by the meter's own counter."""
    return MeterTrace.of(readings, INFO, [(start_s, end_s)]).counter_energy_j()


def whole_budget(
    readings: pd.DataFrame,
    start_s: float,
    end_s: float,
    info: MeterInfo,
    clock: ClockFit | None = None,
) -> ErrorBudget:
    """The limits of error of that energy."""
    return MeterTrace.of(readings, info, [(start_s, end_s)], clock=clock).error_budget()


def total_w(capture: Capture, since_s: float = float("-inf")) -> float | None:
    """The newest power of all meters of a capture, None while one has none since then."""
    powers_w = [capture.latest_w(name, since_s) for name in capture.infos]
    return None if None in powers_w else sum(powers_w)
