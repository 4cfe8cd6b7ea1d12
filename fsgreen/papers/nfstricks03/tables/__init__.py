"""The numbers behind the figures of nfstricks03, as CSV and TeX; the paper prints no such table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from fsgreen.analysis.tables import write_all
from fsgreen.papers.nfstricks03.readers import Runs, total
from fsgreen.papers.nfstricks03.reference import EIGHT, FIGURE_1, FIGURE_2, FIGURE_3, READERS, setup
from fsgreen.stats import Estimate

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
            | {
                f"{n} readers": _text(total(one.rate(setup(name, n))))
                if len(one.cell(setup(name, n)))
                else NOT_RUN
                for n in READERS
            }
            for name in SERIES
            for one in runs
        ]
    )


def finishes(runs: Sequence[Runs]) -> pd.DataFrame:
    """Return a row per series, scheduler of figure 3 and clock, a column per rank."""
    rows = []
    for name in FIGURE_3:
        for scheduler in ("elevator", "n-cscan"):
            for one in runs:
                of = setup(name, scheduler=scheduler)
                ran = len(one.cell(of)) > 0
                times = {
                    f"reader {rank}": f"{total(one.finish(of, rank)).value:.4g} s"
                    if ran
                    else NOT_RUN
                    for rank in range(1, EIGHT + 1)
                }
                rows.append({"series": name, "scheduler": scheduler, "clock": one.clock} | times)
    return pd.DataFrame(rows)


def schedulers(runs: Sequence[Runs]) -> pd.DataFrame:
    """Return a row per series, scheduler and clock that ran with eight readers."""
    rows = []
    for name in FIGURE_3:
        for one in runs:
            held = one.trials[one.trials["readers"] == EIGHT]
            for scheduler in sorted(held["scheduler"].unique()):
                of = setup(name, scheduler=str(scheduler))
                if len(one.cell(of)):
                    rows.append(
                        {
                            "series": name,
                            "scheduler": scheduler,
                            "clock": one.clock,
                            "MiB/s": _text(total(one.rate(of))),
                            "last over first": _text(total(one.spread(of))),
                            "trials": str(len(one.cell(of))),
                        }
                    )
    return pd.DataFrame(rows)


def _text(found: Estimate) -> str:
    interval = f" [{found.low:.3g}, {found.high:.3g}]" if found.has_interval else ""
    return f"{found.value:.3g}{interval}"
