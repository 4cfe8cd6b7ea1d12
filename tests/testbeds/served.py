"""The disks that are served for tests of the testbed, and what that takes."""

import mmap
import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from fsgreen import commands, paths
from fsgreen.errors import FsgreenError
from fsgreen.simdisk import PROGRAM, Disk, Server
from fsgreen.simdisk.server import require
from tests.loops import attached
from tests.patience import LIMIT_S

IDE, SCSI = "wd200bb", "ddys-t36950n"
SIZE_B = 320 << 20
SLOWER = {
    "capacity_gib = 74.53": "capacity_gib = 1.0",
    "command_ms = 0.025": "command_ms = 1.0",
    "bandwidth_mb_s = 250.0": "bandwidth_mb_s = 25.0",
}

_served = pytest.mark.skipif(
    os.geteuid() != 0 or paths.program(PROGRAM) is None or not Path("/dev/fuse").exists(),
    reason="serves a disk through FUSE: as root, with the engine built (./run engine)",
)


def needs_disk(test: Callable[..., None]) -> Callable[..., None]:
    """Skip a test where no disk can be served; the kernel sees it behind a loop device."""
    return pytest.mark.loop(_served(test))


def serve_patiently(*given: Any, **named: Any) -> Server:
    """Serve a disk, as soon as the machine is fast enough for it."""
    deadline_s = time.monotonic() + LIMIT_S
    while True:
        try:
            return Server(*given, **named)
        except FsgreenError as error:
            if "floor of this machine" not in error.what or time.monotonic() > deadline_s:
                raise


def small_ssd(folder: Path) -> str:
    """Write the parameters of a small SSD, which any machine can serve; return the file."""
    text = commands.run([require(), "show", "x25-m-g2"])
    for word, slower in SLOWER.items():
        assert word in text
        text = text.replace(word, slower)
    file = folder / "ssd.toml"
    file.write_text(text)
    return str(file)


def overwrite_at_random(file: Path, size_b: int, count: int) -> None:
    """Write as many blocks of 4 KiB at random places of a file, around the page cache."""
    block_b = 4096
    places = random.Random(1)
    fd = os.open(file, os.O_RDWR | os.O_DIRECT)
    try:
        with mmap.mmap(-1, block_b) as memory:
            for _ in range(count):
                os.pwritev(fd, [memory], places.randrange(size_b // block_b) * block_b)
    finally:
        os.close(fd)


@contextmanager
def ext4_on(disk: Disk, home: Path) -> Iterator[tuple[Server, Path]]:
    """Serve a disk with an ext4 that is mounted on `home / "mnt"`; give its server and device."""
    with ExitStack() as undone:
        (home / "mnt").mkdir()
        lock = undone.enter_context((home / "lock").open("w"))
        server = serve_patiently(disk, home, lock_fd=lock.fileno())
        undone.callback(server.stop)
        device = undone.enter_context(attached(server.file))
        options = "lazy_itable_init=0,lazy_journal_init=0"  # nothing is written later
        subprocess.run(["mkfs.ext4", "-q", "-E", options, str(device), "64M"], check=True)
        subprocess.run(["mount", str(device), str(home / "mnt")], check=True)
        undone.callback(subprocess.run, ["umount", str(home / "mnt")], check=True)
        yield server, device
