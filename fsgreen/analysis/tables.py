"""Tables of a report as CSV, and as TeX for whoever writes the next paper in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from fsgreen import paths

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


def interval_texts(cells: pd.DataFrame, metric: str, unit: str) -> list[str]:
    """Return a metric of each row of `cells.csv` with its 95 % interval, cut at 0, as texts."""
    ends = zip(*(cells[f"{metric}{end}_{unit}"] for end in ("", "_low", "_high")), strict=True)
    return [
        f"{value:,.4g}" + ("" if pd.isna(low) else f" [{max(low, 0):,.4g}, {high:,.4g}]")
        for value, low, high in ends
    ]
