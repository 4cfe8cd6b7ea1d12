"""Control groups that programs of workloads run in (cgroups(7)): of this machine, or of the guest
that a block has entered. Making one takes root.

Of the first version each controller has a tree of its own, and a program enters one group in each;
of the second all controllers share a tree.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from fsgreen import elsewhere
from fsgreen.errors import FsgreenError, TrialFailed

MOUNTS, OWN = Path("/proc/self/mounts"), Path("/proc/self/cgroup")
PREFIX = "fsgreen-bounds-"
"""Begins the name of a group; the process that made it and a number follow."""

GONE_WITHIN_S = 5.0
"""How long the kernel may take to see that all processes of a group have ended."""

JOIN = 'echo 0 > "$0" && exec "$@"'
"""A process of the shell enters the group before it becomes the program (`0` is the writer)."""

FIRST = {"memory": "memory", "io": "blkio"}
"""What the first version calls the controllers of the second."""


@dataclass(frozen=True)
class Place:
    """A folder in the tree of a controller, and the version of its control groups."""

    folder: Path
    version: int


@dataclass(frozen=True)
class Group:
    """A group, in one tree or in several."""

    places: Mapping[str, Place]
    """Where it is, for each of its controllers."""

    @property
    def folders(self) -> Sequence[Path]:
        """Return its folders, each once."""
        return list(dict.fromkeys(place.folder for place in self.places.values()))

    def write(self, controller: str, name: str, value: str) -> None:
        """Set a limit. Raises FsgreenError."""
        file = self.places[controller].folder / name
        try:
            elsewhere.write_text(file, value)
        except OSError as error:
            why = error.strerror or "not written"
            raise refused(controller, f"{why}: {file}") from error

    def number(self, controller: str, name: str, key: str = "") -> int:
        """Return what a file of the group says, or one key of it; 0 where the kernel lacks it."""
        with contextlib.suppress(OSError):
            for line in elsewhere.text_of(self.places[controller].folder / name).splitlines():
                *words, value = line.split()
                if words == ([key] if key else []):
                    return int(value)
        return 0


_numbers = count()

_entered: ContextVar[Group | None] = ContextVar("entered", default=None)
"""The group that programs are started in; a workload starts its programs where it likes."""


def joined(command: Sequence[str]) -> Sequence[str]:
    """Return the command that runs in the group that is entered now, if there is one."""
    group = _entered.get()
    for folder in () if group is None else group.folders:
        command = ["/bin/sh", "-c", JOIN, str(folder / "cgroup.procs"), *command]
    return command


@contextlib.contextmanager
def entered(group: Group) -> Iterator[None]:
    """Start programs in a group meanwhile; the innermost counts where such blocks are nested."""
    token = _entered.set(group)
    try:
        yield
    finally:
        _entered.reset(token)


def make(controllers: Sequence[str]) -> Group:
    """Make a group beside those of others; what a killed run left goes.

    Raises FsgreenError if there is no such controller here, or no group of it can be made.
    """
    own = f"{PREFIX}{os.getpid()}-"
    above = {controller: parent(controller, controllers) for controller in controllers}
    made: dict[Path, Path] = {}
    try:
        for controller, its in above.items():
            if its.folder not in made:
                _clean(its.folder, own)
                made[its.folder] = _new(controller, its.folder, own)
    except FsgreenError:
        for folder in made.values():
            _remove(folder)
        raise
    return Group({name: Place(made[its.folder], its.version) for name, its in above.items()})


def remove(group: Group) -> None:
    """Remove a group, as soon as the kernel has seen that its processes ended."""
    for folder in group.folders:
        _remove(folder)


def parent(controller: str, beside: Sequence[str] = ()) -> Place:
    """Return where groups of a controller, as the second version calls it, can be made.

    A program is in one group of the second version: that has the controllers `beside` this, too,
    but for those that the first version has.
    """
    own: dict[str, str] = {}
    for line in elsewhere.text_of(OWN).splitlines():
        _, controllers, path = line.split(":", 2)
        own |= dict.fromkeys(controllers.split(","), path.lstrip("/"))
    first = FIRST[controller]
    mounts = elsewhere.text_of(MOUNTS).splitlines()
    for line in mounts:
        _, point, kind, options, *_ = line.split()
        if kind == "cgroup" and first in options.split(",") and first in own:
            return Place(Path(point) / own[first], 1)
    for line in mounts:
        _, point, kind, *_ = line.split()
        if kind == "cgroup2":
            # A group with processes has no groups of its own below it, so this one stands beside.
            wanted = {controller, *(other for other in beside if FIRST[other] not in own)}
            for folder in (Path(point) / own.get("", "")).parents:
                if folder.is_relative_to(point) and _offers(folder, wanted):
                    return Place(folder, 2)
            if _offers(Path(point), wanted):
                return Place(Path(point), 2)
    raise refused(controller, "the kernel has no control groups that bound it")


def refused(controller: str, reason: str) -> FsgreenError:
    """Return the error that says what cannot be bounded, and why."""
    what, factor = {
        "memory": ("memory", "memory_mib"),
        "io": ("traffic to the disk", "disk_mib_s"),
    }[controller]
    return FsgreenError(
        f"the {what} of a workload cannot be bounded here: {reason}",
        next_step=f"measure as root, on a kernel with the controller `{controller}`; or choose a "
        f"profile without {factor}",
    )


def _offers(folder: Path, controllers: set[str]) -> bool:
    with contextlib.suppress(OSError):
        return controllers <= {*elsewhere.text_of(folder / "cgroup.subtree_control").split()}
    return False


def _clean(parent: Path, own: str) -> None:
    """Remove what killed runs left; a guest ends with its run."""
    if elsewhere.place() is not None:
        return
    for left in parent.glob(f"{PREFIX}*"):
        if not left.name.startswith(own):
            with contextlib.suppress(OSError):
                left.rmdir()  # refused where processes are in it


def _new(controller: str, parent: Path, own: str) -> Path:
    """Make a folder that was not there: those of a run that had the same pid have counted."""
    while True:
        folder = parent / f"{own}{next(_numbers)}"
        try:
            elsewhere.make_folder(folder)
        except FileExistsError:
            continue
        except OSError as error:
            raise refused(controller, f"{error.strerror}: {error.filename}") from error
        return folder


def _remove(folder: Path) -> None:
    deadline_s = time.monotonic() + GONE_WITHIN_S
    while True:
        try:
            return elsewhere.remove_folder(folder)
        except TrialFailed:
            raise
        except (OSError, FsgreenError):
            if time.monotonic() > deadline_s:
                return None  # the next that is made removes it
            time.sleep(0.02)
