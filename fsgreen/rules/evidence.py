"""What the rules are judged by: plan, records and tables, and raw files looked at again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from fsgreen import executors, paths
from fsgreen.confounds import read_probes
from fsgreen.design import Plan, Study, load_study, make_plan
from fsgreen.errors import FsgreenError
from fsgreen.reduce import (
    altered_files,
    cell_label,
    is_imported,
    read_identity,
    read_plan,
    read_table,
)
from fsgreen.trace import MeterEnergy
from fsgreen.trial import (
    Trial,
    TrialRecord,
    attached_meters,
    computed_energies,
    list_discarded,
    list_invalid,
    list_superseded,
    list_trials,
)

THREADS = ("nthreads", "nreaders", "readers")
"""Variables of the personalities that say how many threads read at once."""


@dataclass(frozen=True)
class Evidence:
    """A campaign as its judges see it; nothing here is read again.

    Attributes
    ----------
    plan, identity
        What was to be measured, and `campaign.json`.
    records, invalid, discarded, superseded : sequence of TrialRecord
        The records of the trials that count, of those that broke a rule, of those that somebody set
        aside, and of those in a block that another testbed of a fleet then began anew.
    audits : mapping
        `audit.json` by trial that counts.
    altered : sequence of str
        Files that are not the ones recorded, and why.
    power : DataFrame
        A row per flaw of a trace: `trial`, `rule`, `detail` (rules 13, 14, 21).
    trials, cells, effects, series : DataFrame
        The result tables of these names.
    probes : mapping of DataFrame
        The curves of `confounds.read_probes`.
    attached : DataFrame
        Energies of meters with a clock of their own (`reduce.attach`); may be empty.
    stopping : mapping
        `stopping.json`: what ended each cell; empty where all end after the same number of blocks.
    study : Study, optional
        What the plan was made of, as its file declares it now; None where there is no such file.
    """

    plan: Plan
    identity: Mapping[str, Any]
    records: Sequence[TrialRecord]
    invalid: Sequence[TrialRecord]
    discarded: Sequence[TrialRecord]
    superseded: Sequence[TrialRecord]
    audits: Mapping[str, Mapping[str, Any]]
    altered: Sequence[str]
    power: pd.DataFrame
    trials: pd.DataFrame
    cells: pd.DataFrame
    effects: pd.DataFrame
    series: pd.DataFrame
    probes: Mapping[str, pd.DataFrame]
    attached: pd.DataFrame
    stopping: Mapping[str, Any]
    study: Study | None

    @property
    def imported(self) -> bool:
        """Return whether other programs measured the campaign, which left no records of trials."""
        return "imported" in self.identity

    @cached_property
    def testbeds(self) -> Mapping[str, str]:
        """Return the campaign of the testbed of each trial; none where all were on one testbed."""
        if "testbeds" not in self.identity:
            return {}
        return {record.trial: record.campaign for record in self.records}

    def turn(self, record: TrialRecord) -> int:
        """Return when a testbed had the block of a trial: as it was given to it, or its number."""
        given: Sequence[int] = self.identity.get("blocks", {}).get(record.campaign, ())
        return given.index(record.block) if record.block in given else record.block

    def checked(self, rule: int) -> dict[str, str]:
        """Return what the checks of a rule said, by trial that has one."""
        return {
            record.trial: "; ".join(check.detail for check in record.checks if check.rule == rule)
            for record in self.records
            if any(check.rule == rule for check in record.checks)
        }

    def failed(self, rule: int) -> list[str]:
        """Return the trials that count although a check of the rule failed."""
        return [
            record.trial
            for record in self.records
            if any(check.rule == rule and not check.ok for check in record.checks)
        ]

    def level(self, record: TrialRecord, factor: str) -> str | None:
        """Return the level of a factor in a trial: its cell's, else the plan's constant."""
        level = record.cell.get(factor, self.plan.constants.get(factor))
        return None if level is None else str(level)

    def labels(self, cells: pd.DataFrame) -> list[str]:
        """Return rows of a table that name cells as people write them."""
        constants = self.plan.constants
        return [cell_label(cell, constants) for cell in cells.to_dict("records")]

    @property
    def most_readers(self) -> int:
        """Return how many threads read at once, at most, as far as the records say."""
        return max(map(readers_of, self.records), default=1)


def readers_of(record: TrialRecord) -> int:
    """Return how many threads read at once in a trial, as far as its record says."""
    variables = {} if record.workload is None else record.workload.variables
    return max((int(variables[name]) for name in THREADS if name in variables), default=1)


def gather(campaign: str) -> Evidence:
    """Read everything that the rules are judged by, and look at the raw files again.

    Every file is compared with the hash in its record. Flaws of traces are those that the records
    hold; the traces of older ones are checked anew.

    Raises
    ------
    FsgreenError
        If the campaign has no plan or its tables have not been made.
    """
    raw, plan = paths.raw(campaign), read_plan(campaign)
    trials, stopping = list_trials(raw), raw / "stopping.json"
    set_aside, superseded = list_discarded(raw), list_superseded(raw)
    altered = [text for trial in [*trials, *set_aside, *superseded] for text in _altered(trial)]
    return Evidence(
        plan=plan,
        identity=read_identity(campaign),
        records=[trial.record for trial in trials],
        invalid=[trial.record for trial in list_invalid(raw)],
        discarded=[trial.record for trial in set_aside],
        superseded=[trial.record for trial in superseded],
        audits={trial.name: trial.audit() for trial in trials},
        altered=altered_files(campaign) if is_imported(campaign) else altered,
        power=pd.DataFrame(_flaws(trials), columns=["trial", "rule", "detail"]),
        trials=read_table(campaign, "trials"),
        cells=read_table(campaign, "cells"),
        effects=read_table(campaign, "effects"),
        series=read_table(campaign, "series"),
        probes=read_probes(campaign),
        attached=_attached(campaign),
        stopping=json.loads(stopping.read_text()) if stopping.is_file() else {},
        study=_study(plan),
    )


def _study(plan: Plan) -> Study | None:
    """Return the study as its file is now; None where that is not the one of the plan.

    A copy of a study keeps its name, and its plans say nothing of the copy's file.
    """
    try:
        study = load_study(plan.study)
        again = make_plan(study, plan.profile.name)
    except FsgreenError:
        return None
    return study if {*plan.cells} <= {*again.cells} else None


def _flaws(trials: Sequence[Trial]) -> Iterator[tuple[str, int, str]]:
    """Yield trial, rule and detail of each flaw of traces over the measured phase."""
    older = [trial for trial in trials if not trial.record.energy]
    checked = zip(older, executors.each(energies_anew, None, older), strict=True)
    anew = {trial.name: energies for trial, energies in checked}
    for trial in trials:
        for name, energy in (trial.record.energy or anew[trial.name]).items():
            for flaw in energy.flaws:
                yield trial.name, flaw.rule, f"{name}: {flaw.detail}"


def energies_anew(_common: None, trial: Trial) -> Mapping[str, MeterEnergy]:
    """Return what each meter says of a trial, which its record does not: a task of executors."""
    return computed_energies(trial)


def _altered(trial: Trial) -> Iterator[str]:
    try:
        trial.verify()
    except FsgreenError as error:
        yield f"{trial.name}: {error.what.rpartition(': ')[2]}"


def _attached(campaign: str) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "trial": trial,
                "boundary": energy.boundary,
                "energy_j": energy.energy_j,
                "error_clock_j": energy.budget.clock_j,
                "flaws": "; ".join(flaw.detail for flaw in energy.flaws),
            }
            for meter in attached_meters(paths.raw(campaign))
            for trial, energy in meter.energy.items()
        ]
    )
