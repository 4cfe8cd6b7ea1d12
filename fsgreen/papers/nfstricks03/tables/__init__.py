"""The numbers behind the figures of nfstricks03, as CSV and TeX; the paper prints no such table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from fsgreen.analysis.tables import write_all
from fsgreen.design import Cell
from fsgreen.papers.nfstricks03.readers import Runs
from fsgreen.papers.nfstricks03.reference import EIGHT, FIGURE_1, FIGURE_2, FIGURE_3, READERS, setup

NOT_RUN = "not run"
SERIES = tuple(dict.fromkeys([*FIGURE_1, *FIGURE_2]))


def write_tables(campaign: str, runs: Sequence[Runs]) -> Path:
    """Write `throughput`, `finishes` and `schedulers` as `.csv` and `.tex`; return their folder."""
    return write_all(
        campaign,
        {
            "throughput": ("MiB/s by the number of readers, simulated disks", throughput(runs)),
            "finishes": (
                "Seconds until so many of eight readers were done, simulated disks",
                finishes(runs),
            ),
            "schedulers": (
                "Eight readers by scheduler: MiB/s, and the last reader's time over the first's",
                schedulers(runs),
            ),
        },
    )


def throughput(runs: Sequence[Runs]) -> pd.DataFrame:
    """Return a row per series and clock, a column per number of readers."""
    return pd.DataFrame(
        [
            {"series": name, "clock": one.clock}
            | {f"{n} readers": _value(one, setup(name, n), "rate") for n in READERS}
            for name in SERIES
            for one in runs
        ]
    )


def finishes(runs: Sequence[Runs]) -> pd.DataFrame:
    """Return a row per series, scheduler of figure 3 and clock, a column per rank."""
    return pd.DataFrame(
        [
            {"series": name, "scheduler": scheduler, "clock": one.clock}
            | {
                f"reader {rank}": _seconds(one, setup(name, scheduler=scheduler), rank)
                for rank in range(1, EIGHT + 1)
            }
            for name in FIGURE_3
            for scheduler in ("elevator", "n-cscan")
            for one in runs
        ]
    )


def schedulers(runs: Sequence[Runs]) -> pd.DataFrame:
    """Return a row per series, scheduler and clock that ran with eight readers."""
    return pd.DataFrame(
        [
            {
                "series": name,
                "scheduler": scheduler,
                "clock": one.clock,
                "MiB/s": _value(one, of, "rate"),
                "last over first": _value(one, of, "spread"),
                "trials": str(len(one.cell(of))),
            }
            for name in FIGURE_3
            for one in runs
            for scheduler in sorted(one.trials["scheduler"].unique())
            if len(one.cell(of := setup(name, scheduler=str(scheduler))))
        ]
    )


def _value(runs: Runs, setup: Cell, metric: str) -> str:
    if runs.cell(setup).empty:
        return NOT_RUN
    ours = runs.value(setup, metric)
    interval = f" [{ours.low:.3g}, {ours.high:.3g}]" if ours.has_interval else ""
    return f"{ours.value:.3g}{interval}"


def _seconds(runs: Runs, setup: Cell, rank: int) -> str:
    if runs.cell(setup).empty:
        return NOT_RUN
    return f"{runs.value(setup, f'finish {rank}').value:.4g} s"
