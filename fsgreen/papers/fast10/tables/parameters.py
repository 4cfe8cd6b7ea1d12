"""Table 1: what the workloads are, as published and at the scale of the campaign."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd


def workload_parameters(printed: pd.DataFrame, scale: Mapping[str, float]) -> pd.DataFrame:
    """Return a row per workload.

    Parameters
    ----------
    printed : DataFrame
        The published table by workload.
    scale : mapping of workload to float
        Factor on the number of files, for oltp on their size.
    """
    rows = []
    for workload, row in printed.iterrows():
        factor = scale.get(str(workload))
        files, size_kb = row["number_of_files"], row["mean_file_size_kb"]
        ours_files = ours_size = "not run"
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
