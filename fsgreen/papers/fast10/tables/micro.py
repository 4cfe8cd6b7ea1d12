"""The micro-benchmarks of fast10's sections 5.2 to 5.4, by file system."""

from __future__ import annotations

from typing import Any

import pandas as pd

from fsgreen.analysis.cells import rate_text
from fsgreen.figures import in_order, look_of

MICRO = {
    "shared-append": "100 threads append to 3 common files",
    "webserver-readonly": "the web server without its log",
    "open-close": "100 threads open and close files",
    "create-append-fsync": "create, append, fsync, open, append, fsync",
    "create-append": "create, append, open, append",
}
"""Workloads that stand for one of them, and what they do."""

SHOWN = ("ext2", "ext3", "ext4", "xfs", "btrfs")
"""File systems that have a column whether or not they were measured."""


def micro_benchmarks(cells: pd.DataFrame) -> pd.DataFrame:
    """Return a row per micro-benchmark, a column per file system with its defaults.

    Parameters
    ----------
    cells : DataFrame
        The table `cells.csv`.
    """
    defaults = cells[(cells["option"] == "default") & cells["load_ops_s"].isna()]
    file_systems = in_order([*SHOWN, *defaults["file_system"]])
    rows = defaults.set_index(["workload", "file_system"]).to_dict("index")
    return pd.DataFrame(
        [
            {"micro-benchmark": workload, "what it does": what}
            | {
                look_of(file_system).name: _rate(rows.get((workload, file_system)))
                for file_system in file_systems
            }
            for workload, what in MICRO.items()
        ]
    )


def _rate(cell: dict[str, Any] | None) -> str:
    return "not run" if cell is None else rate_text(cell)
