"""Flash that answers late: a simulated disk that stands still, with ext4 on it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mounts_of_greenfs import needs_a_mount

from fsgreen import greenfs
from fsgreen.simdisk import Disk, Server
from tests.patience import wait_for
from tests.testbeds.served import ext4_on, needs_disk

OPENS = (
    "import os, sys; os.open(sys.argv[1], os.O_RDWR); print('open', flush=True); sys.stdin.read()"
)


@pytest.fixture
def slow() -> Iterator[tuple[Path, Server]]:
    """A folder in which `mnt` is on a simulated disk, and who serves that."""
    needs_a_mount()
    with (
        tempfile.TemporaryDirectory(prefix="late-") as name,
        ext4_on(Disk("wd200bb", clock="instant"), Path(name)) as (server, _),
    ):
        yield Path(name), server


@contextmanager
def standing_still(server: Server) -> Iterator[None]:
    """Nothing is read from the disk or written to it inside."""
    served = server._process.pid
    os.kill(served, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(served, signal.SIGCONT)


@needs_disk
def test_who_opens_a_file_to_change_it_does_not_wait_for_flash(slow: tuple[Path, Server]) -> None:
    """A compilation that opens its headers so took eight times as long on a slow flash."""
    home, server = slow
    flash, work, remote = home / "mnt" / "flash", home / "work", home / "remote"
    header = work / "header"
    with greenfs.Mount(flash, work, remote=remote):
        header.write_text("int main(void);")
    with greenfs.Mount(flash, work, remote=remote) as volume:
        volume.wait_for("holds all")
        assert header.read_text() == "int main(void);", "it is in memory now"
        subprocess.run(["sync", "-f", str(home / "mnt")], check=True)
        command = [sys.executable, "-c", OPENS, str(header)]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe) as opens, standing_still(server):
            assert opens.stdout is not None
            said: list[bytes] = []
            reads = threading.Thread(target=lambda: said.append(opens.stdout.readline()))
            reads.start()
            wait_for(lambda: not reads.is_alive(), "it waits for flash")
            assert said == [b"open\n"]
    assert (remote / "header").read_text() == "int main(void);"
