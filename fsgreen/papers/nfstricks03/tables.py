"""The numbers behind the figures of nfstricks03, as CSV and TeX; the paper prints no such table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from fsgreen.analysis.tables import NOT_RUN, Ours, estimate_text, write_all
from fsgreen.design import Cell
from fsgreen.papers.nfstricks03.experiments import EIGHT, TOTAL_MIB
from fsgreen.papers.nfstricks03.readers import REAL, VIRTUAL, Runs
from fsgreen.papers.nfstricks03.reference import FIGURE_1, FIGURE_2, FIGURE_3, PAPER, READERS, setup
from fsgreen.papers.nfstricks03.served import figure_lines, has_server
from fsgreen.papers.nfstricks03.spreads import CELL, by_both_clocks
from fsgreen.stats import Estimate

SERIES = tuple(dict.fromkeys([*FIGURE_1, *FIGURE_2]))


def write_tables(campaign: str, runs: Sequence[Runs], spread: pd.DataFrame) -> Path:
    """Write the tables as `.csv` and `.tex`; return their folder.

    `spread` is what `spreads.spreads` gives. With a server there is a table of its figures beside.
    """
    of_server = (
        {"served": ("MiB/s of readers of a server, simulated disks", served(runs))}
        if has_server(runs[0].trials)
        else {}
    )
    lab = f"{PAPER} --profile lab"  # it has every row
    command = f"fsgreen measure {lab}"
    if any(of_clock.virtual for of_clock in runs):
        command += f"; fsgreen simulate {lab}"
    return write_all(
        campaign,
        {
            **of_server,
            "throughput": ("MiB/s by the number of readers, simulated disks", throughput(runs)),
            "finishes": (
                "Seconds until so many of eight readers were done, simulated disks",
                finishes(runs),
            ),
            "schedulers": (
                "Eight readers by scheduler: MiB/s, and the last reader's time over the first's",
                schedulers(runs),
            ),
            "file_systems": (
                "The last of eight readers over the first by file system, simulated disks",
                file_systems(spread),
            ),
        },
        {
            "throughput": Ours([f"{n} readers" for n in READERS], command),
            "finishes": Ours([f"reader {rank}" for rank in range(1, EIGHT + 1)], command),
        },
    )


def throughput(runs: Sequence[Runs]) -> pd.DataFrame:
    """Return a row per series and clock, a column per number of readers."""
    return pd.DataFrame(
        [
            {"series": name, "clock": of_clock.clock}
            | {f"{n} readers": _value(of_clock, setup(name, n), "rate") for n in READERS}
            for name in SERIES
            for of_clock in runs
        ]
    )


def served(runs: Sequence[Runs]) -> pd.DataFrame:
    """Return a row per line of figures 4 to 8 and clock that has some of it, a column per point."""
    return pd.DataFrame(
        [
            {"figure": number, "line": name, "clock": of_clock.clock}
            | {str(x): _value(of_clock, line[x], "rate") if x in line else "" for x in READERS}
            for number, lines in figure_lines().items()
            for name, line in lines.items()
            for of_clock in runs
            if any(len(of_clock.cell(cell)) for cell in line.values())
        ]
    )


def finishes(runs: Sequence[Runs]) -> pd.DataFrame:
    """Return a row per series, scheduler of figure 3 and clock, a column per rank."""
    return pd.DataFrame(
        [
            {"series": name, "scheduler": scheduler, "clock": of_clock.clock}
            | {
                f"reader {rank}": _seconds(of_clock, setup(name, scheduler=scheduler), rank)
                for rank in range(1, EIGHT + 1)
            }
            for name in FIGURE_3
            for scheduler in ("elevator", "n-cscan")
            for of_clock in runs
        ]
    )


def schedulers(runs: Sequence[Runs]) -> pd.DataFrame:
    """Return a row per series, scheduler and clock that ran with eight readers."""
    return pd.DataFrame(
        [
            {
                "series": name,
                "scheduler": scheduler,
                "clock": of_clock.clock,
                "MiB/s": _value(of_clock, cell, "rate"),
                "last over first": _value(of_clock, cell, "spread"),
                "trials": str(len(of_clock.cell(cell))),
            }
            for name in FIGURE_3
            for of_clock in runs
            for scheduler in sorted(of_clock.trials["scheduler"].unique())
            if len(of_clock.cell(cell := setup(name, scheduler=str(scheduler))))
        ]
    )


def file_systems(spread: pd.DataFrame) -> pd.DataFrame:
    """Return a row per series, scheduler, file system and size: each clock, and how they differ.

    The sizes are those of real time, and the published one.
    """
    of_real = spread[spread["clock"] == REAL]["total_mib"]
    shown = spread[spread["total_mib"].isin({*of_real, TOTAL_MIB})]
    apart = by_both_clocks(shown).set_index(CELL)["virtual_over_real_x"]
    rows = []
    for cell, of_cell in shown.groupby(CELL, sort=False):
        series, scheduler, file_system, total_mib = cell
        by_clock = {
            row["clock"]: estimate_text(Estimate(row["value_x"], row["low_x"], row["high_x"], 0))
            for row in of_cell.to_dict("records")
        }
        rows.append(
            {
                "series": series,
                "scheduler": scheduler,
                "file system": file_system,
                "MB of a file": f"{total_mib / EIGHT:g}",
                REAL: by_clock.get(REAL, NOT_RUN),
                VIRTUAL: by_clock.get(VIRTUAL, NOT_RUN),
                "virtual over real": f"{apart[cell]:.2f}" if cell in apart.index else "",
            }
        )
    columns = ["series", "scheduler", "file system", "MB of a file", REAL]
    if VIRTUAL in set(spread["clock"]):
        columns += [VIRTUAL, "virtual over real"]
    return pd.DataFrame(rows, columns=columns)


def _value(runs: Runs, setup: Cell, metric: str) -> str:
    if runs.cell(setup).empty:
        return NOT_RUN
    return estimate_text(runs.value(setup, metric))


def _seconds(runs: Runs, setup: Cell, rank: int) -> str:
    if runs.cell(setup).empty:
        return NOT_RUN
    return f"{runs.value(setup, f'finish {rank}').value:.4g} s"
