"""Tables of a report as CSV, and as TeX for whoever writes the next paper in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import paths
from fsgreen.stats import Estimate
from fsgreen.words import digits

_SPECIAL = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"†": r"$\dagger$", "‡": r"$\ddagger$"})


def write_all(campaign: str, tables: Mapping[str, tuple[str, pd.DataFrame]]) -> Path:
    """Write tables, each with its caption, as `.csv` and `.tex`; return their folder."""
    folder = paths.results(campaign) / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (caption, table) in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
        (folder / f"{name}.tex").write_text(as_tex(table, caption, name))
    return folder


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


def interval_text(cell: Mapping[str, Any], metric: str, unit: str) -> str:
    """Return a metric of a row of `cells.csv` with its 95 % interval, cut at 0."""
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
    """Return a value with its 95 % interval, where there is one, in three digits."""
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
