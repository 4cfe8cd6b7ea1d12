"""The energy of a file of readings, or of a part of it, with its limits of error and flaws."""

from __future__ import annotations

from fsgreen import trace
from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Imported
from fsgreen.meters.core.powertable import power_table
from fsgreen.trace import MeterEnergy


def energy_of(
    imported: Imported, from_s: float | None = None, to_s: float | None = None
) -> MeterEnergy:
    """Return what a file says of the time between two moments on its own clock.

    Without them from its first reading to its last. Raises FsgreenError where the file has no such
    part.
    """
    info, readings = imported.info, imported.readings
    first_s, last_s = float(readings.time_s[0]), float(readings.time_s[-1])
    start_s = first_s if from_s is None else from_s
    end_s = last_s if to_s is None else to_s
    if not first_s <= start_s < end_s <= last_s:
        raise FsgreenError(
            f"the file has no readings from {start_s:.12g} s to {end_s:.12g} s: they are from "
            f"{first_s:.12g} s to {last_s:.12g} s",
            where=info.model,
            next_step="name moments in the file: --from 0 is its first reading",
        )
    reduced = trace.MeterTrace.of(power_table({info.driver: readings}), info, [(start_s, end_s)])
    return trace.meter_energy(info.driver, info, reduced, (start_s, end_s))
