"""Power from several channels: volts times amperes, rails of one meter, several meters."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from fsgreen.trace.meter import Boundary, MeterInfo
from fsgreen.trace.table import carried_flags, check_units, columns, flawed, join_flags, numbers


def with_power(readings: pd.DataFrame, boundary: Boundary) -> pd.DataFrame:
    """Return a direct-current trace with `power_w`, the product of `voltage_v` and `current_a`.

    Raises FsgreenError for the boundary `wall`, where the product is apparent power, which may be
    twice the real one, and for a trace that has its power already.
    """
    check_units(readings)
    if boundary == "wall":
        raise flawed("volts times amperes at the wall are apparent power, not watts")
    if "power_w" in readings:
        raise flawed("the trace has its power already; it is not computed a second time")
    return readings.assign(power_w=numbers(readings, "voltage_v") * numbers(readings, "current_a"))


def sum_channels(traces: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Add the traces of several channels on the union of their times, in their common span.

    Power between readings is linear, so the energy of the sum is the sum of the energies. Returns
    time_s, power_w, energy_wh (the sum of the counters; NaN where a channel has none) and quality:
    a point has the flags of all readings that it rests on. Gaps of one channel do not show in the
    union: check each channel before.
    """
    series = [columns(trace, "power_w") for trace in traces.values()]
    if not series:
        raise flawed("no channel to add")
    first_s = max(time_s[0] for time_s, _ in series)
    last_s = min(time_s[-1] for time_s, _ in series)
    grid = np.unique(np.concatenate([time_s for time_s, _ in series]))
    grid = grid[(grid >= first_s) & (grid <= last_s)]
    if len(grid) < 2:
        raise flawed("the traces do not overlap")
    energy_wh = np.zeros(len(grid))
    found: dict[int, set[str]] = {}
    for trace in traces.values():
        if "energy_wh" in trace:
            energy_wh += np.interp(grid, *columns(trace, "energy_wh"))
        else:
            energy_wh[:] = np.nan
        for place, names in carried_flags(trace, grid, grid).items():
            found.setdefault(place, set()).update(names)
    return pd.DataFrame(
        {
            "time_s": grid,
            "power_w": np.sum([np.interp(grid, t, p) for t, p in series], axis=0),
            "energy_wh": energy_wh,
            "quality": join_flags(found, len(grid)),
        }
    )


def sum_meters(traces: Mapping[str, pd.DataFrame], infos: Mapping[str, MeterInfo]) -> pd.DataFrame:
    """Add the traces of several meters as `sum_channels` does.

    Raises FsgreenError where boundaries differ (rule 19) or two meters cover the same part (it
    would count twice).
    """
    used = [infos[name] for name in traces]
    boundaries = {info.boundary for info in used}
    if len(boundaries) != 1:
        raise flawed(f"power of different boundaries is never added: {sorted(boundaries)}")
    covered = [part for info in used for part in info.covers]
    if len(covered) != len(set(covered)):
        raise flawed(f"two meters cover the same part: {sorted(covered)}")
    return sum_channels(traces)
