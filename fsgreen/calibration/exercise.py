"""Loads of known kinds for the calibration of a power model: processors and a disk, step by step.

The disk's seeks are those with which fast10 (section 4) drove its disk to its peak power: direct
reads by turns at the two ends. Reads go past the page cache from a descriptor that is open for
reading only; a device is never written to. Only our own scratch file is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import IO, Self

from fsgreen import testbeds
from fsgreen.devices import blockdev, image
from fsgreen.errors import FsgreenError

WORKER = Path(__file__).with_name("exercise_worker.py")
SCRATCH_B = 1 << 30
SEEK_B = 4 << 10
STREAM_B = 1 << 20
DEEP = 8
"""Seeks at once, so that requests are told from the time that the disk is busy."""

Load = tuple[str, ...]
"""Arguments of `exercise_worker.py` after the first."""


@dataclass(frozen=True)
class Step:
    """What runs at once for a while; `name` is its workload in the table of a fit."""

    name: str
    loads: tuple[Load, ...] = ()


IDLE = Step("idle")


@dataclass(frozen=True)
class Target:
    """What the disk is exercised on.

    `device` is the kernel's name of the disk in /proc/diskstats; `writable` only for a file that
    we made ourselves.
    """

    path: Path
    device: str
    size_b: int
    writable: bool


@contextmanager
def disk_target(place: Path | None, seed: int) -> Iterator[Target | None]:
    """Give what the disk is exercised on, None without a place; a scratch file goes at the end.

    `place` is a folder, where a scratch file of 1 GiB is made, or a block device, which is only
    read. Raises FsgreenError where it is neither, cannot be read, or where no disk is below.
    """
    if place is None:
        yield None
    elif place.is_block_device():
        yield Target(place, blockdev.kernel_name(place), _size_of_device(place), writable=False)
    else:
        with testbeds.open_testbed("directory", folder=place, size_b=SCRATCH_B) as testbed:
            device = testbed.device_name()
            if device is None:
                raise FsgreenError(
                    "this folder is on no disk that could be exercised",
                    where=place,
                    next_step="name a folder on a disk, or the disk itself, which is only read",
                )
            here = {"file_system": testbed.only_file_system(), "option": "default"}
            mount = testbed.prepare(here)
            scratch = mount.directory / "scratch"
            size_b = image.allocate(scratch, SCRATCH_B, seed=seed)
            yield Target(scratch, device, size_b, writable=True)


def steps(cores: int, target: Target | None, seed: int) -> list[Step]:
    """Return the steps of one pass.

    Idle; user mode on 25, 50, 75 and 100 % of the cores, on a single one, and on all for half of
    the time; system mode on half and all. With a target: seeks, seeks half of the time, eight at
    once and of large blocks, sequential reads, seeks beside user mode; writes where allowed.
    """
    pass_steps = [IDLE]
    pass_steps += [Step(f"user-{percent}", _cores("user", cores, percent)) for percent in _PERCENTS]
    pass_steps += [Step("user-single", _cores("user", cores, 100 / cores))]
    pass_steps += [Step("user-all-half", (("user", "0.5"),) * cores)]
    pass_steps += [
        Step(f"system-{percent}", _cores("system", cores, percent)) for percent in (50, 100)
    ]
    if target is not None:
        seek = _disk("seek", 1.0, target, SEEK_B, seed)
        pass_steps += [
            Step("disk-seek", (seek,)),
            Step("disk-seek-half", (_disk("seek", 0.5, target, SEEK_B, seed),)),
            Step("disk-seek-deep", (seek,) * DEEP),
            Step("disk-seek-large", (_disk("seek", 1.0, target, STREAM_B // 4, seed),)),
            Step("disk-sequential", (_disk("sequential", 1.0, target, STREAM_B, seed),)),
            Step("user-50-disk-seek", (*_cores("user", cores, 50), seek)),
        ]
        if target.writable:
            pass_steps.append(
                Step("disk-write", (_disk("write", 1.0, target, STREAM_B // 4, seed),))
            )
    return _without_duplicates(pass_steps)


class Exercise:
    """Runs the loads of one step from entry to exit, each in a process of its own."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._workers: list[tuple[Load, subprocess.Popen[bytes], IO[bytes]]] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for load in self._step.loads:
                stderr = stack.enter_context(tempfile.TemporaryFile())
                worker = subprocess.Popen(
                    [sys.executable, "-I", "-S", str(WORKER), str(os.getpid()), *load],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=stderr,
                )
                stack.callback(_end, worker)
                self._workers.append((load, worker, stderr))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def check(self) -> None:
        """Raise FsgreenError if a load has ended by itself."""
        for load, worker, stderr in self._workers:
            if worker.poll() is not None:
                stderr.seek(0)
                why = stderr.read().decode(errors="replace").strip().splitlines()
                raise FsgreenError(
                    f"the load {load[0]} of the step {self._step.name} stopped: "
                    f"{why[-1] if why else f'exit status {worker.returncode}'}",
                    where=load[2] if len(load) > 2 else None,
                    next_step="name a folder on a disk that takes direct I/O, or leave --disk out",
                )


_PERCENTS = (25, 50, 75, 100)


def _cores(kind: str, cores: int, percent: float) -> tuple[Load, ...]:
    """Loads that keep a percentage of the cores at work: as many as are whole, and one in part."""
    wanted = cores * percent / 100
    count = ceil(wanted - 1e-9)
    return tuple((kind, f"{min(1.0, wanted - nth):.3g}") for nth in range(count))


def _disk(kind: str, share: float, target: Target, request_b: int, seed: int) -> Load:
    whole = (str(target.path), str(target.size_b), str(request_b), str(seed))
    return (kind, f"{share:.3g}", *whole)


def _without_duplicates(several: Iterable[Step]) -> list[Step]:
    """Leave out steps whose loads are those of one before, as a single core is half of two."""
    first: dict[tuple[Load, ...], Step] = {}
    for step in several:
        first.setdefault(step.loads, step)
    return list(first.values())


def _end(worker: subprocess.Popen[bytes]) -> None:
    worker.kill()
    worker.wait()


def _size_of_device(device: Path) -> int:
    try:
        descriptor = os.open(device, os.O_RDONLY)
    except OSError as error:
        raise FsgreenError(
            f"the device cannot be read: {error.strerror}",
            where=device,
            next_step="read it as root, or name a folder on it",
        ) from error
    try:
        return os.lseek(descriptor, 0, os.SEEK_END)
    finally:
        os.close(descriptor)
