"""The device `vm`: the disk of a guest in QEMU, which a plain user can have.

The guest is started once and serves all trials; one that ended or hangs spoils its trial, and the
next trial gets a new one.
"""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager, suppress
from typing import Any

from fsgreen import audit, paths, trial
from fsgreen.devices import image as images
from fsgreen.devices import imagevolume, mounts, probe
from fsgreen.devices.base import (
    OF_DISKS,
    Availability,
    GuestAsked,
    InRealTime,
    Levels,
    Settings,
    refuse_levels,
    state_of,
)
from fsgreen.devices.folders import claim
from fsgreen.devices.queue import QueueState
from fsgreen.devices.vm import boot
from fsgreen.devices.vm import image as guest_image
from fsgreen.devices.vm.boot import Clock, Machine
from fsgreen.devices.vm.guest import ATTEMPTS, Guest
from fsgreen.errors import FsgreenError, TrialFailed

REMEMBERED = "clocks.json"
"""What KVM did here, in the folder of the image: it is not tried again before the next start."""

MOST_CORES = 4

COMPARES = {
    "kvm": "times are those of a guest of this machine's processor",
    "tcg": "times are those of an emulated processor: they compare only inside the guest",
}
"""What records say of each clock."""


class VmDevice(InRealTime):
    """The disk of a guest, and the guest.

    Raises
    ------
    FsgreenError
        If QEMU or the image is not to be had, the place is too small, or the guest does not start.
    """

    kind = "vm"

    def __init__(self, settings: Settings) -> None:
        boot.require()
        guest_image.require_architecture()
        asked = settings.guest or GuestAsked()
        self._clock: Clock | None = None if asked.clock == "auto" else asked.clock
        self._drive = asked.drive
        self._memory_mib = asked.memory_mib
        self._scheduler = settings.scheduler
        self._image = guest_image.ensure()
        folder = settings.folder or (images.RAM if settings.in_memory else images.DISK)
        self.work = claim(folder, self.kind)
        self._guest: Guest | None = None
        try:
            self._size_b, self._state = self._make_disk(settings.size_b)
            self._started()
        except BaseException:
            self.close()
            self.work.release()
            raise

    @staticmethod
    def available() -> Availability:
        """Return whether a guest can be had here, and what it needs."""
        try:
            guest_image.require_architecture()
            boot.require()
        except FsgreenError as error:
            return Availability("vm", False, error.next_step or error.what)
        if guest_image.kept() is not None:
            return Availability("vm", True, f"QEMU {boot.version()}, and the image is made")
        if paths.program("apt-get") is None:
            return Availability("vm", False, "its image needs apt once: docs/vm.md")
        why = "QEMU; the first use makes the image from Debian packages, in about a minute"
        return Availability("vm", True, why)

    @property
    def name(self) -> None:
        """None: this machine's kernel does not know the disk."""

    def describe(self) -> dict[str, Any]:
        """Return disk, clock, machine, QEMU and the image of the guest, with the packages' hash."""
        return self._described

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` for another disk, state or memory, and for what the guest lacks."""
        refuse_levels(self.kind, levels, OF_DISKS)
        for name, wrong in (
            ("device", state_of(levels) != "initial"),
            ("memory_mib", levels.get("memory_mib") is not None),
        ):
            if wrong:
                raise FsgreenError(
                    f"the testbed vm does not bring about {name}: {levels[name]}",
                    where="testbed vm",
                    next_step=f"leave {name} out of the study or profile, or take --testbed loop",
                )
        self._started().ask("check", levels=told(levels))

    def load(self, levels: Levels) -> None:
        """Set the scheduler, in a new guest if the one before has ended."""
        self._started().ask("load", levels=told(levels))

    def queue_state(self) -> QueueState:
        """Return the queue of the disk in the guest."""
        return QueueState(**self.ask("queue_state"))

    def entered(self) -> AbstractContextManager[None]:
        """Run programs in the guest."""
        return self._started().entered()

    def ask(self, do: str, **what: Any) -> Any:
        """Ask the guest; see `Guest.ask`."""
        return self._started().ask(do, **what)

    def processor_s(self) -> tuple[float, float]:
        """Return the seconds in user and in system mode that QEMU has had."""
        return self._started().processor_s()

    def guest(self) -> dict[str, Any]:
        """Return what a record says of the guest: its clock, and what its times compare with."""
        clock = self._started().machine.clock
        return {"clock": clock, "compares": COMPARES[clock]}

    def probe(self, seed: int) -> dict[str, Any]:
        """Return that nothing was measured: the disk lies behind an emulated machine."""
        names = ("offset", "queue", "scheduler", "cache", "alignment", "read_ahead")
        return {
            "schema": probe.SCHEMA,
            "random_read_s": None,
            **{name: [] for name in names},
            "not_measured": dict.fromkeys(names, "the disk of a guest is not probed"),
        }

    def rest(self) -> None:
        """Unmount what the guest has mounted; one that has ended, or hangs, has nothing."""
        self._ask_living("unmount")

    def restore(self) -> None:
        """Give the disk its scheduler back."""
        self._ask_living("restore")

    def close(self) -> None:
        """End the guest."""
        if self._guest is not None:
            self._guest.stop()
            self._guest = None

    def _ask_living(self, do: str) -> None:
        if self._guest is not None and self._guest.alive():
            with suppress(TrialFailed):
                self._guest.ask(do)

    def _make_disk(self, size_b: int) -> tuple[int, dict[str, Any]]:
        """Write the image of the disk; return its size, and why it is left as trials leave it."""
        if self._drive == "null":
            return size_b, {
                "left": "in the guest's memory: made when it started",
                "remembers": False,
            }
        file = self.work.path / boot.DISK
        made_b = images.allocate(file, size_b)
        disk, left, remembers = imagevolume.disk_below(file)
        if disk is not None:
            left, remembers = "not restored: the guest cannot reach the disk below its image", True
        return made_b, {"left": left, "remembers": remembers}

    def _started(self) -> Guest:
        """Return the guest, a new one if there is none that runs."""
        if self._guest is None or not self._guest.alive():
            self.close()
            self._guest = self._start()
            self._clock = self._guest.machine.clock  # the same for all trials
            disk = self._guest.ask(
                "open",
                drive=self._drive,
                size_b=self._size_b,
                state=self._state,
                scheduler=self._scheduler,
            )
            self._described = self._describe(self._guest, disk)
        return self._guest

    def _start(self) -> Guest:
        """Start a guest by KVM where that is asked for or works, else by emulation."""
        if self._clock is not None:
            return self._boot(self._clock)
        if boot.kvm_opens() and not self._kvm_failed():
            try:
                return self._boot("kvm", attempts=1)
            except FsgreenError as error:
                self._remember_kvm_failed()
                print(f"KVM opens here and runs no guest ({error.what}): emulation instead")
        return self._boot("tcg")

    def _boot(self, clock: Clock, attempts: int = ATTEMPTS) -> Guest:
        if guest_image.ensure().sha256 != self._image.sha256:
            raise FsgreenError(
                "the image of the guest is another one than when the campaign was opened: fsgreen, "
                "or its packages, changed meanwhile",
                where=guest_image.folder(),
                next_step="measure under another name (--name), and leave fsgreen as it is",
            )
        machine = Machine(
            clock, self._drive, self._memory_mib, min(MOST_CORES, len(os.sched_getaffinity(0)))
        )
        folder, lock_fd = self.work.path, self.work.lock_fd
        return Guest(machine, self._image, folder, lock_fd=lock_fd, attempts=attempts)

    def _describe(self, guest: Guest, disk: dict[str, Any]) -> dict[str, Any]:
        machine = guest.machine
        below = self.work.path if self._drive != "null" else None
        return {
            **disk,
            "in_memory": below is None or mounts.in_memory(below),
            "drive": self._drive,
            "clock": machine.clock,
            "compares": COMPARES[machine.clock],
            "guest_memory_mib": machine.memory_mib,
            "guest_cores": machine.cores,
            "guest_kernel": guest.about["kernel"],
            "guest_image": self._image.sha256,
            "qemu": boot.version(),
        }

    def _kvm_failed(self) -> bool:
        try:
            found = json.loads((guest_image.folder() / REMEMBERED).read_text())
        except (OSError, ValueError):
            return False
        return bool(found.get("boot_id") == _boot_id())

    def _remember_kvm_failed(self) -> None:
        trial.write_json(guest_image.folder() / REMEMBERED, {"boot_id": _boot_id(), "kvm": False})


def told(levels: Levels) -> dict[str, Any]:
    """Return the levels that are set, as JSON has them."""
    return {name: level for name, level in levels.items() if level is not None}


def _boot_id() -> str | None:
    return audit.HERE.text("proc/sys/kernel/random/boot_id")
