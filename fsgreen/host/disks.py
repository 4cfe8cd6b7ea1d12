"""Settings of named disks: I/O scheduler, read-ahead, APM, APST, and the power state of NVMe."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence

from fsgreen import commands, paths
from fsgreen.audit import disks as known
from fsgreen.audit.tree import Tree
from fsgreen.devices.nvme import NO_APST, NO_DRIVE, Drive
from fsgreen.devices.queue import MODULES
from fsgreen.errors import FsgreenError
from fsgreen.host.base import OneFile, Target, read_only

BLOCK = known.BLOCK


class _OfDisks:
    """What the settings of disks have in common: targets are kernel names (`sda`)."""

    of_disks = True

    def identity(self, tree: Tree, target: str) -> str:
        """Return the number that the kernel gave this disk alone (diskseq, Linux 5.15), or serial.

        A disk that was unplugged, or a loop device that was set up again, has another one.
        """
        sequence = tree.text(f"{BLOCK}/{target}/diskseq")
        if sequence is not None:
            return f"disk number {sequence}"
        serial = known.serial(tree, target)
        return "" if serial is None else f"serial number {serial}"


class Scheduler(_OfDisks, OneFile):
    """The kernel's I/O scheduler of a disk."""

    name = "scheduler"
    summary = "the scheduler reorders requests: it belongs to the cell (rule 40)"
    wanted: str | None = None

    def find(self, tree: Tree, disks: Sequence[str]) -> list[Target]:
        """Return the disks, those without a choice with that as the obstacle."""
        return [
            Target(disk, now, read_only(tree) if now else "this disk has no choice of schedulers")
            for disk in disks
            for now in [self.read(tree, disk)]
        ]

    def obstacle(self, tree: Tree, target: str, value: str) -> str:
        """Refuse a scheduler that the kernel does not offer."""
        offered = tree.choices(self.file(target))
        if value in offered:
            return ""
        remedy = f": modprobe {value}-iosched" if value in MODULES else ""
        return f"there is no '{value}', only {', '.join(offered)}{remedy}"

    def read(self, tree: Tree, target: str) -> str | None:
        """Return the scheduler in use."""
        return tree.choice(self.file(target))

    def file(self, target: str) -> str:
        """Return the file of a disk."""
        return f"{BLOCK}/{target}/queue/scheduler"


class ReadAhead(_OfDisks, OneFile):
    """How much the kernel reads ahead of a sequential reader, in KiB."""

    name = "read-ahead"
    summary = "read-ahead decides what sequential reads cost"
    wanted: str | None = "128"  # the kernel's default (VM_READAHEAD_PAGES, linux/mm.h)

    def find(self, tree: Tree, disks: Sequence[str]) -> list[Target]:
        """Return the disks."""
        return [Target(disk, self.read(tree, disk), read_only(tree)) for disk in disks]

    def obstacle(self, tree: Tree, target: str, value: str) -> str:
        """Refuse what is no number of KiB."""
        return "" if re.fullmatch(r"[0-9]{1,7}", value) else f"'{value}' is no number of KiB"

    def file(self, target: str) -> str:
        """Return the file of a disk."""
        return f"{BLOCK}/{target}/queue/read_ahead_kb"


class _ByProgram(_OfDisks, ABC):
    """What settings have in common that a program sets for one kind of disk.

    Attributes
    ----------
    program : str
        The program, which asks the disk as root.
    begins : str
        How the kernel's names of such disks begin.
    others_lack : str
        The obstacle of all other disks.
    """

    program: str
    begins: str
    others_lack: str

    def find(self, tree: Tree, disks: Sequence[str]) -> list[Target]:
        """Return the disks, those that cannot be asked with the obstacle."""
        targets = []
        for disk in disks:
            now, obstacle = None, ""
            if not disk.startswith(self.begins):
                obstacle = self.others_lack
            elif paths.program(self.program) is None:
                remedy = commands.remedy(self.program)
                obstacle = f"not readable without {self.program}: {remedy}"
            else:
                now = self.read(tree, disk)
                obstacle = "" if now else f"{self.program} gets no answer here (it needs root)"
            targets.append(Target(disk, now, obstacle))
        return targets

    @abstractmethod
    def read(self, tree: Tree, target: str) -> str | None:
        """Return the value now, None if the disk does not tell it."""


class Apm(_ByProgram):
    """Advanced power management of an ATA disk, by hdparm: 1 saves most, 254 least, 255 is off."""

    name = "apm"
    summary = "with APM a disk parks its heads or spins down when it likes"
    wanted: str | None = "254"
    program = "hdparm"
    begins = "sd"
    others_lack = "no ATA disk"

    def obstacle(self, tree: Tree, target: str, value: str) -> str:
        """Refuse what is no level."""
        level = value.isdecimal() and 1 <= int(value) <= 255
        return "" if level else f"'{value}' is no level from 1 to 255"

    def read(self, tree: Tree, target: str) -> str | None:
        """Return the level, 255 for a disk whose APM is off."""
        try:
            return apm_level(commands.run(["hdparm", "-B", str(tree.path(f"dev/{target}"))]))
        except FsgreenError:
            return None

    def write(self, tree: Tree, target: str, value: str, lock_fd: int) -> None:
        """Set the level."""
        command = ["hdparm", "-B", value, str(tree.path(f"dev/{target}"))]
        commands.run(command, lock_fd=lock_fd)

    def by_hand(self, target: str, value: str) -> str:
        """Return the call of hdparm."""
        return f"hdparm -B {value} /dev/{target}"


class Apst(_OfDisks, OneFile):
    """How long, in us, an NVMe drive may take to wake from a power state that it chooses itself.

    Autonomous power state transitions (NVMe base specification, APST): 0 forbids them. `any` and
    `auto` lift the limit, which is nvme_core.default_ps_max_latency_us after the boot.
    """

    name = "apst"
    summary = "with APST an NVMe drive falls asleep when it likes, and wakes when it is asked"
    wanted: str | None = "0"

    def find(self, tree: Tree, disks: Sequence[str]) -> list[Target]:
        """Return the disks, those without APST with that as the obstacle."""
        targets = []
        for disk in disks:
            now = self.read(tree, disk)
            lacking = NO_APST if disk.startswith("nvme") else NO_DRIVE
            targets.append(Target(disk, now, read_only(tree) if now else lacking))
        return targets

    def obstacle(self, tree: Tree, target: str, value: str) -> str:
        """Refuse what is neither microseconds nor one of the kernel's words."""
        if re.fullmatch(r"auto|any|[0-9]{1,9}", value):
            return ""
        return f"'{value}' is neither a number of us nor auto or any"

    def file(self, target: str) -> str:
        """Return the file of a drive's controller."""
        return Drive(target).rest_file


class PowerState(_ByProgram):
    """The power state in which an NVMe drive works, by nvme-cli: 0 is the fastest."""

    name = "power-state"
    summary = "in another power state an NVMe drive has another speed and draws other watts"
    wanted: str | None = None
    program = "nvme"
    begins = "nvme"
    others_lack = NO_DRIVE

    def obstacle(self, tree: Tree, target: str, value: str) -> str:
        """Refuse a state that the drive lacks, or in which it only rests."""
        try:
            return Drive(target, tree).lacks_state(value)
        except FsgreenError as error:
            return error.what

    def read(self, tree: Tree, target: str) -> str | None:
        """Return the state in which the drive works, after it was woken."""
        state = Drive(target, tree).power_state()
        return None if state is None else str(state)

    def write(self, tree: Tree, target: str, value: str, lock_fd: int) -> None:
        """Set the state until the drive is reset."""
        Drive(target, tree).set_power_state(int(value), lock_fd)

    def by_hand(self, target: str, value: str) -> str:
        """Return the call of nvme."""
        return " ".join(Drive(target).state_command(int(value)))


def apm_level(text: str) -> str | None:
    """Return the level that `hdparm -B` printed, 255 for off, None if the disk has none."""
    match = re.search(r"APM_level\s*=\s*(off|[0-9]{1,3})\b", text)
    if match is None:
        return None
    return "255" if match[1] == "off" else match[1]
