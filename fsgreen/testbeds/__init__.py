"""Testbeds: where trials run. `open_testbed` gives one, `sweep` removes what a killed one left.

A testbed is a device and a stack on it. A further kind is a line in `BUILT_IN`, or an entry point
of the group `fsgreen.testbeds` in a package of anybody's: CONTRIBUTING.md has an example.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType

from fsgreen.devices.base import Availability, Device, GuestAsked, Settings
from fsgreen.devices.block import BlockDevice
from fsgreen.devices.existing import ExistingDevice
from fsgreen.devices.folders import sweep
from fsgreen.devices.guard import ListedDisk
from fsgreen.devices.loop import LoopDevice
from fsgreen.devices.simdisk import SimulatedDevice
from fsgreen.devices.vm.device import VmDevice
from fsgreen.devices.volume import DeviceState
from fsgreen.errors import FsgreenError, unknown
from fsgreen.simdisk import Disk
from fsgreen.stacks.base import Mount, Stack
from fsgreen.stacks.directory import DirectoryStack
from fsgreen.stacks.guest.stack import GuestStack
from fsgreen.stacks.kernel import KernelStack
from fsgreen.testbeds.testbed import Testbed

__all__ = [
    "Availability",
    "DeviceState",
    "Disk",
    "GuestAsked",
    "Kind",
    "ListedDisk",
    "Mount",
    "Testbed",
    "available",
    "default_folder",
    "find",
    "kinds",
    "open_testbed",
    "sweep",
]

DEFAULT_SIZE_B = 2 << 30


@dataclass(frozen=True)
class Kind:
    """A device, the stack on it, and what of `Settings` that device takes and others do not.

    `several` says whether trials can be ready on several of them at once: a real disk is one, and
    the energy of a simulated disk is told by a meter of that one.
    """

    device: type[Device]
    stack: type[Stack]
    takes: tuple[str, ...] = ()
    several: bool = False

    def available(self, name: str) -> Availability:
        """Return whether both can be had here, under the name of the kind."""
        device, stack = self.device.available(), self.stack.available()
        if not device.usable:
            return Availability(name, False, device.why)
        why = f"{device.why}; {stack.why}" if stack.usable else stack.why
        return Availability(name, stack.usable, why)


BUILT_IN: Mapping[str, Kind] = {
    "loop": Kind(LoopDevice, KernelStack, several=True),
    "directory": Kind(ExistingDevice, DirectoryStack, several=True),
    "block": Kind(BlockDevice, KernelStack, takes=("listed", "partition", "queue_depth")),
    "simdisk": Kind(SimulatedDevice, KernelStack, takes=("simulated", "queue_depth")),
    "vm": Kind(VmDevice, GuestStack, takes=("guest", "simulated")),
}
"""Kinds of testbed. `auto` takes the first that is usable, and so never one behind `directory`."""

GROUP = "fsgreen.testbeds"


def kinds() -> list[str]:
    """Return the names of all kinds of testbed that are installed."""
    return list(dict.fromkeys([*BUILT_IN, *(entry.name for entry in entry_points(group=GROUP))]))


def find(kind: str) -> Kind:
    """Return a kind of testbed; raises `FsgreenError` where none has this name or it is broken."""
    if kind in BUILT_IN:
        return BUILT_IN[kind]
    for entry in entry_points(group=GROUP, name=kind):
        try:
            loaded = entry.load()
        except Exception as error:
            raise FsgreenError(
                f"the testbed {kind} cannot be imported: {error}",
                where=entry.value,
                next_step="mend or uninstall the package that declares it",
            ) from error
        if isinstance(loaded, Kind):
            return loaded
        raise FsgreenError(
            f"the testbed {kind} is {loaded!r}, not a Kind", where=entry.value, next_step="mend it"
        )
    raise unknown("testbed", kind, ["auto", *kinds()], next_step="fsgreen doctor")


def available() -> list[Availability]:
    """Return each kind of testbed, whether it works here, and why or how to mend it."""
    return [kind.available(name) for name, kind in BUILT_IN.items()]


def default_folder(kind: str) -> Path:
    """Return where a testbed of this kind keeps its files, unless that is named or `in_memory`."""
    return find(kind).device.default_folder()


def open_testbed(
    kind: str = "auto",
    *,
    folder: Path | None = None,
    in_memory: bool = False,
    size_b: int = DEFAULT_SIZE_B,
    scheduler: str | None = None,
    disk: Disk | None = None,
    queue_depth: int | None = None,
    partition: int | None = None,
    listed: ListedDisk | None = None,
    guest: GuestAsked | None = None,
    before: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> Testbed:
    """Open a testbed; use it in a `with` statement, or call its `close`.

    `kind` is one of `kinds`, or `auto` for the best that works here; `describe()["why"]` says why.

    - `folder`: loop, where the image lies (default /var/tmp, in memory /dev/shm). directory: the
      existing directory (default: the folder for temporary files, /var/tmp where that is memory).
      block: where the mount point and aged copies go (default /var/tmp). simdisk: where the disk's
      data lie (default /dev/shm). vm: where the image of the guest's disk lies (default /var/tmp).
    - `in_memory`: loop, vm: the image lies in RAM.
    - `size_b`: loop, vm: size of the image. directory: free space needed. block: size of the disk
      at least. simdisk: size of the file system at the start of the disk. Bytes.
    - `scheduler`: set by all but directory, which records what it finds; simdisk has some that the
      kernel no longer has.
    - `disk`: simdisk, vm: which disk it is; the guest's is an image without one.
    - `queue_depth`: simdisk, block: how many commands the disk takes at once.
    - `listed`, `partition`: block: the disk, and the partition that is formatted, or all of it.
    - `guest`: vm: what the guest is to be.
    - `before`: block: what `host.before` returns, if settings of the host were changed for a time.
      After a kill they go back first, and the disk then gets what is here, not what it was found
      with.

    Raises FsgreenError if the kind is unknown, or cannot be had here; the error says how to mend
    it.
    """
    why = "asked for"
    if kind == "auto":
        first, *others = available()
        best = next(entry for entry in (first, *others) if entry.usable)
        without = "" if first.usable else f"; {first.name} {first.why}"
        kind, why = best.name, f"auto: {best.why}{without}"
    chosen = find(kind)
    settings = Settings(
        size_b=size_b,
        folder=folder,
        in_memory=in_memory,
        scheduler=scheduler,
        simulated=disk,
        queue_depth=queue_depth,
        partition=partition,
        listed=listed,
        guest=guest,
        before=before,
    )
    _refuse_foreign(kind, chosen, settings)
    device = chosen.device(settings)
    try:
        return Testbed(kind, device, chosen.stack(device), why, folder)
    except BaseException:
        device.close()
        device.work.release()
        raise


def _refuse_foreign(kind: str, chosen: Kind, settings: Settings) -> None:
    """Raise `FsgreenError` for a setting that only the devices of other kinds take."""
    for name, other in [(name, of) for of, its in BUILT_IN.items() for name in its.takes]:
        if getattr(settings, name) is not None and name not in chosen.takes:
            raise FsgreenError(
                f"the testbed {kind} takes no {NAMES.get(name, name)}, as {other} does",
                where=f"testbed {kind}",
                next_step=f"take --testbed {other}, or leave it out",
            )


NAMES = {"simulated": "simulated disk", "listed": "device", "guest": "drive or memory of a guest"}
"""How testbed files call what `Settings` names otherwise."""
