"""Flash that answers late: a simulated disk that stands still, with ext4 on it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from loops import attached
from mounts_of_greenfs import needs_a_mount

from fsgreen import greenfs
from fsgreen.simdisk import Disk, Server
from tests.patience import wait_for
from tests.testbeds.served import needs_disk, serve_patiently

OPENS = (
    "import os, sys; os.open(sys.argv[1], os.O_RDWR); print('open', flush=True); sys.stdin.read()"
)


@pytest.fixture
def slow() -> Iterator[tuple[Path, Server]]:
    """A folder in which `mnt` is on a simulated disk, and who serves that."""
    needs_a_mount()
    with ExitStack() as undone:
        home = Path(undone.enter_context(tempfile.TemporaryDirectory(prefix="late-")))
        (home / "mnt").mkdir()
        lock = undone.enter_context((home / "lock").open("w"))
        server = serve_patiently(Disk("wd200bb", clock="instant"), home, lock_fd=lock.fileno())
        undone.callback(server.stop)
        device = undone.enter_context(attached(server.file))
        options = "lazy_itable_init=0,lazy_journal_init=0"  # nothing is written later
        made = ["mkfs.ext4", "-q", "-E", options, str(device), "64M"]
        subprocess.run(made, check=True)
        subprocess.run(["mount", str(device), str(home / "mnt")], check=True)
        undone.callback(subprocess.run, ["umount", str(home / "mnt")], check=True)
        yield home, server


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
