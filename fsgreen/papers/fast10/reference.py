"""The numbers that fast10 prints, as its tables and text have them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from fsgreen import paths

WORKLOADS = ("webserver", "fileserver", "varmail", "oltp")
FILE_SYSTEMS = ("ext2", "ext3", "reiserfs", "xfs")
GONE = ("reiserfs",)
"""File systems that no kernel of today has."""

METRICS = {"throughput": "perf", "efficiency": "power_eff"}

_PREFIX = {"e2": "ext2", "e3": "ext3", "r": "reiserfs", "x": "xfs"}
_SHORT = {"def": "default", "noatm": "noatime"}


@dataclass(frozen=True)
class Printed:
    """Tables 1 to 3, the values of the figures and the method of fast10.

    Parameters
    ----------
    folder : Path
        Where the published numbers lie.
    """

    folder: Path

    @classmethod
    def load(cls) -> Printed:
        """Return the published numbers that come with the project."""
        return cls(paths.reference())

    @cached_property
    def table1(self) -> pd.DataFrame:
        """Workload parameters, by workload."""
        return pd.read_csv(self.folder / "fast10_table1.csv").set_index("workload")

    @cached_property
    def table2(self) -> pd.DataFrame:
        """Effect of each option in per cent of the default; a dash is empty."""
        return pd.read_csv(self.folder / "fast10_table2.csv")

    @cached_property
    def table3(self) -> pd.DataFrame:
        """Recommended configuration and its gains, by workload."""
        return pd.read_csv(self.folder / "fast10_table3.csv").set_index("workload")

    @cached_property
    def method(self) -> dict[str, Any]:
        """Parameters of the method."""
        return dict(_load(self.folder / "methods.yaml")["methods"]["fast10"])

    @cached_property
    def _figures(self) -> dict[str, dict[str, Any]]:
        return {entry["id"]: entry for entry in _load(self.folder / "figures.yaml")["figures"]}

    def effect_x(self, file_system: str, option: str, workload: str, metric: str) -> float:
        """Return table 2's value as a ratio to the default; a dash is 1, no such row is NaN."""
        if option == "default":
            return 1.0
        table = self.table2
        row = table[
            (table["fs"] == file_system)
            & (table["option"] == option)
            & (table["workload"] == workload)
            & (table["metric"] == METRICS[metric])
        ]
        if row.empty:
            return float("nan")
        change = row["change_percent"].iloc[0]
        return 1.0 if pd.isna(change) else 1 + float(change) / 100

    def points(self, figure: str) -> list[dict[str, Any]]:
        """Return the points of a figure (`1`, `3a`, ...) that the text states or implies."""
        return list(self._figures[f"fast10-fig{figure}"]["points"])

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


def _load(file: Path) -> Any:
    return yaml.load(file.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
