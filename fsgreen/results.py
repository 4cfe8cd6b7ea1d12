"""A campaign as data frames, for a notebook or a script: `fsgreen.open`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from fsgreen import paths
from fsgreen.errors import FsgreenError, unknown
from fsgreen.reduce import read_identity, read_plan, read_table
from fsgreen.trial import Trial, read_trial

if TYPE_CHECKING:
    import pandas as pd

    from fsgreen.confounds import Gate
    from fsgreen.design import Plan


class Results:
    """What a campaign measured and what came of it; each table is read once.

    It is a folder of `data/raw`. Raises FsgreenError also from every property: if there is no such
    campaign, or the table has not been made.
    """

    def __init__(self, campaign: str) -> None:
        self.campaign = campaign
        self.plan: Plan = read_plan(campaign)
        self._trials: dict[str, Trial] = {}

    def __repr__(self) -> str:
        return f"fsgreen.open({self.campaign!r})"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Testbed, meters, boundary, idle power and first audit."""
        return read_identity(self.campaign)

    @cached_property
    def trials(self) -> pd.DataFrame:
        """A row per trial: cell, work, energy, power, latency, state."""
        return read_table(self.campaign, "trials")

    @cached_property
    def cells(self) -> pd.DataFrame:
        """A row per cell: centre, interval, variation, steadiness."""
        return read_table(self.campaign, "cells")

    @cached_property
    def effects(self) -> pd.DataFrame:
        """A row per comparison and metric: ratio, interval, p-values, outcome, gate."""
        return read_table(self.campaign, "effects")

    @cached_property
    def trust(self) -> pd.DataFrame:
        """A row per rule for honest numbers: whether it fired, and what follows."""
        return read_table(self.campaign, "trust")

    @cached_property
    def claims(self) -> pd.DataFrame:
        """A row per published claim: verdict, published, ours."""
        return read_table(self.campaign, "claims")

    @cached_property
    def gate(self) -> Gate:
        """What the campaign held, to ask whether a confound may have made a difference."""
        from fsgreen.confounds import Gate

        return Gate.of(self.campaign)

    def trial(self, name: str) -> Trial:
        """Return the record of a trial, by its name in `trials`; read once."""
        if "imported" in self.identity:
            raise FsgreenError(
                f"{self.campaign} was imported: its runs have no records and no traces",
                where=paths.raw(self.campaign),
                next_step="look at .trials, which has a row for each",
            )
        folder = paths.raw(self.campaign) / "trials"
        if not (folder / paths.checked(name, "trial")).is_dir():
            recorded = {entry.name for entry in folder.glob("[!.]*")}
            raise unknown("trial", name, recorded, where=folder)
        if name not in self._trials:
            self._trials[name] = read_trial(folder / name)
        return self._trials[name]

    def trace(self, name: str) -> pd.DataFrame:
        """Return the power trace of a trial: a row per reading of each meter.

        `since_s` counts from the start of the measured interval.
        """
        trial = self.trial(name)
        power = trial.table("power")
        return power.assign(since_s=power["time_s"] - trial.measured[0].start_s)
