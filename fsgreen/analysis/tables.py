"""Tables of a report as CSV, and as TeX for use in a paper."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import paths
from fsgreen.reduce import factors_of
from fsgreen.stats import Estimate
from fsgreen.words import digits, plural

NOT_RUN, NOT_HERE = "not run", "n/a"
"""What stands in place of a number that was not measured, or that no kernel of today can give."""

LEFT_OUT = "left_out.json"
"""Beside the tables: which lack rows because nothing of them was run, and what measures them."""

FEWEST_TRIALS = 3
"""Of fewer, a cell is shown without an interval: two leave Student's t one degree of freedom, so
that it reaches thirteen standard errors to each side."""

_SPECIAL = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"†": r"$\dagger$", "‡": r"$\ddagger$"})


@dataclass(frozen=True)
class Ours:
    """The columns of a table that were measured here, and the command that measures all rows."""

    columns: Sequence[str]
    command: str


def write_all(
    campaign: str,
    tables: Mapping[str, tuple[str, pd.DataFrame]],
    ours: Mapping[str, Ours] | None = None,
) -> Path:
    """Write tables into the campaign's results as `.csv` and `.tex`; return their folder.

    `tables` has a caption and a table by name. `ours` has, by the name of a table, what of it was
    measured here: rows that have nothing there but `NOT_RUN` and `NOT_HERE` are left out and
    counted (`rows_left_out`).
    """
    folder = paths.results(campaign) / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    left_out = {}
    for name, (caption, whole) in tables.items():
        table = whole
        if (of_table := (ours or {}).get(name)) is not None and of_table.columns:
            table = _that_ran(whole, [*of_table.columns])
            if lacking := len(whole) - len(table):
                left_out[name] = {
                    "what": f"Left out: {plural(lacking, 'row')} of which nothing was run. "
                    "To run what this kernel can:",
                    "command": of_table.command,
                }
        table.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
        (folder / f"{name}.tex").write_text(as_tex(table, caption, name))
    if ours:
        (folder / LEFT_OUT).write_text(json.dumps(left_out, indent=1) + "\n")
    return folder


def _that_ran(table: pd.DataFrame, ours: list[str]) -> pd.DataFrame:
    return table[~table[ours].isin([NOT_RUN, NOT_HERE]).all(axis=1)]


def rows_left_out(campaign: str) -> dict[str, dict[str, str]]:
    """Return, by table, `what` of it is left out, and the `command` that measures it."""
    file = paths.results(campaign) / "tables" / LEFT_OUT
    if not file.is_file():
        return {}  # older tables are whole
    left_out: dict[str, Any] = json.loads(file.read_text())
    # Older tables have only the number of rows.
    return {name: left for name, left in left_out.items() if isinstance(left, dict)}


def as_tex(table: pd.DataFrame, caption: str, label: str) -> str:
    """Return a table of texts as a LaTeX table environment (package booktabs)."""
    columns = "l" * table.shape[1]
    lines = [
        r"\begin{table}",
        rf"  \caption{{{caption.translate(_SPECIAL)}}}",
        rf"  \label{{{label}}}",
        rf"  \begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        "    " + _row(table.columns),
        r"    \midrule",
        *("    " + _row(row) for row in table.itertuples(index=False)),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(values: object) -> str:
    texts = ["" if pd.isna(value) else str(value) for value in values]  # type: ignore[attr-defined]
    return " & ".join(re.sub(r"\s+", " ", text).translate(_SPECIAL) for text in texts) + r" \\"


def as_shown(cells: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `cells.csv` as people are shown them: no interval below `FEWEST_TRIALS`."""
    levels = factors_of(cells)
    ends = [name for name in cells if ("_low_" in name or "_high_" in name) and name not in levels]
    return cells.assign(**{end: cells[end].where(cells["n"] >= FEWEST_TRIALS) for end in ends})


def interval_text(cell: Mapping[str, Any], metric: str, unit: str) -> str:
    """Return a metric of a row of `cells.csv` with its 95 % interval, cut off at 0."""
    if cell["state"] == "inconsistent":
        return "no steady state"
    value, low, high = (cell[f"{metric}{end}_{unit}"] for end in ("", "_low", "_high"))
    if pd.isna(value):
        return "not known"
    interval = "" if pd.isna(low) else f" [{digits(max(low, 0))}, {digits(high)}]"
    return f"{digits(value)}{interval}"


def interval_texts(cells: pd.DataFrame, metric: str, unit: str) -> list[str]:
    """Return `interval_text` of each row of `cells.csv`."""
    return [interval_text(cell, metric, unit) for cell in cells.to_dict("records")]


def estimate_text(ours: Estimate) -> str:
    """Return a value in three digits, with its 95 % interval if it has one."""
    interval = f" [{ours.low:.3g}, {ours.high:.3g}]" if ours.has_interval else ""
    return f"{ours.value:.3g}{interval}"


def change_text(row: Mapping[str, Any]) -> str:
    """Return the change of a row of `effects.csv` in per cent, with its 95 % interval."""
    if row["outcome"] == "inconsistent":
        return "no steady state"
    value, low, high = (row[f"change{end}_percent"] for end in ("", "_low", "_high"))
    if pd.isna(value):
        return "not known"
    return f"{value:+.1f}" + ("" if pd.isna(low) else f" [{low:+.1f}, {high:+.1f}]")
