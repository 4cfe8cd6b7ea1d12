"""The tables of sun14: every pair of file system and scheduler, and what each changes."""

from __future__ import annotations

import pandas as pd

from fsgreen.analysis.tables import change_text, interval_texts, write_all
from fsgreen.papers.sun14.reference import SCHEDULER_NAME
from fsgreen.reduce import read_table

KEY = ["workload", "file_system", "scheduler"]


def write_tables(campaign: str, cells: pd.DataFrame) -> None:
    """Write `tables/pairs` and `tables/changes`, as CSV and TeX."""
    write_all(
        campaign,
        {
            "pairs": ("Every pair, on a simulated SSD-I; AI is over the SSD alone", pairs(cells)),
            "changes": (
                "Each file system over ext2, and each scheduler over CFQ",
                changes(read_table(campaign, "effects")),
            ),
        },
    )


def pairs(cells: pd.DataFrame) -> pd.DataFrame:
    """Return each cell with operations a second, watts of the SSD, and AI, as texts."""
    table = cells.sort_values(KEY)
    return pd.DataFrame(
        {
            "workload": table["workload"].str.removesuffix("-sun14"),
            "file system": table["file_system"],
            "scheduler": table["scheduler"].map(SCHEDULER_NAME),
            "n": table["n"].astype(str),
            "ops/s": interval_texts(table, "throughput", "ops_s"),
            "W": interval_texts(table, "power", "w"),
            "AI (ops/J)": interval_texts(table, "efficiency", "ops_j"),
        }
    )


def changes(effects: pd.DataFrame) -> pd.DataFrame:
    """Return what each level of a comparison changes, in per cent, as texts."""
    rows = [
        {
            "workload": row["workload"].removesuffix("-sun14"),
            "metric": row["metric"],
            "pair": f"{row['file_system']} {SCHEDULER_NAME[row['scheduler']]}",
            "over": f"{row['baseline_file_system']} {SCHEDULER_NAME[row['baseline_scheduler']]}",
            "change (%)": change_text(row),
            "outcome": row["outcome"],
        }
        for row in effects.sort_values(["metric", *KEY]).to_dict("records")
    ]
    return pd.DataFrame(
        rows, columns=["workload", "metric", "pair", "over", "change (%)", "outcome"]
    )
