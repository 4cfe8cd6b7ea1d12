"""A CSV of EnergiBridge as one run: its length and energy, nothing on work."""

from __future__ import annotations

from fsgreen import trace
from fsgreen.meters import power_table
from fsgreen.meters.importers.energibridge import IMPORTER
from fsgreen.meters.importers.text import Report
from fsgreen.meters.settings import Settings
from fsgreen.runs.formats import Format, Run
from fsgreen.runs.meanings import Meanings


def read(data: bytes, meanings: Meanings, report: Report) -> list[Run]:
    """Read a trace with the driver of its meter; one with a flagged reading is refused."""
    # No table of runs carries the accuracy of its meter, which the driver must be told.
    imported = IMPORTER.read(
        data, Settings({"name": report.where, "driver": IMPORTER.name, "gain_error": 0.0})
    )
    for decision in imported.decisions:
        report.tell(decision)
    readings = imported.readings
    flagged = [flag for flag in readings.flags.values() if set(flag.split("|")) - trace.REMARKS]
    if flagged:
        marks = ", ".join(sorted(set(flagged)))
        report.refuse(
            f"{len(flagged)} of {len(readings)} readings are marked {marks}",
            "read it as a trace, which shows where: fsgreen import FILE --driver energibridge",
        )
    table = power_table({IMPORTER.name: readings})
    start_s, end_s = float(readings.time_s[0]), float(readings.time_s[-1])
    energy = trace.phase_energies(table, [("run", start_s, end_s)]).iloc[0]
    counted_j = energy["counter_energy_j"]
    energy_j = energy["energy_j"] if counted_j != counted_j else counted_j
    return [Run("", {"duration_s": end_s - start_s, "energy_j": float(energy_j)})]


FORMAT = Format(
    name="EnergiBridge (--output CSV)",
    recognises=lambda head: head.lstrip(b"\xef\xbb\xbf").startswith(b"Delta"),
    read=read,
)
