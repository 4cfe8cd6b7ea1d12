"""In the guest: its first program. It makes file systems and runs programs on request.

It uses the same code as any machine: `KernelStack` on a device. It ends with the connection. Then
the kernel stops, and QEMU with it.
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
from fsgreen.stacks.guest import disk, failures, programs
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
"""Kernel modules to load, as there is no udev that would do it."""

CONTROL_GROUPS = Path("/sys/fs/cgroup")
FILES = Path("/run/files")
JOB = Path("/fsgreen/job.json")
"""The file of a job in virtual time. It exists if the guest was started for one."""

OF_STACK = ("prepare", "remount", "resident_share", "warm", "unmount")
"""Requests to the stack itself, by the names of its methods."""


class Agent:
    """Answers requests. Each request is the name of a method."""

    def __init__(self) -> None:
        self._device: Any = None
        self._stack: KernelStack | None = None

    def ask(self, do: str, **what: Any) -> Any:
        """Call the method of this name, of the stack or of the agent; return its answer."""
        answer = getattr(self._made() if do in OF_STACK else self, do)(**what)
        if isinstance(answer, Mount):
            paths = {"directory": answer.directory, "below": answer.below}
            said = {name: None if path is None else str(path) for name, path in paths.items()}
            return {**asdict(answer), **said}
        return answer

    def open(self, **asked: Any) -> dict[str, Any]:
        """Bring the disk up, with the arguments of `GuestDisk`; return its description."""
        self._device = disk.GuestDisk(**asked)
        self._stack = KernelStack(self._device)
        described: dict[str, Any] = self._device.describe()
        return described

    def check(self, levels: dict[str, Any]) -> None:
        """Raise `FsgreenError` if a cell cannot run here."""
        self._device.check(levels)
        self._made().check(levels)

    def load(self, levels: dict[str, Any]) -> None:
        """Set the device to these levels, at rest."""
        self._made().unmount()
        self._device.load(levels)

    def restore(self) -> None:
        """Set the scheduler that the device had."""
        self._device.restore()

    def queue_state(self) -> dict[str, Any]:
        """Return the present queue."""
        return asdict(self._device.queue_state())

    def available(self) -> dict[str, str | None]:
        """Return, for each file system, why it cannot be made here; None if it can."""
        return {
            found.name: None if found.usable else found.why for found in filesystems.available()
        }

    def run(self, command: list[str]) -> str:
        """Run a tool to its end; return its output."""
        return commands.run(command)

    def put(self, name: str, content: str) -> str:
        """Write a file from its content in Base64; return its path."""
        FILES.mkdir(exist_ok=True)
        file = FILES / name
        file.write_bytes(base64.b64decode(content))
        return str(file)

    def ping(self) -> None:
        """Do nothing: the answer shows that the agent runs."""

    def _made(self) -> KernelStack:
        if self._stack is None:
            raise FsgreenError("the guest has no disk yet", next_step="open it first")
        return self._stack


def answer(agent: Agent, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out a request; return its answer, or its error."""
    try:
        return {"answer": agent.ask(**request)}
    except failures.OF_A_REQUEST as error:
        return {"error": failures.told(error)}


def main() -> None:
    """Start, report that the guest is ready, and answer requests until the connection ends."""
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
    """Mount the control groups, so that the memory of a workload can be limited."""
    subprocess.run(["mount", "-t", "cgroup2", "cgroup2", str(CONTROL_GROUPS)], check=True)
    (CONTROL_GROUPS / "cgroup.subtree_control").write_text("+memory")


def first() -> None:
    """Be the first program: reap orphaned processes, and stop the machine at the end."""
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
