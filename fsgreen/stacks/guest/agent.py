"""In the guest: its first program. It makes file systems and runs programs as it is asked.

What it works with is what makes them on any machine: `KernelStack` on a device. It ends with the
connection: the kernel then stops, and QEMU with it.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import platform
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fsgreen import commands
from fsgreen.devices.vm.wire import CONTROL, PROGRAMS, Channel, Ended
from fsgreen.errors import FsgreenError
from fsgreen.stacks import filesystems
from fsgreen.stacks.base import Mount
from fsgreen.stacks.guest import disk, programs
from fsgreen.stacks.kernel import KernelStack

MODULES = (
    "virtio_pci",
    "virtio_console",
    "virtio_blk",
    "nvme",
    "bfq",
    "kyber-iosched",
    "mq-deadline",
)
"""There is no udev that would load them."""

CONTROL_GROUPS = Path("/sys/fs/cgroup")
FILES = Path("/run/files")
JOB = Path("/fsgreen/job.json")
"""Where a job in virtual time lies, where the guest was started for one."""

OF_STACK = ("prepare", "remount", "resident_share", "warm", "unmount")
"""What is asked of the stack itself, by the names of its methods."""


class Agent:
    """Answers requests: each is a method, by its name."""

    def __init__(self) -> None:
        self._device: Any = None
        self._stack: KernelStack | None = None

    def ask(self, do: str, **what: Any) -> Any:
        """Do what is asked by the name of a method, of the stack or of this."""
        answer = getattr(self._made() if do in OF_STACK else self, do)(**what)
        if isinstance(answer, Mount):
            paths = {"directory": answer.directory, "below": answer.below}
            said = {name: None if path is None else str(path) for name, path in paths.items()}
            return {**asdict(answer), **said}
        return answer

    def open(self, **asked: Any) -> dict[str, Any]:
        """Bring the disk up, as `GuestDisk` takes it; return what it is."""
        self._device = disk.GuestDisk(**asked)
        self._stack = KernelStack(self._device)
        described: dict[str, Any] = self._device.describe()
        return described

    def check(self, levels: dict[str, Any]) -> None:
        """Raise `FsgreenError` if a cell cannot run here."""
        self._device.check(levels)
        self._made().check(levels)

    def load(self, levels: dict[str, Any]) -> None:
        """Bring the device of these levels, at rest."""
        self._made().unmount()
        self._device.load(levels)

    def restore(self) -> None:
        """Give the device back its scheduler."""
        self._device.restore()

    def queue_state(self) -> dict[str, Any]:
        """Return the queue as it is now."""
        return asdict(self._device.queue_state())

    def available(self) -> dict[str, str | None]:
        """Return for each file system why it cannot be made here, None where it can."""
        return {
            found.name: None if found.usable else found.why for found in filesystems.available()
        }

    def run(self, command: list[str]) -> str:
        """Run a tool to its end and return what it printed."""
        return commands.run(command)

    def put(self, name: str, content: str) -> str:
        """Keep a file; return where."""
        FILES.mkdir(exist_ok=True)
        file = FILES / name
        file.write_bytes(base64.b64decode(content))
        return str(file)

    def ping(self) -> None:
        """Say that somebody is there."""

    def _made(self) -> KernelStack:
        if self._stack is None:
            raise FsgreenError("the guest has no disk yet", next_step="open it first")
        return self._stack


def answer(agent: Agent, request: dict[str, Any]) -> dict[str, Any]:
    """Do what is asked, and return the answer, or what went wrong."""
    try:
        return {"answer": agent.ask(**request)}
    except FsgreenError as error:
        return {"error": {"what": error.what, "where": error.where, "next_step": error.next_step}}
    except (OSError, subprocess.SubprocessError) as error:
        return {"error": {"what": f"{type(error).__name__}: {error}", "where": None}}


def main() -> None:
    """Come up, say so, and answer until the connection ends."""
    os.environ["XDG_STATE_HOME"] = "/run/state"
    subprocess.run(["modprobe", "--all", *MODULES], check=False)
    if JOB.exists():
        from fsgreen.stacks.guest import job

        job.run(Agent().ask, json.loads(JOB.read_text()))
        return
    _offer_control_groups()
    for name in PROGRAMS:
        if os.fork() == 0:
            programs.serve(programs.port_of(name))
    channel = Channel(os.open(programs.port_of(CONTROL), os.O_RDWR))
    agent = Agent()
    channel.send(ready={"kernel": platform.release(), "python": platform.python_version()})
    with contextlib.suppress(Ended):
        while True:
            channel.send(**answer(agent, channel.receive()))


def _offer_control_groups() -> None:
    """Let the memory of a workload be bounded."""
    subprocess.run(["mount", "-t", "cgroup2", "cgroup2", str(CONTROL_GROUPS)], check=True)
    (CONTROL_GROUPS / "cgroup.subtree_control").write_text("+memory")


def first() -> None:
    """Be the first program: see to those whose parents ended, and stop the machine at the end."""
    agent = os.fork()
    if agent == 0:
        main()
        return
    try:
        while os.wait()[0] != agent:
            pass
    finally:
        Path("/proc/sysrq-trigger").write_text("b")  # nothing of the guest is kept


if __name__ == "__main__":
    first()
