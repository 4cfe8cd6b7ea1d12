"""What claims are judged on: runs of readers by each clock, with the zones of their disks."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd

from fsgreen.analysis import claims
from fsgreen.analysis.claims.ledger import VIRTUAL
from fsgreen.analysis.claims.source import Source
from fsgreen.analysis.kept import kept
from fsgreen.confounds import Gate
from fsgreen.design import Cell, Plan
from fsgreen.papers.nfstricks03 import virtual
from fsgreen.papers.nfstricks03.experiments import NFS, TOTAL_MIB
from fsgreen.papers.nfstricks03.readers import MIB, TREATMENTS, Runs, label, runs_of
from fsgreen.papers.nfstricks03.served import has_server
from fsgreen.reduce import read_plan, read_table

THIRTY_FOUR = 34
"""Runs of each cell of figure 3 (nfstricks03, 5.3)."""


@dataclass(frozen=True)
class Zones:
    """The zones of a disk in software, as its file has them: the outermost first.

    Each entry has begin and end, as shares of the disk's sectors, and sectors of a track.
    """

    entries: tuple[tuple[float, float, int], ...]

    @classmethod
    def of_file(cls, text: str) -> Zones:
        """Return the zones of a disk's file in TOML."""
        zones = tomllib.loads(text)["geometry"]["zones"]
        # Every cylinder has as many heads, so that they do not change the shares.
        sizes = [zone["cylinders"] * zone["sectors_per_track"] for zone in zones]
        edges = [0, *itertools.accumulate(sizes)]
        return cls(
            tuple(
                (begin / edges[-1], end / edges[-1], zone["sectors_per_track"])
                for (begin, end), zone in zip(itertools.pairwise(edges), zones, strict=True)
            )
        )

    def within(self, begin: float, end: float) -> Zones:
        """Return the zones that a part of the disk lies in."""
        return Zones(tuple(zone for zone in self.entries if zone[0] < end and begin < zone[1]))

    @property
    def ratio_x(self) -> float:
        """Return sectors of the outermost track over those of the innermost."""
        return self.entries[0][2] / self.entries[-1][2]


@dataclass(frozen=True)
class Readers(Source):
    """Runs of readers that claims are judged on, by one clock.

    `zones` has those of each simulated disk, by its name, where its file is known; `waits` and
    `decisions` are those of `virtual.Simulated`.
    """

    runs: Runs = field(kw_only=True)
    zones: Mapping[str, Zones] = field(default_factory=dict)
    waits: pd.DataFrame = field(default_factory=pd.DataFrame)
    decisions: pd.DataFrame = field(default_factory=pd.DataFrame)

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
        return self._runs.cell(cell)

    @cached_property
    def _runs(self) -> Runs:
        """The runs with those trials alone that claims are judged on here."""
        return replace(self.runs, trials=self.trials)

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

    @kept
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


def sources_of(campaign: str, of_paper: claims.Claims) -> dict[str, claims.Source]:
    """Return what claims are judged on, by the kind of testbed that each is."""
    trials, finishes = read_table(campaign, "trials"), read_table(campaign, "finishes")
    bound = read_plan(campaign).bounds["equivalence_percent"] / 100
    zones = {name: Zones.of_file(text) for name, text in virtual.disk_files(campaign).items()}
    simulated = virtual.read(campaign)
    beside = {} if simulated is None else simulated.beside
    return {
        VIRTUAL if runs.virtual else claims.testbed_of(campaign): Readers.of(
            runs,
            bound,
            of_paper.needs,
            **({"zones": zones, **beside} if runs.virtual else {"gate": Gate.of(campaign)}),
        )
        for runs in runs_of(campaign, trials, finishes)
    }
