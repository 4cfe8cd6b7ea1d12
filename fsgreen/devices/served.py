"""The server of a simulated disk, for devices of this machine and of a guest."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fsgreen import commands
from fsgreen.devices.folders import WorkFolder
from fsgreen.devices.queue import NONE, QueueState
from fsgreen.errors import FsgreenError
from fsgreen.simdisk import Control, Disk, Server, parameters, require
from fsgreen.simdisk.ssdstates import STATES
from fsgreen.units import SECTOR_B

FIFO = "fifo"
INSTANT = "instant"

STOP_S = 60.0
"""Longest time that a disk may take to stop, as it writes its cache first."""
POLL_S = 0.05

SIMULATED = "no state to restore on a simulated disk, which remembers no writes"

STATE_S = 600.0
"""Longest time that it may take for that, on a busy machine."""


class ServedDisk:
    """A disk in software, whose server runs until `close`.

    `file` has the sectors of the disk, and `control` is the control socket. `depth` is the most
    commands that it takes at once, by default. `rotates` says whether it is a rotating disk, with
    zones. Otherwise it is an SSD, whose state trials change. Raises FsgreenError if the disk cannot
    be served.
    """

    def __init__(self, disk: Disk, work: WorkFolder) -> None:
        self.disk = disk
        self._server = Server(disk, work.path, lock_fd=work.lock_fd)
        self.file: Path = self._server.file
        self.control: Control = self._server.control
        try:
            described = self.control.ask("describe")
            self._sha256 = hashlib.sha256(parameters(disk.name).encode()).hexdigest()
        except BaseException:
            self.close()
            raise
        self.size_b: int = described["sectors"] * SECTOR_B
        self.depth: int = described["depth"]
        self.rotates = bool(described["zones"])

    def describe(self) -> dict[str, Any]:
        """Return the disk, its model, its clock and its server, for the record."""
        disk = self.control.ask("describe")
        return {
            "disk": self.disk.name,
            "disk_sha256": self._sha256,
            "model": disk["model"],
            "engine": commands.run([require(), "--version"]).strip(),
            "disk_size_b": self.size_b,
            "write": self.disk.write or "as the disk has it",
            "policy": disk["policy"],
            "clock": self.disk.clock,
            "queue_depth": disk["depth"],
            "floor": disk["floor"],
            "privileges": disk["privileges"],
        }

    def check_scheduler(self, name: str) -> None:
        """Raise `FsgreenError` if the simulator has no such scheduler."""
        if name == FIFO:
            raise FsgreenError(
                f"the scheduler that keeps the order of arrival is called {NONE} here, not {FIFO}",
                where=f"disk {self.disk.name}",
                next_step=f"name {NONE} in the study",
            )
        before = self.control.ask("describe")["scheduler"]
        self.control.ask("scheduler", to=name)
        self.control.ask("scheduler", to=before)

    def set_queue(self, depth: int, scheduler: str | None) -> None:
        """Set the depth and the scheduler; None if a scheduler of the kernel sorts instead."""
        self.control.ask("depth", to=depth)
        self.control.ask("scheduler", to=scheduler or FIFO)

    def bring_into(self, state: str) -> None:
        """Bring an SSD into a state of `STATES`, which takes no time of the disk."""
        if not self.rotates:
            self.control.ask("state", limit_s=STATE_S, to=state)

    def left_in(self, state: str) -> str:
        """Return what was done to the disk, or why nothing was, to bring it into a state."""
        return SIMULATED if self.rotates else STATES[state]

    def queue_state(self, kernel: QueueState, **more: Any) -> QueueState:
        """Return the queue of the disk. `simulated` has the kernel's queue, and `more`."""
        disk = self.control.ask("describe")
        names = ("model", "sectors", "depth", "policy", "scheduler")
        simulated: dict[str, Any] = {name: disk[name] for name in names} | {
            "disk": self.disk.name,
            "disk_sha256": self._sha256,
            **more,
            "kernel_scheduler": kernel.scheduler,
            "kernel_requests": kernel.queue_depth,
        }
        scheduler = kernel.scheduler if disk["scheduler"] == FIFO else disk["scheduler"]
        return QueueState(scheduler, disk["depth"], kernel.read_ahead_b, simulated)

    def keep_time(self) -> None:
        """Set the clock of the disk: real, or instant if that was asked for."""
        self._set_clock(self.disk.clock)

    @contextlib.contextmanager
    def untimed(self, *, stay: bool = False) -> Iterator[None]:
        """Take no time in the `with` block; with `stay`, afterwards too.

        Without `stay`, the disk is at rest afterwards, with empty caches.
        """
        self._set_clock(INSTANT)
        try:
            with self.control.storing():
                yield
        finally:
            if not stay:
                self.keep_time()

    def let_go(self) -> None:
        """Take no time and inject no faults any more, so that the disk can be unmounted."""
        with contextlib.suppress(FsgreenError):  # a disk with the fault "gone" is ended, too
            self.control.ask("fault", kind="none")
            self._set_clock(INSTANT)

    def stand_by(self) -> None:
        """Stop the platters once no request is left. The next request starts them.

        Raises `FsgreenError` if the disk has none.
        """
        self.control.ask("spin", to="standby")

    def sleep(self) -> None:
        """Stop the platters, and return once they stand still.

        Raises FsgreenError if the disk has none, or if they still turn after `STOP_S`.
        """
        before_uj = self._standing_uj()
        deadline_s = time.monotonic() + STOP_S
        while self._standing_uj() == before_uj:
            self.stand_by()  # a request in the meantime has cancelled the previous command
            if time.monotonic() > deadline_s:
                raise FsgreenError(
                    f"the platters still turn {STOP_S:g} s after they were told to stop",
                    where=f"disk {self.disk.name}",
                    next_step="end what uses the disk, then start the same command again",
                )
            time.sleep(POLL_S)

    def _standing_uj(self) -> int:
        """Return the energy of the time in which the platters stood still, in microjoules."""
        energy_uj: int = self.control.ask("energy")["parts_uj"].get("standby", 0)
        return energy_uj

    def close(self) -> None:
        """End the server. Nothing may use its disk any more."""
        self._server.stop()

    def _set_clock(self, to: str) -> None:
        self.control.ask("clock", to=to)
