"""How far the last of eight readers is behind the first, by file system, size and clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.analysis.scatter import total
from fsgreen.papers.nfstricks03.experiments import EIGHT, TOTAL_MIB
from fsgreen.papers.nfstricks03.readers import REAL, VIRTUAL, Runs
from fsgreen.papers.nfstricks03.reference import FIGURE_3, FILE_SYSTEMS, setup
from fsgreen.reduce import at

SCHEDULERS = ("elevator", "n-cscan")
CELL = ["series", "scheduler", "file_system", "total_mib"]


def spreads(runs: Iterable[Runs], sizes: pd.DataFrame) -> pd.DataFrame:
    """Return the last reader's time over the first's of the cells of figure 3.

    Of `runs`, those in real time count; in virtual time `sizes`, as `virtual.Simulated` has them,
    has more; it may have no rows. Returned are `series`, `scheduler`, `file_system`, `total_mib` of
    all files, `clock`, and the ratio `value_x` with its interval `low_x` and `high_x`, where `n`
    blocks give one.
    """
    measured = [of_clock for of_clock in runs if not of_clock.virtual]
    rows = []
    for series, scheduler, file_system in _cells():
        cell = setup(series, EIGHT, scheduler, file_system)
        place = {"series": series, "scheduler": scheduler, "file_system": file_system}
        for of_clock in measured:
            if len(of_clock.cell(cell)):
                size = {"total_mib": round(TOTAL_MIB * of_clock.scale), "clock": REAL}
                rows.append({**place, **size, **_columns(of_clock.value(cell, "spread"))})
        if sizes.empty:
            continue
        for total_mib, of_size in sizes[at(sizes, cell)].groupby("total_mib"):
            sample = of_size.rename(columns={"last_s": "above", "first_s": "below"})
            size = {"total_mib": total_mib, "clock": VIRTUAL}
            ours = total(sample[["block", "above", "below"]])
            rows.append({**place, **size, **_columns(ours)})
    return pd.DataFrame(rows, columns=[*CELL, "clock", "value_x", "low_x", "high_x", "n"])


def by_both_clocks(spread: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that both clocks have with files of one size, and `virtual_over_real_x`.

    That ratio is the error of the model in virtual time, which none of its intervals holds.
    """
    real, virtual = (
        spread[spread["clock"] == clock].set_index(CELL)["value_x"] for clock in (REAL, VIRTUAL)
    )
    both = pd.DataFrame({"real_x": real, "virtual_x": virtual}).dropna().reset_index()
    return both.assign(virtual_over_real_x=both["virtual_x"] / both["real_x"])


def published(points: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the published ratio under the elevator by series, of those that figure 3 states."""
    at_rank = {(point["series"], point["x"]): point.get("y") for point in points}
    ratios = {}
    for series in FIGURE_3:
        first, last = (at_rank.get((f"{series} elevator", rank)) for rank in (1, EIGHT))
        if first is not None and last is not None:
            ratios[series] = last / first
    return ratios


def _cells() -> Iterable[tuple[str, str, str]]:
    return (
        (series, scheduler, file_system)
        for series in FIGURE_3
        for scheduler in SCHEDULERS
        for file_system in FILE_SYSTEMS
    )


def _columns(ours: stats.Estimate) -> dict[str, float]:
    return {"value_x": ours.value, "low_x": ours.low, "high_x": ours.high, "n": ours.n}
