"""Read the lines of a PowerSensor3 dump: find the sound lines, and parse their numbers."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.readings import Floats, Mask
from fsgreen.meters.powersensor3.packets import STAMP_US

HEAD = ["marker", "time", "dt_micro", "device_timestamp"]

_ALLOWED = np.zeros(256, dtype=bool)
_ALLOWED[list(b"0123456789+-.e ")] = True


@dataclass(frozen=True)
class Lines:
    """The numbers of the sound lines, one row each, and the flaws of the others.

    `sound` and `flaws` have a place for every line; `markers` are the places of the lines that the
    user marked, with the marks.
    """

    columns: list[str]
    values: Floats
    sound: Mask
    flaws: dict[str, Mask]
    markers: list[tuple[int, str]]

    def column(self, name: str) -> Floats:
        """Return one column of the sound lines."""
        return self.values[:, self.columns.index(name) - 1]


def lines_of(data: bytes) -> Lines:
    """Read the lines of a dump; raises FsgreenError if it has no header or no lines."""
    data = data.replace(b"\r\n", b"\n")
    head, _, body = data.partition(b"\n")
    columns = head.decode("latin-1").split(" ")
    inner = columns[len(HEAD) : -1]
    named = [f"{what}{n[7:]}" for n in inner[::3] for what in ("current", "voltage", "power")]
    if columns[: len(HEAD)] != HEAD or columns[-1] != "power_total" or not inner or inner != named:
        raise refused(
            "the first line is not the header of a PowerSensor3 dump: "
            "marker time dt_micro device_timestamp current0 voltage0 power0 ... power_total"
        )
    text = body if body.endswith(b"\n") or not body else body + b"\n"
    row = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(row == ord("\n"))
    if not len(ends):
        raise refused("the dump has a header and no samples")
    starts = np.concatenate(([0], ends[:-1] + 1))
    strange = ~_ALLOWED[row]
    strange[ends] = False
    strange[starts] = False  # the marker, which may be any character
    bad_count = np.add.reduceat((row == ord(" ")).astype(np.int64), starts) != len(columns) - 1
    bad_number = np.add.reduceat(strange.astype(np.int64), starts) > 0
    cut = np.zeros(len(starts), dtype=bool)
    cut[-1] = len(text) != len(body)
    bad_count[cut] = bad_number[cut] = False
    bad_number &= ~bad_count
    sound = ~(bad_count | bad_number | cut)
    if sound.all():
        chosen = text
    else:
        chosen = row[np.repeat(sound, np.diff(np.append(starts, len(row))))].tobytes()
    values = _numbers(chosen, columns)
    stamps = values[:, HEAD.index("device_timestamp") - 1]
    fit = np.isfinite(values).all(axis=1) & (stamps >= 0) & (stamps < STAMP_US)
    fit &= stamps == np.floor(stamps)
    bad_number[np.flatnonzero(sound)[~fit]] = True
    sound &= ~bad_number
    marks = np.flatnonzero(sound & (row[starts] != ord("S")))
    markers = [(int(nth), chr(row[starts[nth]])) for nth in marks]
    flaws = {"cut": cut, "bad-count": bad_count, "bad-number": bad_number}
    return Lines(columns, values[fit], sound, flaws, markers)


def _numbers(text: bytes, columns: list[str]) -> Floats:
    """Return the numbers of lines that have all `columns`; NaN if a field is no number."""
    import pandas as pd

    form: dict[str, Any] = {
        "sep": " ",
        "header": None,
        "names": columns,
        "usecols": columns[1:],
        "quoting": csv.QUOTE_NONE,
        "keep_default_na": False,
        "encoding": "latin-1",
    }
    if not text:
        return np.empty((0, len(columns) - 1))
    try:
        return pd.read_csv(io.BytesIO(text), dtype=float, **form).to_numpy(float)
    except ValueError:
        words = pd.read_csv(io.BytesIO(text), dtype=str, **form)
        return words.apply(pd.to_numeric, errors="coerce").to_numpy(float)


def refused(what: str) -> FsgreenError:
    """Return the error for a dump that cannot be trusted."""
    return FsgreenError(
        what,
        where="PowerSensor3 dump",
        next_step="see docs/meters/powersensor3.md for what a dump must hold",
    )
