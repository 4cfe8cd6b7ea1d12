"""What works on this machine: which kinds of testbed, which file systems, and why or how."""

from __future__ import annotations

import os
from pathlib import Path

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.simdisk import BUILD, PROGRAM
from fsgreen.testbeds import commands, options
from fsgreen.testbeds.base import Availability


def available() -> list[Availability]:
    """Return each kind of testbed, whether it works here, and why or how to mend it."""
    usable = [spec.name for spec in file_systems() if spec.usable]
    if os.geteuid() != 0:
        loop = Availability("loop", False, "needs root: run the same command with sudo")
    elif not Path("/dev/loop-control").exists():
        loop = Availability("loop", False, "no loop devices in this kernel: modprobe loop")
    elif paths.program("losetup") is None:
        loop = Availability("loop", False, commands.remedy("losetup"))
    elif not usable:
        loop = Availability("loop", False, "apt-get install e2fsprogs xfsprogs btrfs-progs")
    else:
        loop = Availability("loop", True, f"root and loop devices; {', '.join(usable)}")
    if not loop.usable:
        simdisk = Availability("simdisk", False, loop.why)
    elif not Path("/dev/fuse").exists():
        simdisk = Availability("simdisk", False, "no FUSE in this kernel: modprobe fuse")
    elif paths.program(PROGRAM) is None:
        simdisk = Availability("simdisk", False, f"the engine is not installed: {BUILD}")
    else:
        simdisk = Availability("simdisk", True, "a disk in software, where it is asked for")
    without = "" if loop.usable else f"; loop {loop.why}"
    return [
        loop,
        Availability("directory", True, f"works everywhere, on one file system{without}"),
        simdisk,
    ]


def file_systems() -> list[Availability]:
    """Return each file system of fast10 and btrfs, whether this machine can make it, and why."""
    return [Availability(spec.name, *usable_here(spec)) for spec in options.FILE_SYSTEMS.values()]


def usable_here(spec: options.FileSystem) -> tuple[bool, str]:
    """Return whether this kernel and its tools can make and mount a file system, and why or how."""
    if spec.gone is not None:
        return False, f"n/a: {spec.gone}"
    if paths.program(spec.tool) is None:
        return False, commands.remedy(spec.tool)
    known = {line.split()[-1] for line in Path("/proc/filesystems").read_text().splitlines()}
    if spec.name not in known:
        try:
            commands.run(["modprobe", "--dry-run", "--quiet", spec.name])
        except FsgreenError:
            return False, "not in this kernel: boot one that has it"
    return True, f"{spec.tool} and the kernel have it"
