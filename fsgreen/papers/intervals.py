"""How often intervals like those of a campaign cover the truth: what its report says of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from fsgreen.figures import odd
from fsgreen.papers.cells import estimator
from fsgreen.stats import coverage

TRIALS = {
    "normal": "normal",
    "log-normal": "long-tailed",
    "bimodal": "of two modes",
    "uneven bimodal": "of a rare slow mode",
}
"""The simulated distributions, and what trials of each are called."""

NOMINAL = "95 %"

ODD_CELLS = {
    "file": "odd_cells.svg",
    "caption": "Every trial of the cells that look as if their mean hid a long tail or two modes, "
    "or that scatter widely (rule 33).",
}
"""File and caption of the figure that shows them."""


def intervals(cells: pd.DataFrame, effects: pd.DataFrame, *, sequential: bool) -> dict[str, Any]:
    """Return the coverage of the intervals that a report prints, and which of them to doubt.

    Rates are those of `stats.coverage` at the least number of trials of a cell: simulated.

    Parameters
    ----------
    cells, effects : DataFrame
        The tables `cells.csv` and `effects.csv`.
    sequential : bool
        Whether cells ended by the width of their interval.
    """
    n = int(cells["n"].min())
    return {
        "n": str(n),
        "nominal": NOMINAL,
        "trials": list(TRIALS.values()),
        "rows": [
            [what, str(count), *(_rate(name, of, n) for of in TRIALS)]
            for what, name, count in _used(cells, effects, sequential)
            if count
        ],
        "notes": list(_notes(cells)),
        "odd": [ODD_CELLS] if len(odd(cells)) else [],
    }


def _used(
    cells: pd.DataFrame, effects: pd.DataFrame, sequential: bool
) -> Iterator[tuple[str, str, int]]:
    """Yield what has an interval, the estimator that was simulated for it, and how many there are.

    Power and energy are means of trials; what is compared rests on all cells or on two.
    """
    yield "work per second, work per joule", estimator(sequential), len(cells)
    yield "power, energy", "mean, Student t", len(cells)
    known = effects[effects["ratio_low_x"].notna()] if len(effects) else effects
    pooled = known["model"] == "mixed model"
    yield "differences, by the scatter of all cells", "effect, scatter of all cells", pooled.sum()
    own = int((~pooled).sum())
    yield "differences, by two cells that scatter alike", "effect, hierarchical bootstrap", own
    yield "differences, by such a cell over a normal one", "effect, over a normal baseline", own


def _rate(name: str, distribution: str, n: int) -> str:
    percent = coverage.rate_percent(name, distribution, n)
    if math.isnan(percent):
        return "unknown"
    return f"{percent:.0f} %" + (
        ", short" if coverage.verdict("interval", percent) == "short" else ""
    )


def _notes(cells: pd.DataFrame) -> Iterator[str]:
    starred = int(cells["starred"].sum())
    if starred:
        yield (
            f"{starred} of {len(cells)} cells bear a star (*): their trials do not look normal, or "
            "the interval of throughput is too short for their shape. Both centres, and the "
            "intervals that stand it, are in cells.csv"
        )
    noted = cells[cells["interval_note"].fillna("") != ""]["interval_note"]
    for note, count in noted.value_counts(sort=False).sort_index().items():
        yield f"{count} of {len(cells)} cells: {note}"
