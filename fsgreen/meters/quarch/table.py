"""Read the rows of a Quarch CSV as columns of numbers, block by block.

A block is read at once if all its bytes and its counts of separators are sound. Another block is
read line by line, to find each damaged line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from fsgreen.meters.core.readings import NAN, Floats

BLOCK_B = 1 << 21
SOUND = b"0123456789-.\r\n"
NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
STATISTICS = "STATISTICS"
"""The first word of the block that Quarch's AN-022 adds at the end of a file."""


@dataclass
class Table:
    """The wanted columns: `values` has one row for each line, NaN for a blank or damaged cell."""

    values: Floats
    faults: dict[int, str] = field(default_factory=dict)
    overruns: list[int] = field(default_factory=list)
    """The places of the readings that follow an overrun."""
    messages: list[str] = field(default_factory=list)
    untimed: int = 0
    ends_cut: bool = False
    """Whether the last line was cut inside its time, and is left out."""


def read_table(body: bytes, separator: str, width: int, wanted: Sequence[int]) -> Table:
    """Return the wanted columns of lines with `width` cells; the first wanted one is the time.

    Faults by place: cut (the last line has no line end), bad-count, bad-number. A line without a
    time is counted in `untimed`; a text that is no row is added to `messages`.
    """
    parts: list[Floats] = []
    table = Table(np.empty((0, len(wanted))))
    rows = 0
    for block in _blocks(body):
        values = _sound(block, separator, width, wanted)
        if values is None:
            values, ended = _lines(block, separator, width, wanted, rows, table)
        else:
            ended = False
        parts.append(values)
        rows += len(values)
        if ended:
            break
    table.values = np.concatenate(parts) if parts else table.values
    return table


def _blocks(body: bytes) -> Iterator[bytes]:
    """Yield blocks of whole lines."""
    start = 0
    while start < len(body):
        end = body.find(b"\n", start + BLOCK_B) + 1 or len(body)
        yield body[start:end]
        start = end


def _sound(
    block: bytes, separator: str, width: int, wanted: Sequence[int]
) -> NDArray[np.float64] | None:
    """Return the columns of a block if all of it is sound, else None."""
    import pandas as pd

    mark = separator.encode("ascii")
    if block.translate(None, SOUND + mark) or not block.endswith(b"\n"):
        return None
    data = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    if block.count(b"\r") not in (0, len(ends)) or block.count(b"\r") != block.count(b"\r\n"):
        return None
    marks = np.searchsorted(np.flatnonzero(data == mark[0]), ends)
    if (np.diff(marks, prepend=0) != width - 1).any():
        return None
    try:
        frame = pd.read_csv(
            BytesIO(block),
            sep=separator,
            header=None,
            usecols=list(wanted),
            dtype="float64",
            keep_default_na=False,
            na_values=[""],
        )
    except ValueError:
        return None
    values = frame[list(wanted)].to_numpy(float)
    whole = len(values) == len(ends) and np.isfinite(values[:, 0]).all()
    return values if whole else None


def _lines(
    block: bytes, separator: str, width: int, wanted: Sequence[int], first: int, table: Table
) -> tuple[Floats, bool]:
    """Read a block line by line; return its columns, and whether the table ended in it."""
    rows: list[list[float]] = []
    lines = block.decode("latin-1").split("\n")
    for nth, line in enumerate(lines):
        text = line.strip()
        last = nth == len(lines) - 1
        if not text:
            continue
        if text == STATISTICS:
            table.messages.append("a block of statistics at the end")
            return np.array(rows).reshape(-1, len(wanted)), True
        if "overrun" in text.lower():
            table.overruns.append(first + len(rows))
        cells = [cell.strip() for cell in text.split(separator)]
        if last and len(cells) == 1 and NUMBER.fullmatch(text):
            table.ends_cut = True
            continue
        if not NUMBER.fullmatch(cells[0]):
            table.untimed += len(cells) == width
            if len(cells) != width:
                table.messages.append(text[:80])
            continue
        place = first + len(rows)
        row = [float(cells[0])] + [NAN] * (len(wanted) - 1)
        if last or len(cells) != width:
            table.faults[place] = "cut" if last else "bad-count"
        else:
            for column, at in enumerate(wanted[1:], 1):
                if NUMBER.fullmatch(cells[at]):
                    row[column] = float(cells[at])
                elif cells[at]:
                    table.faults[place] = "bad-number"
        rows.append(row)
    return np.array(rows).reshape(-1, len(wanted)), False
