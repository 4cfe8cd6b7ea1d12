"""The bytes of a Watts Up that another program kept: a stream, or a dump of its memory.

They hold no times: each record is one interval after the previous record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fsgreen.meters.core.base import Chunk, Imported, Importer
from fsgreen.meters.core.readings import Readings
from fsgreen.meters.core.settings import Above0, Settings
from fsgreen.meters.files.checks import Flags, mark_frozen
from fsgreen.meters.files.text import Report
from fsgreen.meters.wattsup.packets import ACCURACY, IGNORED, NUMBER, PacketReader, WattsUpParser

STANDARD = b"#h,-,18,W,V,A,WH,Cost,WH/Mo,Cost/Mo,Wmax,Vmax,Amax,Wmin,Vmin,Amin,PF,DC,PC,Hz,VA;"


class StreamSettings(Settings):
    """The settings of the bytes of a Watts Up."""

    interval_s: Above0 | None = None
    """Seconds between records; by default the interval that a dump states, else 1."""
    standard_columns: bool = False
    """Records without a header before them have all 18 fields in the order of the protocol."""
    serial: str = "?"
    range_w: Above0 = 1800.0


def read(data: bytes, settings: StreamSettings) -> Imported:
    """Read bytes such as `#d,-,18,2345,1201,...;`.

    Raises FsgreenError if they hold no records, or if no header names the records' fields.
    """
    report = Report(settings.name)
    told_s = _told_interval_s(data)
    interval_s = settings.interval_s or told_s or 1.0
    info = settings.info(
        boundary=settings.boundary or "wall", model="Watts Up?", rate_hz=1 / interval_s, **ACCURACY
    )
    parser = WattsUpParser(info)
    pieces = re.split(rb"(?=#)", (STANDARD if settings.standard_columns else b"") + data)
    chunks = (Chunk(place * interval_s, piece) for place, piece in enumerate(pieces))
    found = Readings.joined(Readings.of(parser.feed(chunk)) for chunk in chunks)
    if len(found) < 2:
        report.refuse("these are no records of a Watts Up", "keep its bytes as they come")
    unnamed = ["no-header" in flag.split("|") for flag in found.flags.values()]
    if sum(unnamed) == len(found):
        report.refuse(
            "the records begin before a header that names their fields",
            "send #H,R,0; before the log, or set standard_columns = true",
        )
    marks = {p: [m for m in f.split("|") if m != "retimed"] for p, f in found.flags.items()}
    flags = {place: "|".join(names) for place, names in marks.items() if names}
    if not data.rstrip(b"\r\n\t\0 ").endswith(b";"):
        last = len(found) - 1
        flags[last] = "|".join(filter(None, [flags.get(last), "cut"]))
    for place in _frozen(pieces, found, info.resolution_w):
        flags[place] = "|".join(filter(None, [flags.get(place), "frozen"]))
    source = "as its dump says" if told_s and not settings.interval_s else "as set, or usual"
    report.tell(
        f"Records have no time: one every {interval_s:g} s, {source}, as if none were missing."
    )
    glued = _glued(pieces, len(found))
    for place in np.flatnonzero(glued[:-1]).tolist():
        flags[place + 1] = "|".join(filter(None, [flags.get(place + 1), "lost"]))
    if lost := int(glued.sum()):
        records = "1 record" if lost == 1 else f"{lost} records"
        report.tell(f"{records} cannot be read: glued to the one before, whose `#` was lost.")
    time_s = interval_s * (np.arange(len(found)) + np.cumsum(glued) - glued).astype(float)
    readings = Readings(
        time_s, found.power_w, found.voltage_v, found.current_a, found.energy_wh, flags
    )
    return Imported(info, readings, tuple(report.decisions))


def _frozen(pieces: Sequence[bytes], found: Readings, step_w: float) -> list[int]:
    """Return the places of records that repeat the previous one in all fields for too long."""
    records = [piece.translate(None, IGNORED) for piece in pieces if piece.startswith(b"#d")]
    same = [one == other for one, other in pairwise(records[: len(found)])]
    repeats = np.array([False, *same]) & np.isfinite(found.power_w)
    flags = Flags()
    mark_frozen(repeats, found.power_w, step_w, STANDARD.count(b",") - 2, flags)
    return flags.places("frozen")


def _glued(pieces: Sequence[bytes], count: int) -> NDArray[np.int64]:
    """Return how many records are glued to each of `count` records, by its number of fields."""
    fields = np.array([piece.count(b",") for piece in pieces if piece.startswith(b"#d")])
    return np.rint(fields / np.median(fields)).astype(int).clip(min=1)[:count] - 1


def _told_interval_s(data: bytes) -> float:
    """Return the interval that a dump of the memory names; 0 if none is named."""
    for packet in PacketReader().feed(data):
        if packet.command == "n" and packet.whole and len(packet.args) == 3:
            return float(packet.args[1]) if NUMBER.fullmatch(packet.args[1]) else 0.0
    return 0.0


IMPORTER = Importer(
    name="wattsup-bytes",
    summary="bytes of a Watts Up that another program kept: a stream, or a dump of its memory",
    settings=StreamSettings,
    read=read,
)
