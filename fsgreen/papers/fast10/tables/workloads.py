"""What the workloads are, as published and at the scale of the campaign; and micro-benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from fsgreen.analysis.cells import rate_text
from fsgreen.analysis.tables import NOT_RUN
from fsgreen.figures import in_order, look_of

MICRO = {
    "shared-append": "100 threads append to 3 common files",
    "webserver-readonly": "the web server without its log",
    "open-close": "100 threads open and close files",
    "create-append-fsync": "create, append, fsync, open, append, fsync",
    "create-append": "create, append, open, append",
}
"""Workloads that stand for a micro-benchmark of sections 5.2 to 5.4, and what they do."""


def workload_parameters(printed: pd.DataFrame, scale: Mapping[str, float]) -> pd.DataFrame:
    """Return a row per workload of table 1.

    `printed` is the published table by workload. `scale` is the factor on the number of files, for
    oltp on their size, by workload.
    """
    rows = []
    for workload, row in printed.iterrows():
        factor = scale.get(str(workload))
        files, size_kb = row["number_of_files"], row["mean_file_size_kb"]
        ours_files = ours_size = NOT_RUN
        if factor is not None:
            by_size = workload == "oltp"
            ours_files = f"{files if by_size else round(files * factor):,}"
            ours_size = _size(size_kb * factor if by_size else size_kb)
        rows.append(
            {
                "workload": workload,
                "file size": _size(size_kb),
                "file size, ours": ours_size,
                "files": f"{files:,}",
                "files, ours": ours_files,
                "directory depth": f"{row['mean_dir_depth']:g}",
                "read": _size(row["read_io_kb"]),
                "write": _size(row["write_io_kb"]),
                "append": _size(row["append_io_kb"]),
                "threads": _threads(row),
                "reads : writes": row["read_write_ratio"],
            }
        )
    return pd.DataFrame(rows)


def _size(size_kb: float) -> str:
    if pd.isna(size_kb):
        return "-"
    if size_kb >= 1024:
        return f"{size_kb / 1024:g} MiB"
    return f"{size_kb:g} KiB"


def _threads(row: pd.Series) -> str:
    if pd.isna(row["threads_reader"]):
        return f"{row['threads_total']:g}"
    return f"{row['threads_reader']:g} + {row['threads_writer']:g}"


def micro_benchmarks(cells: pd.DataFrame) -> pd.DataFrame:
    """Return a row per micro-benchmark, a column per file system with its defaults.

    `cells` is the table `cells.csv`.
    """
    defaults = cells[(cells["option"] == "default") & cells["load_ops_s"].isna()]
    file_systems = in_order(defaults["file_system"])
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
    return NOT_RUN if cell is None else rate_text(cell)
