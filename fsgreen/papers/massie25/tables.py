"""The tables of massie25: every experiment, and the comparisons of file systems."""

from __future__ import annotations

import pandas as pd

from fsgreen.analysis.tables import change_text, interval_text, write_all
from fsgreen.reduce import read_table

KEY = ["request_kib", "processes", "pattern", "file_system", "option"]


def write_tables(campaign: str, cells: pd.DataFrame) -> None:
    """Write `tables/experiments` and `tables/file_systems`, as CSV and TeX."""
    boundary = str(cells["boundary"].iloc[0])
    write_all(
        campaign,
        {
            "experiments": (
                f"Every experiment with fio; power and efficiency are {boundary}",
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
    table = cells.sort_values(KEY, ascending=[False, True, True, True, True])
    return pd.DataFrame(
        {
            "KiB": table["request_kib"].astype(str),
            "processes": table["processes"].astype(str),
            "pattern": table["pattern"],
            "file system": table["file_system"],
            "option": table["option"],
            "n": table["n"].astype(str),
            "requests/s": _texts(table, "throughput", "ops_s"),
            "W": _texts(table, "power", "w"),
            "requests/J": _texts(table, "efficiency", "ops_j"),
        }
    )


def changes(effects: pd.DataFrame) -> pd.DataFrame:
    """Return what each level of a comparison changes, in per cent, as texts."""
    rows = [
        {
            "KiB": str(row["request_kib"]),
            "processes": str(row["processes"]),
            "pattern": row["pattern"],
            "metric": row["metric"],
            "compared": _compared(row),
            "change (%)": change_text(row),
            "outcome": row["outcome"],
        }
        for row in effects.sort_values(["metric", *KEY]).to_dict("records")
    ]
    columns = ["KiB", "processes", "pattern", "metric", "compared", "change (%)", "outcome"]
    return pd.DataFrame(rows, columns=columns)


def _compared(row: dict[str, object]) -> str:
    return " over ".join(
        f"{row[f'{side}file_system']}/{row[f'{side}option']}" for side in ("", "baseline_")
    )


def _texts(cells: pd.DataFrame, metric: str, unit: str) -> list[str]:
    return [interval_text(cell, metric, unit) for cell in cells.to_dict("records")]
