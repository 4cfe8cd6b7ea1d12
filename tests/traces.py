"""Traces of known power for the tests of trace and meters."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from fsgreen.trace import MeterInfo

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
