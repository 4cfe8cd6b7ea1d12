"""Rows of one moment that are added up: a row for each processor, socket or counter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from fsgreen.meters.files.numbers import POINT
from fsgreen.meters.files.rows import Rows
from fsgreen.meters.files.text import Report, some
from fsgreen.meters.table.declared import FIRST, Shape
from fsgreen.meters.table.lines import Cells, quantity_cells

GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def added(
    rows: Rows, cells: Sequence[Cells], shape: Shape, report: Report
) -> tuple[Rows, list[Cells]]:
    """Return one row for each stamp, with the sum over the parts that `together` tells apart.

    A moment that lacks a part, or has a part without a number, has no value. A new moment begins
    where the parts begin anew: some programs give each part a stamp of its own. Refuses numbers in
    which a comma may be a decimal mark.
    """
    together = shape.settings.together
    parts = Counter(row[together] for row in cells if together in row)
    most = max(parts.values(), default=0)
    usual = [part for part, count in parts.items() if count > most / 2]
    report.tell(f"Added up over {together}: {some(usual)}.")
    groups: list[list[int]] = []
    last = len(usual)
    for place, row in enumerate(cells):
        part = row.get(together, "")
        nth = usual.index(part) if part in usual else last + 1
        if nth <= last:
            groups.append([])
        groups[-1].append(place) if groups else groups.append([place])
        last = nth
    names = [n for q in FIRST if q in shape.wanted for n in shape.wanted[q].names]
    commas = [row[name] for row in cells for name in names if "," in row.get(name, "")]
    if commas and shape.settings.numbers != POINT:
        report.refuse(
            f"the comma of {commas[0]} may be a decimal mark, and numbers are added with a point",
            f'export numbers as {POINT}, and set numbers = "{POINT}" where commas group thousands',
        )
    whole = Rows(ends_cut=rows.ends_cut)
    sums: list[Cells] = []
    for places in groups:
        there = [cells[place].get(together, "") for place in places]
        faults = [rows.faults[place] for place in places if rows.faults[place]]
        complete = there == usual and not faults
        whole.stamps.append(rows.stamps[places[0]])
        whole.names.append(rows.names[places[0]])
        whole.faults.append("" if complete else (faults or ["bad-count"])[0])
        of_time = {n: v for n, v in cells[places[0]].items() if n not in names}
        total = {name: _sum([cells[p] for p in places], name, shape) for name in names}
        sums.append({**of_time, **total})
    return whole, sums


def _sum(cells: Sequence[Cells], name: str, shape: Shape) -> str:
    """Return the sum of a column as text; blank where one part has no number."""
    selected = next(s for s in shape.wanted.values() if name in s.names)
    texts = quantity_cells(cells, selected)[selected.names.index(name)]
    if shape.settings.numbers == POINT:
        texts = [text.replace(",", "") if GROUPED.fullmatch(text) else text for text in texts]
    try:
        return f"{sum((Decimal(text) for text in texts), Decimal(0)):f}"
    except InvalidOperation:
        return ""
