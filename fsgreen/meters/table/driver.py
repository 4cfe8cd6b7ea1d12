"""A table of power or energy that any program wrote: `--driver table`, or one of the recipes.

Columns and their units are declared, and never guessed. The formats of numbers and dates are
decided from the whole file, as for every file. A recipe is a set of these settings for the table
that a known program writes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import create_model

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Imported, Importer
from fsgreen.meters.core.readings import NAN, Floats, Readings
from fsgreen.meters.files import rows as files
from fsgreen.meters.files.checks import Flags, imported, mark_steps
from fsgreen.meters.files.dates import UNIX_S
from fsgreen.meters.files.numbers import POINT, decide_style
from fsgreen.meters.files.rows import MARGIN_W, Column, Rows, mark_unsound, timed
from fsgreen.meters.files.text import Report, decode
from fsgreen.meters.table.declared import FIRST, Shape, TableSettings
from fsgreen.meters.table.lines import Cells, quantity_cells, shown_columns, table_rows
from fsgreen.meters.table.moments import added, held, row_times
from fsgreen.units import JOULES_PER_WH

THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(?:\.\d{3})+")
COVERS = {"wall": ("system",), "dc-rail": ("disk",), "cpu": ("cpu",), "modelled": ("system",)}

DISORDER = (
    "cut the file there; or add rows of parts, such as processors, by --set together=COLUMN, or "
    """take one of them: --set 'only=["COLUMN=CELL"]'"""
)
"""The next step for a table whose times stand still or go back."""

FILE = Path(__file__).with_name("recipes.toml")


def read(data: bytes, settings: TableSettings) -> Imported:
    """Read a file; see docs/meters/table.md for the settings.

    Raises FsgreenError if the settings declare no table, if the file has no such table, if its
    numbers or dates can be read in two ways, or if its times go back.
    """
    report = Report(settings.name)
    shape = Shape.of(settings)
    rows, cells = table_rows(decode(data, report), shape, report)
    if settings.together:
        rows, cells = added(rows, cells, shape, report)
    units = _quantities(rows, cells, shape)
    style = _style(rows, settings, report)
    times_s = row_times(rows, settings, report)
    flags = Flags()
    regular = not (settings.irregular or settings.held_s)
    found = timed(rows, times_s, report, regular=regular, disorder=DISORDER)
    columns = _columns(rows, found.kept, style, units, flags, report)
    time_s, usual_s = found.time_s, found.usual_s
    if settings.held_s:
        time_s, columns, flags = held(time_s, columns, flags, settings.held_s, report)
        usual_s = settings.held_s
    if settings.from_zero:
        time_s, columns, flags = _from_zero(time_s, columns, flags, report)
    if regular:
        mark_steps(time_s, usual_s, flags)
    readings, step_w = _readings(columns, time_s, flags, report)
    range_w = settings.range_w or float("inf")
    mark_unsound({**columns, "power": Column(readings.power_w, step_w)}, range_w, MARGIN_W, flags)
    flags.mark(np.isnan(readings.power_w) & ~flags.any(len(readings)), "missing")
    info = settings.info(
        covers=settings.covers or COVERS[settings.boundary],
        rate_hz=1 / usual_s,
        range_w=range_w,
        resolution_w=step_w,
    )
    name = None if settings.held_s or settings.from_zero else rows.name_of(found.kept)
    means = settings.means or settings.held_s > 0 or "power" not in columns
    return imported(info, readings, flags, report, name, means=means)


def _quantities(rows: Rows, cells: Sequence[Cells], shape: Shape) -> dict[str, float]:
    """Store the cells of each quantity in the rows, and return their units.

    Several columns of one quantity are kept apart.
    """
    units = {}
    for quantity, selected in shape.wanted.items():
        for nth, texts in enumerate(quantity_cells(cells, selected)):
            name = f"{quantity}+{nth}" if nth else quantity
            if quantity not in FIRST and not any(texts):
                continue
            units[name] = selected.unit
            pairs = zip(texts, rows.faults, strict=True)
            rows.cells[name] = ["" if fault else text for text, fault in pairs]
    return units


def _style(rows: Rows, settings: TableSettings, report: Report) -> str:
    """Return the style of the numbers.

    It is `POINT` unless a comma or blank may be a mark, or a point may group thousands: then it is
    decided from all numbers.
    """
    texts = [text for cells in rows.cells.values() for text in cells if text]
    pointed = [text for text in texts if "." in text]
    thousands = bool(pointed) and all(THOUSANDS.fullmatch(text) for text in pointed)
    if settings.numbers or thousands or any("," in text or " " in text for text in texts):
        return decide_style(rows.cells, settings.numbers, lambda _: True, report)
    return POINT


def _columns(
    rows: Rows,
    kept: Sequence[int],
    style: str,
    units: dict[str, float],
    flags: Flags,
    report: Report,
) -> dict[str, Column]:
    """Return one column for each quantity; several columns of one quantity are added up."""
    read = files.columns(rows, kept, flags, report, style=style, units=units, fixed=False)
    columns: dict[str, Column] = {}
    for name, column in read.items():
        quantity = name.partition("+")[0]
        before = columns.get(quantity)
        columns[quantity] = (
            column
            if before is None
            else Column(before.values + column.values, before.step + column.step)
        )
    return columns


def _from_zero(
    time_s: Floats, columns: dict[str, Column], flags: Flags, report: Report
) -> tuple[Floats, dict[str, Column], Flags]:
    """Add a first row at which time and energy are 0, and power is that of the next row.

    Refuses times that do not count from the beginning of the energy, but from 1970 or from the
    first row.
    """
    if not 0 < time_s[0] < UNIX_S:
        report.refuse(
            f"energy is 0 at the time 0, and the first row is at {time_s[0]:.10g} s",
            "name the column that counts from the beginning, or set from_zero = false",
        )
    begun = {
        name: Column(
            np.append(0.0 if name == "energy" else column.values[0], column.values), column.step
        )
        for name, column in columns.items()
    }
    later = Flags()
    for flag, mask in flags.masks.items():
        later.mark(np.append(False, mask), flag)
    return np.append(0.0, time_s), begun, later


def _readings(
    columns: dict[str, Column], time_s: Floats, flags: Flags, report: Report
) -> tuple[Readings, float]:
    """Return the readings and the resolution of their power."""
    voltage_v, current_a = (
        columns[name].values if name in columns else None for name in ("voltage", "current")
    )
    if len(time_s) < 2:
        report.refuse(f"the file holds {len(time_s)} readings", "give a longer recording")
    steps_s = np.diff(time_s, prepend=2 * time_s[0] - time_s[1])
    energy_wh = each_wh = None
    if "energy" in columns:
        energy_wh = columns["energy"].values
        flags.mark(np.diff(energy_wh, prepend=energy_wh[:1]) < 0, "reset")
    elif "energy_each" in columns:
        each_wh = columns["energy_each"].values
        energy_wh = np.cumsum(np.append(0.0, each_wh[1:]))
    if "power" in columns:
        power_w, step_w = columns["power"].values, columns["power"].step
    elif each_wh is not None:
        power_w = JOULES_PER_WH * each_wh / steps_s
        power_w[0] = power_w[1]
        step_w = JOULES_PER_WH * columns["energy_each"].step / float(np.median(steps_s))
    else:
        assert energy_wh is not None
        power_w = JOULES_PER_WH * np.diff(energy_wh, prepend=NAN) / steps_s
        power_w[power_w < 0] = NAN
        power_w[0] = power_w[1]
        step_w = JOULES_PER_WH * columns["energy"].step / float(np.median(steps_s))
        report.tell("The first answer of a counter has no power of its own: it has the next one's.")
    return Readings(time_s, power_w, voltage_v, current_a, energy_wh), step_w


IMPORTER = Importer(
    name="table",
    summary="any table: --set time=... --set power=... --set unit=W; or a recipe",
    settings=TableSettings,
    read=read,
    columns=lambda data: shown_columns(decode(data, Report("table"))),
)


@cache
def recipes() -> Mapping[str, Importer]:
    """Return a reader for each program's table, by the name of the recipe."""
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: _importer(name, **table) for name, table in tables.items()}


def _importer(
    name: str, summary: str, unlike: Sequence[Mapping[str, Any]] = (), **table: Any
) -> Importer:
    """Return a reader whose settings have the values of `table` as defaults.

    A file is refused if a line matches a pattern of `unlike`, which names other kinds of files.
    Patterns without `beside_rows` count only if the file has no row of the recipe.
    """
    sound = TableSettings.of({"gain_error": 0.0, **table, "name": name, "driver": name})
    fields = {key: (TableSettings.model_fields[key], getattr(sound, key)) for key in table}
    defaults: dict[str, Any] = {
        key: (field.rebuild_annotation(), default) for key, (field, default) in fields.items()
    }
    settings = create_model(name, __base__=TableSettings, **defaults)

    def read_recipe(data: bytes, settings: TableSettings) -> Imported:
        _refuse_unlike(data, settings, unlike)
        try:
            return read(data, settings)
        except FsgreenError as error:
            reads = f"the recipe {name} reads: {summary}"
            raise FsgreenError(
                error.what, where=error.where, next_step=f"{error.next_step}; {reads}"
            ) from error

    return Importer(name=name, summary=summary, settings=settings, read=read_recipe)


def _refuse_unlike(
    data: bytes, settings: TableSettings, unlike: Sequence[Mapping[str, Any]]
) -> None:
    report = Report(settings.name)
    text = decode(data, report) if unlike else ""
    has_rows = re.search(settings.lines, text, re.M) is not None
    for each in unlike:
        if has_rows and not each.get("beside_rows", False):
            continue
        if re.search(each["pattern"], text, re.M):
            report.refuse(each["what"], each["next_step"])
