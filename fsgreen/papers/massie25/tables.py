"""The tables of massie25: every experiment, and the comparisons of file systems."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from fsgreen.analysis.tables import change_text, interval_texts, write_all
from fsgreen.papers.massie25.reference import ROCKSDB
from fsgreen.reduce import read_table

KEY = ["workload", "request_kib", "processes", "pattern", "mix", "threads", "file_system", "option"]
DOWN = ["request_kib"]
"""What the paper has in falling order: large requests first."""


def write_tables(campaign: str, cells: pd.DataFrame) -> None:
    """Write `tables/experiments` and `tables/file_systems`, as CSV and TeX."""
    boundary = str(cells["boundary"].iloc[0])
    write_all(
        campaign,
        {
            "experiments": (
                f"Every experiment; power and efficiency are {boundary}",
                experiments(cells),
            ),
            "file_systems": (
                "Each file system over ext4, and each option over noatime",
                changes(read_table(campaign, "effects")),
            ),
        },
    )


def experiments(cells: pd.DataFrame) -> pd.DataFrame:
    """Return each cell with requests per second, watts and requests per joule, as texts."""
    table = _in_order(cells)
    return pd.DataFrame(
        {
            "work": [_work(row) for row in table.to_dict("records")],
            "file system": table["file_system"],
            "option": table["option"],
            "n": table["n"].astype(str),
            "ops/s": interval_texts(table, "throughput", "ops_s"),
            "W": interval_texts(table, "power", "w"),
            "ops/J": interval_texts(table, "efficiency", "ops_j"),
        }
    )


def changes(effects: pd.DataFrame) -> pd.DataFrame:
    """Return what each level of a comparison changes, in per cent, as texts."""
    rows = [
        {
            "work": _work(row),
            "metric": row["metric"],
            "compared": _compared(row),
            "change (%)": change_text(row),
            "outcome": row["outcome"],
        }
        for row in _in_order(effects, "metric").to_dict("records")
    ]
    columns = ["work", "metric", "compared", "change (%)", "outcome"]
    return pd.DataFrame(rows, columns=columns)


def _in_order(table: pd.DataFrame, *first: str) -> pd.DataFrame:
    """Return rows by what was done, large requests first."""
    keys = [key for key in (*first, *KEY) if key in table]
    return table.sort_values(keys, ascending=[key not in DOWN for key in keys])


def _work(row: Mapping[Hashable, Any]) -> str:
    """Return what was done in a cell: `randread, 4 KiB x 8`, or `YCSB A x 8`."""
    if row["workload"] == ROCKSDB:
        return f"YCSB {row['mix'].upper()} x {row['threads']:g}"
    return f"{row['pattern']}, {row['request_kib']:g} KiB x {row['processes']:g}"


def _compared(row: dict[str, object]) -> str:
    return " over ".join(
        f"{row[f'{side}file_system']}/{row[f'{side}option']}" for side in ("", "baseline_")
    )
