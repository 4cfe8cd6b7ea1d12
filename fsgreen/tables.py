"""Tables as notebooks show them: few digits, texts that wrap, and what is asked for first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from fsgreen import paths
from fsgreen.analysis.tables import rows_left_out
from fsgreen.words import digits

if TYPE_CHECKING:
    from IPython.display import HTML

MOST_ROWS = 200
"""Rows of a table that are shown; its file has all."""

STYLE = """<style>
.fsgreen-table td, .fsgreen-table th { text-align: left !important; vertical-align: top; }
.fsgreen-table td { max-width: 32em; overflow-wrap: break-word; }
</style>
"""
"""JupyterLab sets texts of tables to the right, by a rule that others do not outweigh."""


def as_html(table: pd.DataFrame) -> str:
    """Return a table for people: few digits, and in the end how many rows are not shown."""
    head = table.head(MOST_ROWS)
    with pd.option_context("display.max_colwidth", None):
        text: str = head.to_html(
            index=False, na_rep="", float_format=digits, classes="fsgreen-table", border=0
        )
    left = len(table) - len(head)
    return text + (f"<p>{left} more rows are in its file.</p>" if left else "")


def shown(table: pd.DataFrame, columns: Sequence[str] | None = None) -> HTML:
    """Return a table, or some of its columns in this order, for a notebook.

    Columns without any value are left out; of a table without rows it is said that it has none.
    """
    from IPython.display import HTML

    if table.empty:
        return HTML("<p>None.</p>")
    chosen = table if columns is None else table[[*columns]]
    return HTML(STYLE + as_html(chosen.dropna(axis="columns", how="all")))


def of_report(campaign: str) -> Iterator[tuple[str, HTML]]:
    """Yield name and text of each table of a report: its rows, and a sentence on those left out.

    A table with neither is left out as a whole.
    """
    from IPython.display import HTML

    left_out = rows_left_out(campaign)
    for file in sorted((paths.results(campaign) / "tables").glob("*.csv")):
        table = pd.read_csv(file, keep_default_na=False)
        parts = [] if table.empty else [STYLE, as_html(table)]
        if left := left_out.get(file.stem):
            parts.append(f"<p>{escape(left['what'])} <code>{escape(left['command'])}</code>.</p>")
        if parts:
            yield file.stem, HTML("".join(parts))
