"""The numbers that fast10 prints, as its tables and text have them."""

from __future__ import annotations

from functools import cached_property

import pandas as pd

from fsgreen.analysis.printed import PrintedPaper, by
from fsgreen.reduce import at

PAPER = "fast10"

WORKLOADS = ("webserver", "fileserver", "varmail", "oltp")
FILE_SYSTEMS = ("ext2", "ext3", "reiserfs", "xfs")
GONE = ("reiserfs",)
"""File systems that no kernel of today has. A guest with an older one does."""

KEY = ["workload", "file_system", "option"]
"""What a number of table 2 is of."""

METRICS = {"throughput": "perf", "efficiency": "power_eff"}

_PREFIX = {"e2": "ext2", "e3": "ext3", "r": "reiserfs", "x": "xfs"}
_SHORT = {"def": "default", "noatm": "noatime"}


class Printed(PrintedPaper):
    """Tables 1 to 3, the values of the figures and the method of fast10."""

    paper = PAPER

    table1 = by("workload", 1)
    """Workload parameters."""

    @cached_property
    def table2(self) -> pd.DataFrame:
        """Effect of each option in per cent of the default; a dash is empty."""
        return self.table(2)

    table3 = by("workload", 3)
    """Recommended configuration and its gains."""

    def effect_x(self, file_system: str, option: str, workload: str, metric: str) -> float:
        """Return table 2's value as a ratio to the default; a dash is 1, no such row is NaN."""
        if option == "default":
            return 1.0
        of = {"fs": file_system, "option": option, "workload": workload, "metric": METRICS[metric]}
        row = self.table2[at(self.table2, of)]
        if row.empty:
            return float("nan")
        change = row["change_percent"].iloc[0]
        return 1.0 if pd.isna(change) else 1 + float(change) / 100

    def bars(self, figure: str) -> pd.DataFrame:
        """Return a bar figure as file_system, option, value, low, high, doubtful.

        Values are in the unit of the figure (3a, 3b) or relative to one of its bars (4a to 6b);
        only their ratios mean anything across papers and machines.
        """
        rows = []
        for point in self.points(figure):
            prefix, _, option = point["bar"].partition("-")
            rows.append(
                {
                    "file_system": _PREFIX[prefix],
                    "option": _SHORT.get(option, option.replace("agc", "agcnt")),
                    "value": point["y"],
                    "low": point.get("y_low", point["y"]),
                    "high": point.get("y_high", point["y"]),
                    "doubtful": point.get("confidence") == "low",
                }
            )
        return pd.DataFrame(rows)


def throughput_changes(table2: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of table 2 on throughput."""
    rows = table2[table2["metric"] == METRICS["throughput"]]
    return rows.rename(columns={"fs": "file_system"})
