"""Bounds what a workload has: its memory, page cache included, and its traffic to the disk.

With less memory data are larger than it at a scale at which a run takes seconds, as they are at
full scale on the machine that a study had. With less traffic a disk is as slow as another one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fsgreen.errors import TrialFailed
from fsgreen.trial import MemoryUse
from fsgreen.workloads import groups
from fsgreen.workloads.groups import Group


@dataclass(frozen=True)
class Traffic:
    """What may pass between a workload and a disk in a second, each way.

    The kernel attributes writes from the page cache to who made them in control groups of the
    second version alone, and on ext2, ext4, XFS, Btrfs and F2FS: elsewhere reads and direct writes
    are bound.
    """

    device: Path
    b_s: int

    @property
    def number(self) -> str:
        """Return the device as the kernel numbers it, `7:0`."""
        of = self.device.stat().st_rdev
        return f"{os.major(of)}:{os.minor(of)}"


@dataclass(frozen=True)
class Bounds:
    """What a workload may have; None bounds nothing.

    `memory_b` are the bytes of its programs and their page cache together, and `traffic` is that of
    its disk.
    """

    memory_b: int | None = None
    traffic: Traffic | None = None

    @property
    def controllers(self) -> Sequence[str]:
        """Return what bounds it, as control groups of the second version call that."""
        asked = {"memory": self.memory_b, "io": self.traffic}
        return [controller for controller, bound in asked.items() if bound is not None]


class Bounded:
    """What became of a bound; `memory` is known once the work is done."""

    memory: MemoryUse | None = None


@dataclass(frozen=True)
class _MemoryFiles:
    """How the files that bound memory are called in one version of control groups."""

    limit: str
    peak: str
    reached: tuple[str, str]
    """File and key of how often the limit was reached; without a key the file is the number."""
    killed: tuple[str, str]


MEMORY_FILES = {
    1: _MemoryFiles(
        "memory.limit_in_bytes",
        "memory.max_usage_in_bytes",
        ("memory.failcnt", ""),
        ("memory.oom_control", "oom_kill"),
    ),
    2: _MemoryFiles(
        "memory.max", "memory.peak", ("memory.events", "max"), ("memory.events", "oom_kill")
    ),
}


@contextlib.contextmanager
def bounded(bounds: Bounds) -> Iterator[Bounded]:
    """Start programs of workloads so that they, and their page cache, have no more than that.

    Bounds may be nested, where several workloads are ready side by side: each program has those of
    the innermost when it started.

    Raises FsgreenError if it cannot be bounded here. Raises TrialFailed if the programs took more
    memory than that by themselves.
    """
    told = Bounded()
    if not bounds.controllers:
        yield told
        return
    group = groups.make(bounds.controllers)
    try:
        _set(group, bounds)
        with groups.entered(group):
            yield told
    finally:
        killed = False
        if bounds.memory_b is not None:
            told.memory, killed = _use(group, bounds.memory_b)
        groups.remove(group)
        if killed and told.memory is not None:
            raise TrialFailed(
                f"the workload alone took more memory than its {told.memory.limit_b >> 20} MiB: "
                "the kernel ended it",
                next_step="a larger memory_mib in the study, or a larger scale of this workload "
                "in the profile: the bound is memory_mib x scale",
            )


def require(controllers: Sequence[str]) -> None:
    """Raise FsgreenError if these cannot be bounded here."""
    groups.remove(groups.make(controllers))


def _set(group: Group, bounds: Bounds) -> None:
    if bounds.memory_b is not None:
        files = MEMORY_FILES[group.places["memory"].version]
        group.write("memory", files.limit, str(bounds.memory_b))
    if (traffic := bounds.traffic) is not None:
        if group.places["io"].version == 2:
            group.write("io", "io.max", f"{traffic.number} rbps={traffic.b_s} wbps={traffic.b_s}")
        else:
            for way in ("read", "write"):
                file = f"blkio.throttle.{way}_bps_device"
                group.write("io", file, f"{traffic.number} {traffic.b_s}")


def _use(group: Group, limit_b: int) -> tuple[MemoryUse, bool]:
    """Return what was used of the memory, and whether the kernel ended a program for it."""
    files = MEMORY_FILES[group.places["memory"].version]
    used_b, reached = group.number("memory", files.peak), group.number("memory", *files.reached)
    return MemoryUse(limit_b, used_b, reached), group.number("memory", *files.killed) > 0
