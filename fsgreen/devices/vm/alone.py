"""Jobs in virtual time: a guest that runs alone, in which a second is a number of instructions.

Everything is in the guest's memory, including the job. So the load, the speed and the disks of this
machine change nothing: the same job, image and QEMU give the same bytes. The result tells how much
work software does, on a disk whose requests take a fixed time. It is no measurement of a rate.
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
"""Default limit of a job's real time."""

LOOK_S = 0.5
"""Interval of looks at the progress of a job."""

SYSTEM_MIB = 640
"""Memory of the guest without its disk."""

PLACE = "fsgreen/job.json"


def run(job: Mapping[str, Any], disk_b: int, *, seed: int = 1, limit_s: float = LIMIT_S) -> bytes:
    """Run a job as in `stacks.guest.job`; return its output, a line of JSON for each trial.

    The first line says which image and which QEMU wrote the rest. The disk is in the guest's
    memory. Another seed of the guest's random numbers gives another sample. `limit_s` is real time
    on this machine.

    Raises FsgreenError if the job cannot be run, is not done in time, or ends early.
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
        by = {"initrd_sha256": image.manifest["initrd_sha256"], "qemu": boot.version()}
        return json.dumps({"guest": by}).encode() + b"\n" + written
    finally:
        work.release()


def results(written: bytes) -> list[dict[str, Any]]:
    """Return what a job wrote about its trials, one mapping each."""
    said = [json.loads(line) for line in written.decode().splitlines()]
    return [line for line in said if "trial" in line]


def guest_of(written: bytes) -> Any:
    """Return the image and the QEMU that wrote this; None if it does not say so."""
    return json.loads(written[: written.index(b"\n")]).get("guest")


def _ended(process: subprocess.Popen[bytes], folder: Path, trials: int, limit_s: float) -> bool:
    """Wait for the guest and show the number of finished trials; return whether it has ended."""
    deadline_s = time.monotonic() + limit_s
    with progress(None, "trials in virtual time", "trial", total=trials) as bar:
        while time.monotonic() < deadline_s:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(min(LOOK_S, limit_s))
                return True
            bar.update(len(_written(folder).splitlines()[1:]) - bar.n)
    return False


def _written(folder: Path) -> bytes:
    """Return what the guest has written; nothing if QEMU did not get that far."""
    file = folder / boot.OUTPUT
    return file.read_bytes() if file.exists() else b""


def _with_job(initrd: Path, into: Path, job: Mapping[str, Any]) -> Path:
    """Write the archive `initrd`, followed by an archive with the job, to `into`; return `into`."""
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
