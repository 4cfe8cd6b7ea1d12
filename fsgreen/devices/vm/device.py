"""The device `vm`: the disk of a guest in QEMU. It does not need root.

The guest is started once and serves all trials. If it ends or hangs, its trial fails, and the next
trial gets a new guest.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import Any

from fsgreen.devices import image as images
from fsgreen.devices import mounts, probe
from fsgreen.devices.base import Availability, GuestAsked, OnThisMachine, Settings
from fsgreen.devices.folders import claim
from fsgreen.devices.levels import state_of
from fsgreen.devices.names import TRAFFIC, Levels
from fsgreen.devices.queue import QueueState
from fsgreen.devices.vm import boot, needs
from fsgreen.devices.vm import image as guest_image
from fsgreen.devices.vm.boot import Clock, Machine
from fsgreen.devices.vm.drive import OwnDrive, SimulatedDrive
from fsgreen.devices.vm.guest import ATTEMPTS, Guest
from fsgreen.errors import FsgreenError, TrialFailed
from fsgreen.simdisk import Control

MOST_CORES = 4

COMPARES = {
    "kvm": "times are those of a guest of this machine's processor",
    "tcg": "times are those of an emulated processor: they compare only inside the guest",
}
"""The sentence of records on the times of each clock."""

COUNTERS = "requests of the guest to its disk, as QEMU counts them; no busy time"
"""The sentence of records on the counters of the disk."""


class VmDevice(OnThisMachine):
    """The disk of a guest, and the guest.

    Raises FsgreenError if QEMU or the image is not available, the folder has too little space, or
    the guest does not start.
    """

    kind = "vm"

    def __init__(self, settings: Settings) -> None:
        boot.require()
        guest_image.require_architecture()
        asked = settings.guest or GuestAsked()
        self._clock: Clock | None = None if asked.clock == "auto" else asked.clock
        self._asked = asked
        self._image = guest_image.ensure()
        in_memory = settings.in_memory or settings.simulated is not None
        folder = settings.folder or (images.RAM if in_memory else images.DISK)
        self.work = claim(folder, self.kind)
        self._guest: Guest | None = None
        with ExitStack() as undone:
            undone.callback(self.work.release)
            self._disk = self._make_disk(settings)
            undone.callback(self.close)
            self._started()
            undone.pop_all()

    @staticmethod
    def available() -> Availability:
        """Return whether a guest can run here, and what is missing if not."""
        lacking = needs.lacking()
        if lacking:
            return Availability("vm", False, lacking[0].next_step or lacking[0].what)
        if guest_image.made_base() is not None:
            return Availability("vm", True, f"QEMU {boot.version()}, and the image is made")
        why = "QEMU; the first use makes the image from Debian packages, in about a minute"
        return Availability("vm", True, why)

    @staticmethod
    def default_folder() -> Path:
        """Return /var/tmp."""
        return images.DISK

    @property
    def name(self) -> None:
        """None: this machine's kernel does not know the disk."""

    def describe(self) -> dict[str, Any]:
        """Return the disk, the clock, the machine and QEMU of the guest, and its image's hash."""
        return self._described

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` for levels that the disk or the guest cannot have."""
        for name, wrong in (
            ("device", state_of(levels) not in self._disk.states),
            (TRAFFIC, levels.get(TRAFFIC) is not None),
        ):
            if wrong:
                raise FsgreenError(
                    f"the testbed vm does not bring about {name}: {levels[name]}",
                    where="testbed vm",
                    next_step=f"leave {name} out of the study or profile, or take --testbed loop; "
                    "docs/vm.md says what a guest can do",
                )
        guest = self._started()
        self._disk.check(levels)
        guest.ask("check", levels=self.in_guest(levels))

    def load(self, levels: Levels) -> None:
        """Set the disk and the scheduler, in a new guest if the last one has ended."""
        guest = self._started()
        self._disk.load(levels)
        guest.ask("load", levels=self.in_guest(levels))

    def in_guest(self, levels: Levels) -> dict[str, Any]:
        """Return the levels that are set, as the guest is asked for them."""
        return self._disk.in_guest(levels)

    def queue_state(self) -> QueueState:
        """Return the present queue, from `queue_of`."""
        return self.queue_of(QueueState(**self.ask("queue_state")))

    def queue_of(self, kernel: QueueState) -> QueueState:
        """Return the queue of the disk, given that of the guest's kernel."""
        return self._disk.queue_of(kernel)

    def untimed(self, *, stay: bool = False) -> AbstractContextManager[None]:
        """Let a simulated disk take no time in the `with` block."""
        return self._disk.untimed(stay=stay)

    def simulator(self) -> Control | None:
        """Return the control socket of a simulated disk; None if the disk is not simulated."""
        return self._disk.simulator()

    def entered(self) -> AbstractContextManager[None]:
        """Run programs in the guest."""
        return self._started().entered()

    def ask(self, do: str, **what: Any) -> Any:
        """Send a request to the guest and return its answer, as `Guest.ask` does."""
        return self._started().ask(do, **what)

    def processor_s(self) -> tuple[float, float]:
        """Return the user and system time of QEMU in seconds."""
        return self._started().processor_s()

    def counters(self) -> dict[str, float] | None:
        """Return QEMU's counters of the disk; None if the disk is in the guest's memory."""
        guest = self._guest
        if guest is None or self._asked.drive == "null":
            return None
        return guest.counters.read()

    def guest(self) -> dict[str, Any]:
        """Return, for the record, the guest's clock and what its times may be compared with."""
        clock = self._started().machine.clock
        return {"clock": clock, "compares": COMPARES[clock]}

    def probe(self, seed: int) -> dict[str, Any]:
        """Return a probe without measurements, as the disk is behind an emulated machine."""
        names = ("offset", "queue", "scheduler", "cache", "alignment", "read_ahead")
        return {
            "schema": probe.SCHEMA,
            "random_read_s": None,
            **{name: [] for name in names},
            "not_measured": dict.fromkeys(names, "the disk of a guest is not probed"),
        }

    def rest(self) -> None:
        """Unmount the file systems of the guest. A guest that has ended or hangs has none."""
        self._ask_living("unmount")

    def restore(self) -> None:
        """Set the scheduler that the disk had."""
        self._ask_living("restore")

    def close(self) -> None:
        """End the guest, and the server of its disk."""
        self._end_guest()
        self._disk.close()

    def _end_guest(self) -> None:
        if self._guest is not None:
            self._guest.stop()
            self._guest = None

    def _ask_living(self, do: str) -> None:
        if self._guest is not None and self._guest.alive():
            with suppress(TrialFailed):
                self._guest.ask(do)

    def _make_disk(self, settings: Settings) -> OwnDrive:
        asked = self._asked.drive, self.work, settings.size_b, settings.scheduler
        if settings.simulated is None:
            return OwnDrive(*asked, self._asked.drive_zone_mib)
        return SimulatedDrive(*asked, settings.simulated, self._asked.drive_zone_mib)

    def _started(self) -> Guest:
        """Return the running guest; start a new one if none runs."""
        if self._guest is None or not self._guest.alive():
            self._end_guest()
            self._guest = self._start()
            self._clock = self._guest.machine.clock  # further guests get the same clock
            self._described = self._describe(
                self._guest, self._disk.up(self._guest.ask("open", **self._disk.asked))
            )
        return self._guest

    def _start(self) -> Guest:
        """Start a guest: by the clock that was asked for, else by KVM if it works, else by TCG."""
        if self._clock is not None:
            return self._boot(self._clock)
        if boot.kvm_opens() and not boot.kvm_failed():
            try:
                return self._boot("kvm", attempts=1)
            except FsgreenError as error:
                boot.remember_kvm_failed()
                print(f"KVM opens here and runs no guest ({error.what}): emulation instead")
        return self._boot("tcg")

    def _boot(self, clock: Clock, attempts: int = ATTEMPTS) -> Guest:
        if guest_image.ensure().sha256 != self._image.sha256:
            raise FsgreenError(
                "the image of the guest has changed since the campaign was opened: fsgreen, "
                "or the packages of the image, are others now",
                where=guest_image.folder(),
                next_step="measure under another name (--name), and leave fsgreen as it is",
            )
        machine = Machine(
            clock,
            self._asked.drive,
            self._asked.memory_mib,
            min(MOST_CORES, len(os.sched_getaffinity(0))),
            dirty_mib=self._asked.dirty_mib,
            drive_mib_s=self._asked.drive_mib_s,
            drive_iops=self._asked.drive_iops,
            drive_zone_mib=self._asked.drive_zone_mib,
            simulated_b=self._disk.simulated_b,
        )
        folder, lock_fd = self.work.path, self.work.lock_fd
        return Guest(machine, self._image, folder, lock_fd=lock_fd, attempts=attempts)

    def _bounds(self) -> dict[str, int | None]:
        return {
            "guest_dirty_mib": self._asked.dirty_mib,
            "drive_mib_s": self._asked.drive_mib_s,
            "drive_iops": self._asked.drive_iops,
        }

    def _describe(self, guest: Guest, disk: dict[str, Any]) -> dict[str, Any]:
        machine = guest.machine
        below = self.work.path if self._asked.drive != "null" else None
        return {
            **disk,
            "in_memory": below is None or mounts.in_memory(below),
            "drive": self._asked.drive,
            **({} if self._asked.drive == "null" else {"counters": COUNTERS}),
            "clock": machine.clock,
            "compares": COMPARES[machine.clock],
            "guest_memory_mib": machine.memory_mib,
            **{name: bound for name, bound in self._bounds().items() if bound is not None},
            "guest_cores": machine.cores,
            "guest_kernel": guest.about["kernel"],
            "guest_image": self._image.sha256,
            "qemu": boot.version(),
        }
