"""`run_table.csv` of the S2 group's Experiment Runner.

`__run_id` is `run_I_repetition_J`: combination I of the factors' treatments, measured for the Jth
time (`run_I` alone before repetitions were known); `__done` is TODO or DONE. The factors follow, as
the user named them, then the data columns, which are the user's as well: the file says neither
which are which nor any unit. Cells that were not filled hold a blank.
Source: github.com/S2-group/experiment-runner, ConfigValidator/Config/Models/RunTableModel.py and
ProgressManager/Output/CSVOutputManager.py.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence

from fsgreen.meters.files.text import Report, decode, some
from fsgreen.runs.meanings import ASIDE, LEVELS, UNITS, Meanings, number
from fsgreen.runs.rows import Format, Run

OWN = ("__run_id", "__done")
STATES = ("TODO", "DONE")
ORIGINAL = "give the table as it was written"
RUN_ID = re.compile(r"run_(\d{1,9})(?:_repetition_(\d{1,9}))?")


def read(data: bytes, meanings: Meanings, report: Report) -> list[Run]:
    """Read a run table; rows that are still to do are left out and told."""
    header, rows = _table(decode(data, report), report)
    _check_ids(rows, report)
    if todo := [row["__run_id"] for row in rows if row["__done"] == "TODO"]:
        report.tell(f"Left out, as they are still to do: {some(todo)}.")
    done = [row for row in rows if row["__done"] == "DONE"]
    if not done:
        report.refuse("no run of this table is done", "give a table of finished runs")
    columns = [name for name in header if name not in OWN]
    meaning = {name: meanings.of(name) for name in columns}
    for quantity in {UNITS[kind][0] for kind in meaning.values() if kind in UNITS}:
        twice = [name for name, kind in meaning.items() if UNITS.get(kind, ("",))[0] == quantity]
        if len(twice) > 1:
            report.refuse(
                f"{' and '.join(twice)} would both be {quantity}",
                f"keep all but one aside: --map '{twice[1]}={ASIDE}'",
            )
    _check_factors(done, meaning, report)
    return [_run(row, meaning, report) for row in done]


def _table(text: str, report: Report) -> tuple[list[str], list[dict[str, str]]]:
    try:
        lines = [line for line in csv.reader(io.StringIO(text), strict=True) if line]
    except csv.Error as error:
        report.refuse(f"this is no CSV: {error}", "give the run_table.csv of the experiment")
    header = [name.strip() for name in lines[0]]
    if not set(OWN) <= set(header) or len(set(header)) < len(header) or "" in header:
        report.refuse(
            "the header lacks __run_id or __done, or has a name twice or none",
            "give the run_table.csv of the experiment as it was written",
        )
    if odd := [f"line {nth}" for nth, line in enumerate(lines[1:], 2) if len(line) != len(header)]:
        report.refuse(f"rows do not have the cells of the header: {some(odd)}", "mend the file")
    return header, [dict(zip(header, line, strict=True)) for line in lines[1:]]


def _check_ids(rows: Sequence[Mapping[str, str]], report: Report) -> None:
    """Refuse a table without some of its rows: it is written with all combinations at once."""
    matches = [RUN_ID.fullmatch(row["__run_id"]) for row in rows]
    odd = [
        f"{row['__run_id']} {row['__done']}"
        for row, match in zip(rows, matches, strict=True)
        if match is None or row["__done"] not in STATES
    ]
    if odd or not rows:
        report.refuse(f"no runs that are TODO or DONE: {some(odd)}", ORIGINAL)
    numbers = [(int(match[1]), int(match[2] or 0)) for match in matches if match is not None]
    combinations, repetitions = (1 + max(column) for column in zip(*numbers, strict=True))
    if len(set(numbers)) < len(numbers) or len(numbers) != combinations * repetitions:
        report.refuse(
            f"{len(numbers)} rows of {combinations} combinations in {repetitions} repetitions: "
            "some are missing, or there twice",
            ORIGINAL,
        )


def _check_factors(
    rows: Sequence[Mapping[str, str]], meaning: Mapping[str, str], report: Report
) -> None:
    """Refuse to make one cell of several combinations of treatments."""
    matches = [RUN_ID.fullmatch(row["__run_id"]) for row in rows]
    if any(match is None or match[2] is None for match in matches):
        report.tell(
            "The identifiers name no repetitions: whether a column that is kept aside is a factor "
            "cannot be told."
        )
        return
    levels = [name for name, kind in meaning.items() if kind in LEVELS and kind != "block"]
    cells: dict[tuple[str, ...], dict[str, Mapping[str, str]]] = {}
    for row, match in zip(rows, matches, strict=True):
        if match is not None:
            cells.setdefault(tuple(row[name] for name in levels), {}).setdefault(match[1], row)
    for combinations in cells.values():
        if len(combinations) > 1:
            first, second, *_ = combinations.values()
            differing = [
                n for n, kind in meaning.items() if kind == ASIDE and first[n] != second[n]
            ]
            report.refuse(
                f"combinations {some(sorted(combinations))} of this table would be one cell",
                "say what its factors are: "
                + " or ".join(f"--map '{name}=option'" for name in differing[:3] or ["NAME"]),
            )


def _run(row: Mapping[str, str], meaning: Mapping[str, str], report: Report) -> Run:
    values: dict[str, object] = {}
    name = row["__run_id"]
    for column, kind in meaning.items():
        text = row[column].strip()
        if kind in UNITS:
            target, factor = UNITS[kind]
            values[target] = factor * number(text, f"{column} of {name}", report.where)
        elif kind in LEVELS:
            before = values.get(kind)
            values[kind] = text if before is None else f"{before}/{text}"
    missing = [key for key, value in values.items() if isinstance(value, float) and value != value]
    if missing:
        report.tell(f"{name} has no {', '.join(missing)}.")
    return Run(name, values, {n: row[n] for n, kind in meaning.items() if kind == ASIDE})


FORMAT = Format(
    name="Experiment Runner (run_table.csv)",
    recognises=lambda head: b"__run_id" in head.split(b"\n", 1)[0],
    read=read,
)
