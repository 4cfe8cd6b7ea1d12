"""Bounds the memory of a workload, its page cache included: a control group of the kernel.

So data are larger than memory at a scale at which a run takes seconds, as they are at full scale on
the machine that a study had. Both versions of control groups do it (cgroups(7)); making one takes
root.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from fsgreen.errors import FsgreenError
from fsgreen.trial import MemoryUse

MOUNTS, OWN = Path("/proc/self/mounts"), Path("/proc/self/cgroup")
PREFIX = "fsgreen-memory-"
"""Begins the name of a group; the process that made it and a number follow."""

GONE_WITHIN_S = 5.0
"""How long the kernel may take to see that all processes of a group have ended."""

JOIN = 'echo 0 > "$0" && exec "$@"'
"""A process of the shell enters the group before it becomes the program (`0` is the writer)."""


@dataclass(frozen=True)
class _Version:
    """How the files of a control group are called in one version of them."""

    limit: str
    peak: str
    reached: tuple[str, str]
    """File and key of how often the limit was reached; without a key the file is the number."""
    killed: tuple[str, str]


VERSIONS = {
    1: _Version(
        "memory.limit_in_bytes",
        "memory.max_usage_in_bytes",
        ("memory.failcnt", ""),
        ("memory.oom_control", "oom_kill"),
    ),
    2: _Version(
        "memory.max", "memory.peak", ("memory.events", "max"), ("memory.events", "oom_kill")
    ),
}


@dataclass(frozen=True)
class _Group:
    """A control group that bounds memory."""

    folder: Path
    version: _Version

    def number(self, name: str, key: str = "") -> int:
        """Return what a file of the group says, or one key of it; 0 where the kernel lacks it."""
        with contextlib.suppress(OSError):
            for line in (self.folder / name).read_text().splitlines():
                *words, value = line.split()
                if words == ([key] if key else []):
                    return int(value)
        return 0


_numbers = count()

_entered: ContextVar[_Group | None] = ContextVar("entered", default=None)
"""The group that programs are started in; a workload starts its programs where it likes."""


def joined(command: Sequence[str]) -> Sequence[str]:
    """Return the command that runs in the bounded memory, if memory is bounded now."""
    group = _entered.get()
    if group is None:
        return command
    return ["/bin/sh", "-c", JOIN, str(group.folder / "cgroup.procs"), *command]


class Bounded:
    """What became of a bound; `use` is known once the work is done."""

    use: MemoryUse | None = None


@contextlib.contextmanager
def bounded(limit_b: int | None) -> Iterator[Bounded]:
    """Start programs of workloads so that they and their page cache have so much memory.

    Bounds may be nested, where several workloads are ready side by side: each program has that of
    the innermost when it started. The programs' own memory is part of `limit_b`, in bytes; None
    bounds nothing.

    Raises
    ------
    FsgreenError
        If memory cannot be bounded here, or the programs took more than that by themselves.
    """
    told = Bounded()
    if limit_b is None:
        yield told
        return
    group = _made(limit_b)
    token = _entered.set(group)
    try:
        yield told
    finally:
        _entered.reset(token)
        told.use = MemoryUse(
            limit_b, group.number(group.version.peak), group.number(*group.version.reached)
        )
        killed = group.number(*group.version.killed)
        _remove(group.folder)
        if killed:
            raise FsgreenError(
                f"the workload alone took more memory than its {limit_b / 2**20:.0f} MiB: "
                "the kernel ended it",
                next_step="a larger memory_mib in the study, or a larger scale of this workload "
                "in the profile: the bound is memory_mib x scale",
            )


def require() -> None:
    """Raise FsgreenError if memory cannot be bounded here."""
    _remove(_made(1 << 30).folder)


def _made(limit_b: int) -> _Group:
    """Make a group of that limit beside those of others; what a killed run left goes."""
    parent, version = _parent()
    own = f"{PREFIX}{os.getpid()}-"
    for left in parent.glob(f"{PREFIX}*"):
        if not left.name.startswith(own):
            with contextlib.suppress(OSError):
                left.rmdir()  # refused where processes are in it
    group = _Group(_new(parent, own), version)
    try:
        (group.folder / version.limit).write_text(str(limit_b))
    except OSError as error:
        with contextlib.suppress(OSError):
            group.folder.rmdir()
        raise _refused(f"{error.strerror}: {error.filename}") from error
    return group


def _new(parent: Path, own: str) -> Path:
    """Make a folder that was not there: those of a run that had the same pid have counted."""
    while True:
        folder = parent / f"{own}{next(_numbers)}"
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        except OSError as error:
            raise _refused(f"{error.strerror}: {error.filename}") from error
        return folder


def _parent() -> tuple[Path, _Version]:
    """Return the folder in which a group that bounds memory can be made, and the version."""
    own: dict[str, str] = {}
    for line in OWN.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        own |= dict.fromkeys(controllers.split(","), path.lstrip("/"))
    for line in MOUNTS.read_text().splitlines():
        _, point, kind, options, *_ = line.split()
        if kind == "cgroup" and "memory" in options.split(",") and "memory" in own:
            return Path(point) / own["memory"], VERSIONS[1]
    for line in MOUNTS.read_text().splitlines():
        _, point, kind, *_ = line.split()
        if kind == "cgroup2":
            # A group with processes has no groups of its own below it, so this one stands beside.
            for folder in (Path(point) / own.get("", "")).parents:
                if folder.is_relative_to(point) and _offers_memory(folder):
                    return folder, VERSIONS[2]
            if _offers_memory(Path(point)):
                return Path(point), VERSIONS[2]
    raise _refused("the kernel has no control groups that bound memory")


def _offers_memory(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return "memory" in (folder / "cgroup.subtree_control").read_text().split()
    return False


def _remove(folder: Path) -> None:
    """Remove a group, as soon as the kernel has seen that its processes ended."""
    deadline_s = time.monotonic() + GONE_WITHIN_S
    while True:
        try:
            return folder.rmdir()
        except OSError:
            if time.monotonic() > deadline_s:
                return None  # the next that is made removes it
            time.sleep(0.02)


def _refused(reason: str) -> FsgreenError:
    return FsgreenError(
        f"the memory of a workload cannot be bounded here: {reason}",
        next_step="measure as root, on a kernel with the memory controller; or choose a profile "
        "without memory_mib",
    )
