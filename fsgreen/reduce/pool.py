"""Which trials may be analysed together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fsgreen import audit, design, paths
from fsgreen.design import Cell, Measured, Plan, PlannedTrial
from fsgreen.design.begun import in_guest, read_identity, read_plan, simulated_disk_of
from fsgreen.errors import FsgreenError
from fsgreen.trial import Trial, list_trials

if TYPE_CHECKING:
    import pandas as pd


def simulated_disk(campaign: str) -> str | None:
    """Return the model of the simulated disk below cells that name none, if it is simulated."""
    return simulated_disk_of(read_identity(campaign))


def simulated(campaign: str) -> str | None:
    """Return what of a campaign is a program, a disk or the machine, in words; None of a real one.

    No number of such a campaign was measured, and figures say so.
    """
    return "; ".join(_programs(read_identity(campaign))) or None


def rests_on(campaign: str) -> str:
    """Return in a line what the numbers rest on: power's boundary, a simulated disk, a guest."""
    identity = read_identity(campaign)
    said = [f"power boundary: {identity['boundary']}", *_programs(identity)]
    if in_guest(identity):
        said.append(identity["testbed"]["compares"])
    return "; ".join(said)


def _programs(identity: Mapping[str, Any]) -> list[str]:
    """Return what stands in for a machine and its disk."""
    guest = ["in a virtual machine"] if in_guest(identity) else []
    disk = simulated_disk_of(identity)
    return guest if disk is None else [*guest, f"simulated disk: {disk}"]


def due_trials(plan: Plan, trials: pd.DataFrame) -> tuple[PlannedTrial, ...]:
    """Return the trials that a campaign owes by its stopping rule (rules 3, 27).

    It is complete when all of them are in `trials`, the table `trials.csv`.
    """
    return design.due(plan, measured(trials))


def measured(trials: pd.DataFrame) -> dict[str, Measured]:
    """Return what the stopping rule takes of each trial in `trials.csv`."""
    rows = trials[["trial", *Measured._fields]].itertuples(index=False, name=None)
    return {str(trial): Measured(*values) for trial, *values in rows}


def poolable_trials(campaign: str) -> list[Trial]:
    """Return the campaign's trials after checking that they belong together.

    Raises FsgreenError if there is none; if a file is not the one recorded (rule 22); if a trial is
    not of the plan (rule 1); if boundaries (rule 19), checked properties of the machine or the
    texts of a workload (rule 9) differ.
    """
    folder = paths.raw(campaign)
    plan = read_plan(campaign)
    trials = list_trials(folder)
    if not trials:
        raise FsgreenError(
            f"the campaign '{campaign}' has no whole trial yet",
            where=folder,
            next_step=f"fsgreen measure {plan.study} --profile {plan.profile.name}",
        )
    plan_hash = plan.hash
    planned = {entry.trial: entry.cell for entry in plan.trials}
    for trial in trials:
        trial.verify()
        _check_planned(trial, plan_hash, planned.get(trial.name))
    _check_boundary(trials)
    _check_machine(trials, shared="testbeds" in read_identity(campaign))
    _check_workloads(trials)
    return trials


def _check_planned(trial: Trial, plan_hash: str, cell: Cell | None) -> None:
    if trial.record.plan_hash != plan_hash:
        reason = "it was measured under another plan"
    elif trial.record.exit != "ok":
        reason = f"it broke a rule: {trial.record.reason}"
    elif cell is None:
        reason = "the plan has no such trial"
    elif cell.to_json() != trial.record.cell:
        reason = f"its cell is not that of the plan, {cell.label}"
    else:
        return
    raise FsgreenError(
        f"the trial {trial.name} does not belong to this campaign: {reason}",
        where=trial.folder,
        next_step=f"move it out of the campaign: mv {trial.folder} ELSEWHERE",
    )


def _check_boundary(trials: Sequence[Trial]) -> None:
    seen = {str(trial.record.boundary): trial for trial in trials}
    if len(seen) > 1:
        told = ", ".join(f"{boundary} ({trial.name})" for boundary, trial in sorted(seen.items()))
        what = f"power of different boundaries is never pooled (rule 19): {told}"
        raise _apart(trials, what, "boundary")


def _check_machine(trials: Sequence[Trial], *, shared: bool) -> None:
    """Refuse trials of machines that differ; of a shared campaign each testbed is one."""
    changed = audit.differences_of_testbeds(
        (trial.record.campaign if shared else "", trial.audit()["start"]) for trial in trials
    )
    if changed:
        told = "; ".join(f"{key}: {values}" for key, values in sorted(changed.items()))
        what = f"trials of different machines are never pooled (rule 9): {told}"
        raise _apart(trials, what, "machine or version")


def _check_workloads(trials: Sequence[Trial]) -> None:
    """Refuse trials of one workload under two texts; older records do not say which it was."""
    seen: dict[str, dict[str, str]] = {}
    for trial in trials:
        if trial.record.workload_sha256 is not None:
            texts = seen.setdefault(trial.record.cell["workload"], {})
            texts.setdefault(trial.record.workload_sha256, trial.name)
    for workload, texts in seen.items():
        if len(texts) > 1:
            told = ", ".join(f"{sha256[:12]} (first {name})" for sha256, name in texts.items())
            of = f"trials of different texts of the workload {workload}"
            raise _apart(trials, f"{of} are never pooled (rule 9): {told}", "text")


def _apart(trials: Sequence[Trial], what: str, each: str) -> FsgreenError:
    return FsgreenError(
        what,
        where=trials[0].folder.parent,
        next_step=f"split the trials into one campaign for each {each}",
    )
