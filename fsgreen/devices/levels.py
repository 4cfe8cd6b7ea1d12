"""The levels that a device is set to: what they ask for, and what is refused."""

from __future__ import annotations

import resource
from collections.abc import Sequence

from fsgreen.design import factors
from fsgreen.design.factors import AS_FOUND
from fsgreen.devices.names import OF_NVME, READ_AHEAD, TRAFFIC, Levels
from fsgreen.errors import FsgreenError, unknown

PAGE_KIB = resource.getpagesize() >> 10


def scheduler_of(levels: Levels) -> str | None:
    """Return the I/O scheduler of the levels; None if they leave it to the device."""
    scheduler: str | None = levels.get("scheduler")
    return None if scheduler == AS_FOUND else scheduler


def read_ahead_kib_of(levels: Levels, usual_kib: int) -> int:
    """Return the kernel's read-ahead for the levels, in KiB: theirs, else `usual_kib`."""
    asked_kib = levels.get(READ_AHEAD)
    return usual_kib if asked_kib is None else int(asked_kib)


def check_read_ahead(levels: Levels) -> None:
    """Raise `FsgreenError` if the kernel cannot set the read-ahead of the levels."""
    asked_kib = levels.get(READ_AHEAD)
    if asked_kib is not None and (asked_kib < 0 or asked_kib % PAGE_KIB):
        raise FsgreenError(
            f"the kernel reads ahead whole pages of {PAGE_KIB} KiB, not {asked_kib:g} KiB",
            where=f"levels of {READ_AHEAD}",
            next_step=f"declare 0, {PAGE_KIB} or a multiple of it in the study",
        )


def check_traffic(levels: Levels) -> None:
    """Raise `FsgreenError` if the levels limit traffic to 0, which the kernel takes as no limit."""
    asked_mib_s = levels.get(TRAFFIC)
    if asked_mib_s is not None and asked_mib_s <= 0:
        raise FsgreenError(
            f"a limit of {asked_mib_s:g} MiB/s lets nothing pass",
            where=f"levels of {TRAFFIC}",
            next_step="declare more than 0 in the study, or null for no limit",
        )


def state_of(levels: Levels) -> str:
    """Return the device state of the levels. Raises `FsgreenError` if it is unknown."""
    known = [str(level) for level in factors.get("device").levels]
    state: str = levels.get("device") or "initial"
    if state not in known:
        raise unknown("device state", state, known, next_step="docs/state.md lists them")
    return state


def refuse_levels(kind: str, levels: Levels, names: Sequence[str]) -> None:
    """Raise `FsgreenError` if the levels set a factor that this kind of device cannot choose.

    A simulated disk can choose all but those in `OF_NVME`, which only a real drive has.
    """
    for name in names:
        if levels.get(name) is not None:
            of_nvme = name in OF_NVME
            why = ", which only a real NVMe drive can have" if of_nvme else ""
            other = 'kind = "block" in a testbed file' if of_nvme else "--testbed simdisk"
            raise FsgreenError(
                f"the testbed {kind} cannot choose {name}: the cell asks for {levels[name]}{why}",
                where=f"testbed {kind}",
                next_step=f"take {other}, or leave {name} out of the study",
            )
