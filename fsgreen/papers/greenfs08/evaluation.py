"""What can be shown of greenfs08 without a campaign: figures and tables of its ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fsgreen.figures import save
from fsgreen.papers.greenfs08 import daysfigures, figures
from fsgreen.papers.greenfs08.days import ASSUMED
from fsgreen.papers.greenfs08.reference import Printed
from fsgreen.papers.greenfs08.tables import tables
from fsgreen.papers.greenfs08.virtual import read


def write(folder: Path) -> dict[str, Any]:
    """Write figures and tables below a folder; return what `paper/ledger.typ` shows of them.

    Returns
    -------
    dict
        `notes`, texts; `figures` with `file` and `caption`, and `tables` with `file` and `title`.
    """
    printed, days = Printed.load(), read()
    captions = {**figures.captions(), "fig_equation": daysfigures.CAPTIONS["fig_equation"]}
    for bars in (figures.COMPILE, figures.STARTUP):
        save(figures.elapsed(bars, printed), folder / "figures", f"fig{bars.number}")
    save(daysfigures.equation(printed, days), folder / "figures", "fig_equation")
    if days is not None:
        captions |= daysfigures.CAPTIONS
        save(daysfigures.storage(days), folder / "figures", "fig_storage")
        save(daysfigures.budget(days), folder / "figures", "fig_budget")
    made = tables(printed, days)
    for name, _, table in made:
        table.to_csv(folder / "tables" / f"{name}.csv", index=False, lineterminator="\n")
    return {
        "notes": [
            "No trial has been measured of this study. Verdicts are recomputed from print, or "
            "simulated in virtual time; figures and tables say which.",
            *(f"Assumed of generated days: {text}." for text in ASSUMED),
        ],
        "figures": [{"file": f"{name}.svg", "caption": text} for name, text in captions.items()],
        "tables": [{"file": f"tables/{name}.csv", "title": title} for name, title, _ in made],
    }
