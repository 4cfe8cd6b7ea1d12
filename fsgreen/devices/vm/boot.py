"""The command that starts QEMU for each clock, and what it needs on this machine."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fsgreen import audit, commands, durable, paths
from fsgreen.devices.vm import image
from fsgreen.devices.vm.counters import DISK as DRIVE
from fsgreen.devices.vm.counters import MONITOR
from fsgreen.devices.vm.image import Image
from fsgreen.devices.vm.wire import CONTROL, PROGRAMS
from fsgreen.errors import FsgreenError

QEMU = "qemu-system-x86_64"
KVM = Path("/dev/kvm")

REMEMBERED = "clocks.json"
"""The file, in the folder of the image, that says that KVM failed here."""

Clock = Literal["kvm", "tcg", "virtual"]
"""What a second of the guest is. With kvm (this machine's processor) and tcg (an emulated one), it
is a real second. With virtual, it is a fixed number of the guest's instructions, however long they
take here."""

Drive = Literal["virtio", "nvme", "null"]
"""The disk of the guest: an image of this machine behind virtio or NVMe, or the kernel's null block
device in the guest's memory, which takes a fixed time for each request."""

COMMAND_LINE = "console=ttyS0 panic=-1 quiet nokaslr mitigations=off random.trust_cpu=on"
"""Kernel arguments. After a panic, `panic=-1` restarts at once, and `-no-reboot` ends QEMU then."""

EPOCH = "2026-01-01T00:00:00"
"""The time of day at which a guest in virtual time begins."""

CONSOLE = "console"
OUTPUT = "output"
"""Files in the folder of the guest: messages of its kernel, and output of a job in virtual time."""

DISK = "image"
SERVED = "served/disk"
"""Files in the folder of the guest for its disk: an image, or the sectors of a simulated disk."""


@dataclass(frozen=True)
class Machine:
    """The guest's machine: its clock, its disk, and what limits them."""

    clock: Clock
    drive: Drive = "virtio"
    memory_mib: int = 1024
    """The memory of the guest. Its image takes about 200 MiB of it."""
    cores: int = 2
    """The number of its processors; one in virtual time."""
    seed: int = 1
    """The seed of its random numbers in virtual time."""
    dirty_mib: int | None = None
    """The limit of its dirty pages. The default is its kernel's own limit."""
    drive_mib_s: int | None = None
    drive_iops: int | None = None
    """The limits of its disk: MiB per second (`drive_mib_s`), requests per second."""
    drive_zone_mib: int | None = None
    """The size of a zone if its NVMe disk is zoned."""
    simulated_b: int | None = None
    """The bytes of a simulated disk that it sees. Without it, its disk is an image."""


def require() -> str:
    """Return the path of QEMU. Raises `FsgreenError` if it is not installed."""
    program = paths.program(QEMU)
    if program is None:
        raise FsgreenError(
            "QEMU, which runs the guest, is not installed",
            where=QEMU,
            next_step=commands.remedy(QEMU),
        )
    return program


def version() -> str:
    """Return the version of QEMU."""
    said = commands.run([require(), "--version"])
    found = re.search(r"version (\S+)", said)
    return found[1] if found else said.strip()


def kvm_opens() -> bool:
    """Return whether KVM can be opened. Only a running guest shows whether it works."""
    return os.access(KVM, os.R_OK | os.W_OK)


def kvm_failed() -> bool:
    """Return whether KVM has failed since this machine booted. Then it is not tried again."""
    try:
        found = json.loads((image.folder() / REMEMBERED).read_text())
    except (OSError, ValueError):
        return False
    return bool(found.get("boot_id") == _boot_id())


def remember_kvm_failed() -> None:
    """Record that KVM failed to run a guest here."""
    durable.write_json(image.folder() / REMEMBERED, {"boot_id": _boot_id(), "kvm": False})


def _boot_id() -> str | None:
    return audit.HERE.text("proc/sys/kernel/random/boot_id")


def command(machine: Machine, made: Image, initrd: Path | None = None) -> list[str]:
    """Return the command that starts a guest. It must run in the folder with the guest's files.

    `initrd` replaces the initial archive of the image, if it is given.
    """
    return [
        require(),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-machine", "q35", "-m", f"{machine.memory_mib}M"),
        *("-kernel", str(made.kernel), "-initrd", str(initrd or made.initrd)),
        *("-append", _kernel_arguments(machine)),
        *("-serial", f"file:{CONSOLE}"),
        *_processor(machine),
        # A job in virtual time writes to a second serial line, and gets no input.
        *(("-serial", f"file:{OUTPUT}") if machine.clock == "virtual" else _ports() + _monitor()),
        *_disk(machine),
    ]


def _kernel_arguments(machine: Machine) -> str:
    words = [COMMAND_LINE]
    if machine.clock == "virtual":
        words.append("norandmaps")
    if machine.dirty_mib is not None:
        words.append(f"sysctl.vm.dirty_bytes={machine.dirty_mib << 20}")
    return " ".join(words)


def _processor(machine: Machine) -> list[str]:
    if machine.clock == "kvm":
        return ["-accel", "kvm", "-cpu", "host", "-smp", str(machine.cores)]
    if machine.clock == "tcg":
        return ["-accel", "tcg,thread=multi", "-cpu", "max", "-smp", str(machine.cores)]
    return [
        *("-accel", "tcg,thread=single", "-cpu", "max", "-smp", "1"),
        *("-icount", "shift=0,sleep=off", "-rtc", f"base={EPOCH},clock=vm"),
        *("-seed", str(machine.seed)),
    ]


def _ports() -> list[str]:
    """Return the arguments for the agent's ports. Each is a socket in the folder."""
    words = ["-device", "virtio-serial-pci"]
    for number, name in enumerate((CONTROL, *PROGRAMS)):
        words += ["-chardev", f"socket,id=port{number},path={name},server=on,wait=off"]
        words += ["-device", f"virtserialport,chardev=port{number},name={name}"]
    return words


def _monitor() -> list[str]:
    """Return the arguments for the monitor of QEMU. The guest does not see it."""
    return [
        *("-chardev", f"socket,id=monitor,path={MONITOR},server=on,wait=off"),
        *("-mon", "chardev=monitor,mode=control"),
    ]


def _disk(machine: Machine) -> list[str]:
    if machine.drive == "null":
        return []
    of, size = DISK, ""
    if machine.simulated_b is not None:
        of, size = SERVED, f",size={machine.simulated_b}"
    limits = ""
    if machine.drive_mib_s is not None:
        limits += f",throttling.bps-total={machine.drive_mib_s << 20}"
    if machine.drive_iops is not None:
        limits += f",throttling.iops-total={machine.drive_iops}"
    return [
        *(
            "-drive",
            f"if=none,id={DRIVE},file={of},format=raw{size},cache=none,aio=threads{limits}",
        ),
        *_behind(machine),
    ]


def _behind(machine: Machine) -> list[str]:
    """Return the arguments for the device through which the guest reaches its drive."""
    if machine.drive_zone_mib is None:
        kind = {"virtio": "virtio-blk-pci", "nvme": "nvme"}[machine.drive]
        return ["-device", f"{kind},drive={DRIVE},serial=fsgreen"]
    zoned = f"zoned=on,zoned.zone_size={machine.drive_zone_mib << 20}"
    return [
        *("-device", "nvme,id=nvme,serial=fsgreen"),
        *("-device", f"nvme-ns,bus=nvme,drive={DRIVE},{zoned}"),
    ]
