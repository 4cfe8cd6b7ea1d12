"""A CSV of EnergiBridge as one run: its length and energy, nothing on work.

The energy of a counter is what it counted from the first row to the last: rows that are missing in
between, or late, do not change it. That of a power is its integral.
"""

from __future__ import annotations

import numpy as np

from fsgreen import trace
from fsgreen.meters import power_table
from fsgreen.meters.energibridge import IMPORTER, EnergiBridgeSettings, Recording, recording
from fsgreen.meters.files.checks import imported
from fsgreen.meters.files.text import Report
from fsgreen.runs.meanings import Meanings
from fsgreen.runs.rows import Format, Run

LOST = "lost"


def read(data: bytes, meanings: Meanings, report: Report) -> list[Run]:
    """Read a trace with the driver of its meter.

    One with a flagged reading is refused; where a counter went on, one that was lost is told.
    """
    # No table of runs carries the accuracy of its meter, which the driver must be told.
    settings = EnergiBridgeSettings(name=report.where, driver=IMPORTER.name, gain_error=0.0)
    recorded = recording(data, settings, report)
    readings = imported(
        recorded.info, recorded.readings, recorded.flags, report, recorded.name
    ).readings
    counted = readings.energy_wh is not None
    allowed = trace.REMARKS | ({LOST} if counted else set())
    if flagged := [flag for flag in readings.flags.values() if set(flag.split("|")) - allowed]:
        marks = ", ".join(sorted(set(flagged)))
        report.refuse(
            f"{len(flagged)} of {len(readings)} readings are marked {marks}",
            "read it as a trace, which shows where: fsgreen import FILE --driver energibridge",
        )
    if recorded.flags.places(LOST):
        _check_gaps(recorded, report)
    table = power_table({IMPORTER.name: readings})
    start_s, end_s = float(readings.time_s[0]), float(readings.time_s[-1])
    reduced = trace.MeterTrace.of(table, recorded.info, [(start_s, end_s)])
    energy_j = reduced.counter_energy_j() if counted else reduced.energy_j()
    return [Run("", {"duration_s": end_s - start_s, "energy_j": energy_j})]


def _check_gaps(recorded: Recording, report: Report) -> None:
    """Refuse a gap in which a counter may have wrapped unseen; tell that others do not matter."""
    steps_s = np.diff(recorded.readings.time_s)
    longest_s = max(float(steps_s[place - 1]) for place in recorded.flags.places(LOST))
    if recorded.info.range_w * longest_s >= recorded.wrap_j:
        report.refuse(
            f"in a gap of {longest_s:g} s the counter may have started again unseen, as it does "
            f"after {recorded.wrap_j:g} J",
            "record the run again",
        )
    report.tell("What was lost does not change the energy: it is the counter's, last minus first.")


FORMAT = Format(
    name="EnergiBridge (--output CSV)",
    recognises=lambda head: head.lstrip(b"\xef\xbb\xbf").startswith(b"Delta"),
    read=read,
)
