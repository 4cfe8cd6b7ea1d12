"""The evidence of a campaign: plan, records, tables, and raw files that are checked again."""

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
"""Variables of personalities that hold the number of threads that read at once."""


@dataclass(frozen=True)
class Evidence:
    """What is known of a campaign. Judges read nothing else."""

    plan: Plan
    identity: Mapping[str, Any]
    """The plan, and `campaign.json`."""
    records: Sequence[TrialRecord]
    invalid: Sequence[TrialRecord]
    discarded: Sequence[TrialRecord]
    superseded: Sequence[TrialRecord]
    """The records of the trials that count, of those that broke a rule, of those that somebody
    discarded, and of those in a block that another testbed of a fleet then began anew."""
    audits: Mapping[str, Mapping[str, Any]]
    """The `audit.json` of each trial that counts, by trial."""
    altered: Sequence[str]
    """Files that differ from their record, and how."""
    power: pd.DataFrame
    """A row per flaw of a trace: `trial`, `rule`, `detail` (rules 13, 14, 21)."""
    trials: pd.DataFrame
    cells: pd.DataFrame
    effects: pd.DataFrame
    series: pd.DataFrame
    """The result tables of these names."""
    probes: Mapping[str, pd.DataFrame]
    """The curves of `confounds.read_probes`."""
    attached: pd.DataFrame
    """Energies of meters with a clock of their own (`reduce.attach`). It may be empty."""
    stopping: Mapping[str, Any]
    """`stopping.json`: what ended each cell. Empty if all cells end after the same number of
    blocks."""
    study: Study | None
    """The study of the plan, as its file is now. None if there is no such file."""

    @property
    def imported(self) -> bool:
        """Return whether the campaign was imported: other programs measured it, without records."""
        return "imported" in self.identity

    @cached_property
    def testbeds(self) -> Mapping[str, str]:
        """Return the testbed's campaign of each trial, by trial; empty if there is one testbed."""
        if "testbeds" not in self.identity:
            return {}
        return {record.trial: record.campaign for record in self.records}

    def turn(self, record: TrialRecord) -> int:
        """Return the place of a trial's block in its testbed's order, or the number of the block.

        The order is that in which a fleet gave blocks to the testbed.
        """
        given: Sequence[int] = self.identity.get("blocks", {}).get(record.campaign, ())
        return given.index(record.block) if record.block in given else record.block

    def checked(self, rule: int) -> dict[str, str]:
        """Return the details of a rule's checks, by trial. Only trials with a check are there."""
        return {
            record.trial: "; ".join(check.detail for check in record.checks if check.rule == rule)
            for record in self.records
            if any(check.rule == rule for check in record.checks)
        }

    def failed(self, rule: int) -> list[str]:
        """Return the names of the trials that count although a check of the rule failed."""
        return [
            record.trial
            for record in self.records
            if any(check.rule == rule and not check.ok for check in record.checks)
        ]

    def level(self, record: TrialRecord, factor: str) -> str | None:
        """Return the level of a factor in a trial: that of its cell, else the plan's constant."""
        level = record.cell.get(factor, self.plan.constants.get(factor))
        return None if level is None else str(level)

    def labels(self, cells: pd.DataFrame) -> list[str]:
        """Return the label of the cell in each row of a table."""
        constants = self.plan.constants
        return [cell_label(cell, constants) for cell in cells.to_dict("records")]

    @property
    def most_readers(self) -> int:
        """Return the largest number of threads that read at once in a trial, by the records."""
        return max(map(readers_of, self.records), default=1)


def readers_of(record: TrialRecord) -> int:
    """Return how many threads read at once in a trial; 1 if its record does not say."""
    variables = {} if record.workload is None else record.workload.variables
    return max((int(variables[name]) for name in THREADS if name in variables), default=1)


def gather(campaign: str) -> Evidence:
    """Read the evidence of a campaign, and check its raw files again.

    Every file is compared with the hash in its record. The records hold the flaws of their traces.
    If an older record does not, its traces are checked again.

    Raises FsgreenError if the campaign has no plan or its tables have not been made.
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
    """Return the study as its file is now; None if that is not the study of the plan.

    A copy of a study may have the same name, so the cells of the plan must be among its cells.
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
    """Return the energy of a trial by meter, computed from its traces: a task for executors."""
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
