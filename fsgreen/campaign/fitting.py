"""Whether a plan fits its testbed and its machine: checked before anything is made."""

from __future__ import annotations

from collections.abc import Sequence

from fsgreen import audit, design, testbeds
from fsgreen.design import Cell, Plan, factors
from fsgreen.design.factors import Level
from fsgreen.design.owncopy import file_of, file_to_change
from fsgreen.devices.names import CPU_MAX_KHZ, CPUS, TRAFFIC
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import Testbed
from fsgreen.workloads import TakesTurns, Workload, bounds, load_workload, pinning

Workloads = dict[Cell, Workload]
"""Workloads by the levels that cells have of workload factors."""

LOAD = "load_ops_s"
"""The factor that is passed to each run, not to the workload."""


def asked_of_workload(cell: Cell) -> Cell:
    """Return the levels of a cell that determine its workload."""
    return cell.only(factors.of_owner("workload")).but(**{LOAD: None})


def told_to_workload(plan: Plan, cell: Cell) -> dict[str, Level | None]:
    """Return the levels that a workload is made with: the cell's, else the study's constants."""
    levels = plan.levels(cell)
    others = [name for name in factors.of_owner("workload") if name not in ("workload", LOAD)]
    return {name: levels.get(name) for name in others}


def workload_of(plan: Plan, cell: Cell) -> Workload:
    """Return the workload of a cell, at the scale of the plan.

    Raises FsgreenError if the workload is unknown.
    """
    name = cell["workload"]
    scale = plan.profile.scale.get(name, 1.0)
    return load_workload(name, scale, told_to_workload(plan, cell), plan.workloads)


def load_workloads(plan: Plan, testbed: Testbed) -> Workloads:
    """Return the workloads of a plan, after checks that all of its trials can run.

    Raises FsgreenError if a workload is unknown; if the testbed lacks a file system, option,
    device, scheduler or disk; if a cache in memory must be cold, or a cache with a memory limit
    warm; if files do not fit the image, or those of a warm cache the memory; if the kernel cannot
    set a limit; if the machine lacks a processor.
    """
    workloads: Workloads = {}
    in_memory = testbed.describe()["cold_cache"] is False
    for cell in plan.cells:
        testbed.check(plan.levels(cell))
        if in_memory and plan.levels(cell)["cache"] == "cold":
            raise _never_cold(plan, cell, testbed)
        key = asked_of_workload(cell)
        if key not in workloads:
            workloads[key] = workload_of(plan, cell)
            with testbed.entered():
                workloads[key].check()
            _check_image(workloads[key], plan)
        if (cpus := plan.levels(cell).get(CPUS)) is not None:
            with testbed.entered():
                pinning.chosen(cpus)
        if plan.levels(cell)["cache"] == "warm":
            _check_memory(workloads[key], plan)
            if plan.memory_limit_b(cell) is not None:
                raise _never_warm(plan, cell)
    asked = {
        "memory": any(plan.memory_limit_b(cell) is not None for cell in plan.cells),
        "io": any(plan.levels(cell).get(TRAFFIC) is not None for cell in plan.cells),
    }
    with testbed.entered():
        bounds.require([controller for controller, is_asked in asked.items() if is_asked])
    return workloads


def check_turns(plan: Plan, workloads: Workloads, opened: Sequence[Testbed]) -> None:
    """Raise FsgreenError if a plan has windows but its trials cannot take turns (rule 47).

    `workloads` is what `load_workloads` returns, and `opened` are the open testbeds.
    """
    windows = plan.profile.windows
    if windows is None:
        return
    where = f"{file_of(plan)}, profile {plan.profile.name}"
    no_windows = f"leave windows out and say measure_s in {file_to_change(plan.study)}"
    for cell, workload in workloads.items():
        if not isinstance(workload, TakesTurns):
            raise FsgreenError(
                f"the workload {workload.name} cannot take turns with others: it has no `turns`",
                where=where,
                next_step="take a text in the Workload Model Language, or a driver with `turns` "
                f"(docs/workloads.md), or {no_windows}",
            )
        if "readers" in cell:
            raise FsgreenError(
                f"the readers of {workload.name} end once they have read their files: they cannot "
                "take turns with others",
                where=where,
                next_step=no_windows,
            )
    if any(plan.levels(cell).get(CPU_MAX_KHZ) is not None for cell in plan.cells):
        raise FsgreenError(
            f"{CPU_MAX_KHZ} is that of the whole machine, on which trials are to be ready side by "
            "side",
            where=where,
            next_step=f"leave {CPU_MAX_KHZ} out of the profile, or {no_windows}",
        )
    ready = design.most_ready(plan)
    if not testbeds.find(opened[0].kind).several or len(opened) < ready:
        raise FsgreenError(
            f"{ready} trials are to be ready at once, and there is one testbed {opened[0].kind}",
            where=where,
            next_step=f"take loop or directory, which can be opened several times, or {no_windows}",
        )
    _check_shared_memory(plan, workloads, ready, where)


def _check_shared_memory(plan: Plan, workloads: Workloads, ready: int, where: str) -> None:
    """Refuse files of trials that would evict each other from a page cache without limits."""
    unbounded = [cell for cell in plan.cells if plan.memory_limit_b(cell) is None]
    files_b = ready * max(
        (workloads[asked_of_workload(cell)].size_b for cell in unbounded), default=0
    )
    memory_b = audit.audit()["memory_b"]
    if memory_b is not None and files_b > memory_b:
        raise FsgreenError(
            f"the files of {ready} trials have {files_b / 2**20:.0f} MiB, the memory "
            f"{memory_b / 2**20:.0f} MiB: each would drive the others out of the page cache",
            where=where,
            next_step="set a smaller scale, a smaller `ready`, or memory_mib, which bounds "
            f"each trial, in {file_to_change(plan.study)}",
        )


def _check_image(workload: Workload, plan: Plan) -> None:
    if workload.size_b > plan.profile.image_b:
        raise FsgreenError(
            f"{workload.name} at scale {plan.profile.scale.get(workload.name, 1.0):g} needs "
            f"{workload.size_b / 2**20:.0f} MiB, the image has "
            f"{plan.profile.image_b / 2**20:.0f} MiB",
            where=file_of(plan),
            next_step=f"set a smaller scale or a larger image_mib in profile {plan.profile.name} "
            f"of {file_to_change(plan.study)}",
        )


def _never_cold(plan: Plan, cell: Cell, testbed: Testbed) -> FsgreenError:
    return FsgreenError(
        f"the cache cannot be cold on {cell['file_system']}: files in memory are their own cache "
        "(rule 7)",
        where=f"testbed {testbed.kind}, cell {cell.label}",
        next_step="name a folder on a disk, such as --folder /var/tmp, or declare `cache: warm` "
        f"in {file_to_change(plan.study)}",
    )


def _never_warm(plan: Plan, cell: Cell) -> FsgreenError:
    return FsgreenError(
        "a cache that was warmed lies outside the bounded memory: the workload would have both",
        where=f"{file_of(plan)}, cell {cell.label}",
        next_step="declare `cache: cold`, or leave memory_mib out, in "
        f"{file_to_change(plan.study)}",
    )


def _check_memory(workload: Workload, plan: Plan) -> None:
    """Refuse a warm cache for files that do not fit the memory (rule 7)."""
    memory_b = audit.audit()["memory_b"]
    if memory_b is not None and workload.size_b > memory_b:
        raise FsgreenError(
            f"the cache cannot be warm: the files of {workload.name} have "
            f"{workload.size_b / 2**20:.0f} MiB, the memory {memory_b / 2**20:.0f} MiB (rule 7)",
            where=file_of(plan),
            next_step=f"set a smaller scale in profile {plan.profile.name}, or `cache: cold`, in "
            f"{file_to_change(plan.study)}",
        )
