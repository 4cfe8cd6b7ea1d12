"""How often intervals like those of a campaign cover the truth, for its report."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from fsgreen.analysis.cells import estimator
from fsgreen.figures import irregular
from fsgreen.stats import LEAST_PERCENT, coverage

TRIALS = {
    "normal": "normal",
    "log-normal": "long-tailed",
    "bimodal": "of two modes",
    "uneven bimodal": "of a rare slow mode",
}
"""The simulated distributions, and the words for trials of each."""

NOMINAL = "95 %"

IRREGULAR_CELLS = {
    "file": "irregular_cells.svg",
    "caption": "Every trial of the cells that scatter widely, or that seem to have a long tail or "
    "two modes, which their mean hides (rule 33).",
}
"""File and caption of the figure that shows the irregular cells."""


def intervals(
    cells: pd.DataFrame,
    effects: pd.DataFrame,
    interactions: pd.DataFrame,
    *,
    least_n: int | None = None,
) -> dict[str, Any]:
    """Return the coverage of the intervals that a report prints, and which of them to doubt.

    The rates are simulated: `stats.coverage` has them for the least number of trials of a cell, and
    none below the least number that was simulated. `least_n` is what `cells.ended_from` returns.
    """
    fewest = int(cells["n"].min())
    n = coverage.simulated_n(fewest)
    used = list(_used(cells, effects, interactions, least_n)) if n is not None else []
    return {
        "fewest": str(fewest),
        "n": str(n),
        "nominal": NOMINAL,
        "trials": list(TRIALS.values()),
        "rows": [
            [what, "" if count is None else str(count), *(_rate(name, of, n) for of in TRIALS)]
            for what, name, count in used
        ],
        "notes": list(_notes(cells, effects)),
        "irregular": [IRREGULAR_CELLS] if len(irregular(cells)) else [],
    }


def _used(
    cells: pd.DataFrame, effects: pd.DataFrame, interactions: pd.DataFrame, least_n: int | None
) -> Iterator[tuple[str, str, int | None]]:
    """Yield each kind of interval, the estimator that was simulated for it, and their number.

    Where the mixed model does not hold, the interval of a difference is the bootstrap's, in the
    simulation as well. The lines after "differences" give the bootstrap's intervals alone.
    """
    yield "work per second, work per joule", estimator(least_n), len(cells)
    power = "mean, Student t" if least_n is None else "mean, Student t, sequential stop"
    yield "power, energy", power, len(cells)
    known = effects[effects["ratio_low_x"].notna()] if len(effects) else effects
    if len(known):
        yield "differences", "effect, scatter of all cells", len(known)
        yield (
            "- over a cell that scatters more",
            "effect over a wild cell, scatter of all cells",
            None,
        )
    alone = int((known["model"] == "bootstrap").sum()) if len(known) else 0
    if alone:
        yield "- of two cells by themselves, alike", "effect, hierarchical bootstrap", alone
        yield "- the same, over a normal one", "effect, over a normal baseline", None
    combined = int(interactions["change_low_percent"].notna().sum()) if len(interactions) else 0
    if combined:
        yield "options and their interactions", "interaction of two options", combined


def _rate(name: str, distribution: str, n: int | None) -> str:
    percent = math.nan if n is None else coverage.rate_percent(name, distribution, n)
    if math.isnan(percent):
        return "not simulated"
    return f"{percent:.0f} %" + (
        ", short" if coverage.verdict("interval", percent) == "short" else ""
    )


def _notes(cells: pd.DataFrame, effects: pd.DataFrame) -> Iterator[str]:
    starred = int(cells["starred"].sum())
    if starred:
        yield (
            f"{starred} of {len(cells)} cells have a star (*): their trials do not look normal, or "
            "the interval of throughput is too short for their shape. cells.csv has mean and "
            "median, and the intervals that hold for such a shape"
        )
    noted = cells["interval_note"].dropna()
    for note, count in noted.value_counts(sort=False).sort_index().items():
        yield f"{count} of {len(cells)} cells: {note}"
    covers_percent = effects.get("coverage_percent", pd.Series(dtype=float))
    short = int((covers_percent < LEAST_PERCENT).sum())
    if short:
        yield (
            f"the intervals of {short} of {len(effects)} differences cover less than "
            f"{LEAST_PERCENT:.0f} % if trials scatter as in their workload, or as in a cell some "
            "of whose trials lie further off than those of the others: coverage_percent in "
            "effects.csv"
        )
