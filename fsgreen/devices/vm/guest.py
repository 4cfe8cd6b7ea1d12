"""A running guest: it is started, answers requests, and is ended without anything left behind."""

from __future__ import annotations

import base64
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fsgreen import elsewhere, processes
from fsgreen.devices.vm import boot
from fsgreen.devices.vm import image as guest_image
from fsgreen.devices.vm.boot import Clock, Machine
from fsgreen.devices.vm.counters import DiskCounters
from fsgreen.devices.vm.image import Image
from fsgreen.devices.vm.launch import connected
from fsgreen.devices.vm.wire import CONTROL, Channel, Ended
from fsgreen.errors import FsgreenError, TrialFailed

READY_S: dict[Clock, float] = {"kvm": 20.0, "tcg": 300.0}
"""Longest time for a guest to start on a busy machine, by clock."""

ANSWER_S = 900.0
"""Longest time for a request under emulation, such as making a file system."""

PING_S = 30.0
ATTEMPTS = 2
TAIL_B = 4096
STOPPED = "sysrq: Resetting"
"""The end of the kernel's line when a guest stops itself. It does not say why."""

BY_PACKAGE = ("apt-get ", "install it anew (apt-get ")
"""How a next step begins that installs a package."""


class Guest:
    """A guest in QEMU. It ends with the harness. If it does not start, it is tried again.

    Its disk and its files are in `folder`. QEMU holds the owner lock of the folder while it runs.

    Raises FsgreenError if it does not start after `attempts`.
    """

    def __init__(
        self,
        machine: Machine,
        image: Image,
        folder: Path,
        *,
        lock_fd: int,
        attempts: int = ATTEMPTS,
    ) -> None:
        self.machine = machine
        self._image = image
        self._folder = folder
        self._lock_fd = lock_fd
        self._open = contextlib.ExitStack()
        self.counters = DiskCounters(folder)
        self.about: dict[str, Any] = {}
        for attempt in range(1, attempts + 1):
            try:
                self._start()
                return
            except TrialFailed as error:
                self.stop()
                if attempt == attempts:
                    raise FsgreenError(
                        f"the guest did not come up, tried {attempts} x: {error.what}",
                        where=folder / boot.CONSOLE,
                        next_step="fsgreen doctor; docs/vm.md lists what helps",
                    ) from error
            except BaseException:
                self.stop()
                raise

    def ask(self, do: str, limit_s: float = ANSWER_S, **what: Any) -> Any:
        """Send a request and return the answer.

        Raises FsgreenError if the request failed in the guest. Raises TrialFailed if the guest
        ended, or does not answer within `limit_s`. Then it has been ended.
        """
        try:
            self._channel.send(do=do, **what)
            said = self._channel.receive(limit_s)
        except (Ended, TimeoutError) as error:
            raise self._lost(error) from error
        except BaseException:
            self.stop()  # its late answer would be taken for that to the next request
            raise
        if "error" in said:
            raise _of_guest(**said["error"])
        return said["answer"]

    def alive(self) -> bool:
        """Return whether the guest runs."""
        return self._process.poll() is None

    def processor_s(self) -> tuple[float, float]:
        """Return the user and system time of QEMU in seconds; 0 if it has ended."""
        try:
            qemu = processes.of(self._process.pid)
        except OSError:
            return 0.0, 0.0
        return qemu.user_s, qemu.system_s

    def stop(self) -> None:
        """End the guest. It may be repeated."""
        self.counters.close()
        self._open.close()

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Run programs in the guest during the `with` block.

        Raises TrialFailed if the guest itself ended or hangs; this replaces the error of the
        program. The FsgreenError of a program gets a next step that works for the guest.
        """
        try:
            with elsewhere.entered(_Inside(self, self._folder)):
                yield
        except TrialFailed:
            raise
        except FsgreenError as error:
            self.ask("ping", PING_S)
            raise _of_guest(error.what, error.where, error.next_step) from error

    def _start(self) -> None:
        for name in os.listdir(self._folder):
            if name.startswith("fsgreen."):
                (self._folder / name).unlink()
        self._process = self._open.enter_context(
            running(self.machine, self._image, self._folder, self._lock_fd)
        )
        deadline_s = time.monotonic() + READY_S[self.machine.clock]
        self._channel = Channel(self._connect(deadline_s).fileno())
        try:
            said = self._channel.receive(max(0.0, deadline_s - time.monotonic()))
        except (Ended, TimeoutError) as error:
            raise self._lost(error) from error
        self.about = said["ready"]

    def _connect(self, deadline_s: float) -> socket.socket:
        while True:
            try:
                return self._open.enter_context(connected(self._folder, CONTROL))
            except OSError as error:
                if not self.alive() or time.monotonic() > deadline_s:
                    raise self._lost(error) from error
            time.sleep(0.02)

    def _lost(self, error: Exception) -> TrialFailed:
        """End the rest of a lost guest; return the error that says why it was lost."""
        if isinstance(error, TimeoutError):
            why = "the guest hangs: it did not answer"
        else:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(2)
            why = "the guest ended" if not self.alive() else "the guest closed its connection"
        self.stop()
        words = last_words(self._folder)
        return TrialFailed(
            f"{why}{f': {words}' if words else ''}",
            where=self._folder / boot.CONSOLE,
            next_step="the trial runs again in a new guest; a larger guest_memory_mib in [testbed] "
            "where memory was short (docs/vm.md)",
        )


def _of_guest(what: str, where: str | None, next_step: str | None = None) -> FsgreenError:
    """Return an error of the guest, which says so. Its packages come from its image alone."""
    if next_step is not None and next_step.startswith(BY_PACKAGE):
        next_step = (
            f"rm -r {guest_image.folder()}, then the same command again: it makes the image of the "
            "guest anew"
        )
    return FsgreenError(what, where=where or "the guest", next_step=next_step)


class _Inside(elsewhere.Place):
    """The guest as a place where programs run."""

    def __init__(self, guest: Guest, folder: Path) -> None:
        self._guest = guest
        self._folder = folder

    def run(self, command: Sequence[str]) -> str:
        """Run a tool of the guest to its end; return its output."""
        printed: str = self._guest.ask("run", command=list(command))
        return printed

    def launcher(self, command: Sequence[str]) -> Sequence[str]:
        """Return the command of this machine that runs a program in the guest."""
        launch = [sys.executable, "-P", "-m", "fsgreen.devices.vm.launch", str(self._folder)]
        return [*launch, *command]

    def put(self, file: Path) -> str:
        """Copy a file into the guest; return its path there."""
        content = base64.b64encode(file.read_bytes()).decode()
        path: str = self._guest.ask("put", name=file.name, content=content)
        return path


@contextlib.contextmanager
def running(
    machine: Machine, image: Image, folder: Path, lock_fd: int, initrd: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run QEMU during the `with` block. It is killed at the end, and if the harness ends."""
    command = ["setpriv", "--pdeathsig", "KILL", *boot.command(machine, image, initrd)]
    with (folder / "qemu").open("wb") as said:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            pass_fds=(lock_fd,),
            # Ctrl-C goes only to the harness, which then ends the guest.
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def last_words(folder: Path) -> str:
    """Return the line of the guest's console or of QEMU that best explains why it ended."""
    lines = []
    for name in ("qemu", boot.CONSOLE):
        with contextlib.suppress(OSError):
            lines += (folder / name).read_bytes()[-TAIL_B:].decode("utf-8", "replace").splitlines()
    said = [line.strip() for line in lines if line.strip() and not line.endswith(STOPPED)]
    panics = [line for line in said if "panic" in line or "Out of memory" in line]
    return (panics[:1] or said[-1:] or [""])[0][:200]
