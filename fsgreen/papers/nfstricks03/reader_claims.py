"""Runs of readers, as the source that claims are judged on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from fsgreen.analysis.claims.source import Source
from fsgreen.design import Cell, Plan
from fsgreen.papers.nfstricks03.experiments import NFS, TOTAL_MIB
from fsgreen.papers.nfstricks03.readers import MIB, TREATMENTS, Runs, label
from fsgreen.papers.nfstricks03.served import has_server
from fsgreen.papers.nfstricks03.zones import Zones

THIRTY_FOUR = 34
"""Runs of each cell of figure 3 (nfstricks03, 5.3)."""


@dataclass(frozen=True)
class Readers(Source):
    """Runs of readers that claims are judged on, by one clock.

    `zones` has those of each simulated disk, by its name, where its file is known; `waits`,
    `decisions` and `nfs` are those of `virtual.Simulated`.
    """

    runs: Runs = field(kw_only=True)
    zones: Mapping[str, Zones] = field(default_factory=dict)
    waits: pd.DataFrame = field(default_factory=pd.DataFrame)
    decisions: pd.DataFrame = field(default_factory=pd.DataFrame)
    nfs: pd.DataFrame = field(default_factory=pd.DataFrame)

    @classmethod
    def of(cls, runs: Runs, bound: float, needs: Mapping[str, str], **more: Any) -> Readers:
        """Return runs with what it takes to judge claims on them."""
        from_model = {
            "resident_percent": 0.0,
            "device_read_percent": 100.0,
            "files_b": runs.scale * TOTAL_MIB * MIB,
        }
        return cls(
            runs.trials,
            bound,
            needs,
            clock=runs.clock,
            treatments=TREATMENTS,
            spelled=label,
            of_each_reader=("finish", "spread", "bend", "step"),
            inherent=from_model if runs.virtual else {},
            runs=runs,
            **more,
        )

    def cell(self, cell: Mapping[str, Any]) -> pd.DataFrame:
        """Return the trials of a cell, of which one without a workload is of readers of files."""
        return replace(self.runs, trials=self.trials).cell(cell)

    def missing(self, *cells: Cell) -> dict[str, Any]:
        """Return what a part on cells lacks; readers of files in virtual time are told of once.

        The runs of the plan with a server are those of the plan without, to the bit.
        """
        of_files = not any(cell.get("workload") == NFS for cell in cells)
        if self.runs.virtual and of_files and has_server(self.trials):
            return {"needs": self.needs["without-server"]}
        return super().missing(*cells)

    def records(self, metric: str) -> bool:
        """Return whether the runs have what a metric is made of."""
        return self.runs.records(metric)

    def sample(self, cell: Cell, metric: str) -> pd.DataFrame:
        """Return block, above and below of a metric of `Runs.sample`."""
        return self.runs.sample(cell, metric)

    def meets(self, precondition: str, cell: Cell) -> bool:
        """Return whether a cell has as many trials as figure 3."""
        assert precondition == "thirty-four-runs"
        return len(self.cell(cell)) >= THIRTY_FOUR

    def would_meet(self, precondition: str, plan: Plan) -> bool:
        """Return whether cells of a plan have as many trials as figure 3."""
        assert precondition == "thirty-four-runs"
        return plan.profile.blocks >= THIRTY_FOUR
