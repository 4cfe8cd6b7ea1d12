"""Jobs in virtual time: a guest that runs by itself, in which a second is a count of instructions.

Everything is in the guest's memory, the job included; this machine's load, speed and disks change
nothing. The same job, image and QEMU give the same bytes. It says how much work software is, on a
disk whose requests take a fixed time; it is no measurement of a rate.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fsgreen.devices.folders import claim
from fsgreen.devices.image import DISK
from fsgreen.devices.vm import boot, guest
from fsgreen.devices.vm import image as guest_image
from fsgreen.devices.vm.boot import Machine
from fsgreen.devices.vm.cpio import Archive
from fsgreen.errors import FsgreenError
from fsgreen.progress import progress

LIMIT_S = 1800.0
"""How long a job may take here."""

LOOK_S = 0.5
"""How often it is looked how far a job is."""

SYSTEM_MIB = 640
"""Memory of the guest beside its disk."""

PLACE = "fsgreen/job.json"


def run(job: Mapping[str, Any], disk_b: int, *, seed: int = 1, limit_s: float = LIMIT_S) -> bytes:
    """Run a job and return what it wrote, a line of JSON for each trial.

    Parameters
    ----------
    job : mapping
        See `stacks.guest.job`.
    disk_b : int
        Bytes of its disk, which are memory of the guest.
    seed : int
        Of the guest's random numbers; another one gives another sample.
    limit_s : float
        How long it may take on this machine.

    Raises
    ------
    FsgreenError
        If it cannot be run, or ended before its end.
    """
    boot.require()
    image = guest_image.ensure()
    machine = Machine("virtual", "null", SYSTEM_MIB + (disk_b >> 20), 1, seed)
    work = claim(DISK, "vm")
    try:
        initrd = _with_job(image.initrd, work.path / "initrd", job)
        with guest.running(machine, image, work.path, work.lock_fd, initrd) as process:
            if not _ended(process, work.path, len(job["trials"]), limit_s):
                raise _failed(f"it was not done within {limit_s:.0f} s", work.path)
        written = _written(work.path)
        if b'{"end":' not in written:
            raise _failed("the guest ended before its end", work.path)
        return written
    finally:
        work.release()


def results(written: bytes) -> list[dict[str, Any]]:
    """Return what a job wrote of its trials."""
    said = [json.loads(line) for line in written.decode().splitlines()]
    return [line for line in said if "trial" in line]


def _ended(process: subprocess.Popen[bytes], folder: Path, trials: int, limit_s: float) -> bool:
    """Wait for the guest, and show how many trials it has done; return whether it has ended."""
    deadline_s = time.monotonic() + limit_s
    with progress(None, "trials in virtual time", "trial", total=trials) as bar:
        while time.monotonic() < deadline_s:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(min(LOOK_S, limit_s))
                return True
            bar.update(len(_written(folder).splitlines()[1:]) - bar.n)
    return False


def _written(folder: Path) -> bytes:
    """Return what the guest has written: nothing, where QEMU did not get so far."""
    file = folder / boot.OUTPUT
    return file.read_bytes() if file.exists() else b""


def _with_job(initrd: Path, into: Path, job: Mapping[str, Any]) -> Path:
    """Write the archive with the job behind it."""
    with into.open("wb") as both:
        with initrd.open("rb") as first:
            shutil.copyfileobj(first, both)
        archive = Archive(both)
        archive.file(PLACE, json.dumps(job, sort_keys=True).encode())
        archive.end()
    return into


def _failed(why: str, folder: Path) -> FsgreenError:
    words = guest.last_words(folder)
    return FsgreenError(
        f"the job in virtual time failed: {why}{f': {words}' if words else ''}",
        where=boot.QEMU,
        next_step="a smaller scale or image_mib in the profile; fsgreen doctor",
    )
