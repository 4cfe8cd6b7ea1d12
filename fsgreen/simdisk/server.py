"""The program that serves a simulated disk: started, asked to be ready, and always ended."""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fsgreen import commands, paths
from fsgreen.errors import FsgreenError
from fsgreen.simdisk.control import PROGRAM, Control

DEFAULT_DISK = "st4000nm0033"
"""A SATA disk of 7200 rpm and 4 TB (Seagate, 2012); `fsgreen-simdisk disks` lists them all."""

WHERE, NEXT = "\n  where: ", "\n  next:  "
"""Begin the lines in which the program says where an error is and how to mend it."""

READY_S = 120.0
"""It measures first how fast this machine can be, which takes long beside other work."""

END_S = 5.0


@dataclass(frozen=True)
class Disk:
    """What a server is started with."""

    name: str = DEFAULT_DISK
    """A disk of `fsgreen-simdisk disks`, or the path of a file like theirs."""
    write: str | None = None
    """`back` or `through`: what the disk's cache does with writes; default: the disk's own."""
    clock: str = "real"
    """`real`, or `instant` for a disk that takes no time, to see what else does."""


class Server:
    """A server of one disk, running; its file is `file`, its control socket that of `control`.

    The disk's data, its mount and its socket go into `folder`, an existing one of ours. The owner
    lock of the work folder stays taken until the server has ended.

    Raises FsgreenError if the program is not installed, or does not get ready: in its own words.
    """

    def __init__(self, disk: Disk, folder: Path, *, lock_fd: int) -> None:
        self.disk = disk
        self.control = Control(folder / "control")
        served = folder / "served"
        served.mkdir(exist_ok=True)
        self.file = served / "disk"
        self._store = folder / "store"
        command = [
            *(require(), "serve", disk.name, "--die-with-parent"),
            *("--at", str(served), "--store", str(self._store)),
            *("--control", str(self.control.path), "--clock", disk.clock),
            *([] if disk.write is None else ["--write", disk.write]),
        ]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `stop`)
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                pass_fds=(lock_fd,),
                # Ctrl-C is for the harness, which then unmounts what is on the disk before it goes.
                start_new_session=True,
            )
        except OSError as error:
            self._errors.close()
            raise self._failed(command, error.strerror or str(error)) from error
        try:
            self._await_ready(command)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the server and delete its data; harmless when repeated.

        What is on the disk is unmounted by then: to end is to lose power.
        """
        if self._process.poll() is None:
            with contextlib.suppress(FsgreenError):
                self.control.ask("stop")
            try:
                self._process.wait(END_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()
        self._store.unlink(missing_ok=True)

    def _await_ready(self, command: Sequence[str]) -> None:
        assert self._process.stdout is not None
        line = _line(self._process.stdout, READY_S)
        try:
            json.loads(line)
        except ValueError:
            self._process.kill()
            self._process.wait()
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace").strip()
            raise self._failed(command, said or f"not ready within {READY_S:g} s") from None

    def _failed(self, command: Sequence[str], why: str) -> FsgreenError:
        what, _, remedy = why.removeprefix(f"{PROGRAM}: ").partition(NEXT)
        said, _, place = what.partition(WHERE)
        return FsgreenError(
            f"the simulated disk {self.disk.name} could not be started: {said}",
            where=place or " ".join(command),
            next_step=remedy or "fsgreen doctor",
        )


def require() -> str:
    """Return the path of the program; raises `FsgreenError` where it is not installed."""
    program = paths.program(PROGRAM)
    if program is None:
        raise FsgreenError("the simulated disk is not installed", next_step=paths.BUILD)
    return program


def parameters(disk: str) -> str:
    """Return the text of a disk's parameters: one of the program's, or that of a file.

    Raises FsgreenError where there is neither.
    """
    try:
        return commands.run([require(), "show", disk], next_step=f"{PROGRAM} disks")
    except FsgreenError:
        if Path(disk).is_file():
            return Path(disk).read_text(errors="replace")
        raise


def _line(stream: IO[bytes], limit_s: float) -> bytes:
    """Return the first line of a stream, what there is of it at its end or after `limit_s`."""
    deadline_s, line = time.monotonic() + limit_s, b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([stream], [], [], max(0.0, deadline_s - time.monotonic()))
        part = stream.read1(1 << 16) if ready else b""  # type: ignore[attr-defined]
        if not part:
            break
        line += part
    return line
