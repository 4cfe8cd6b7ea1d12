"""A file that changed in part, on a remote whose file system shares blocks: a real XFS."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from loops import attached
from mounts_of_greenfs import needs_a_mount

from fsgreen import greenfs

pytestmark = pytest.mark.loop

SIZE_B = 32 << 20
WRITTEN_B = 64 << 10


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder in which `shared` is an XFS."""
    needs_a_mount()
    if shutil.which("mkfs.xfs") is None:
        pytest.skip("needs mkfs.xfs: apt-get install xfsprogs")
    with ExitStack() as undone:
        home = Path(undone.enter_context(tempfile.TemporaryDirectory(prefix="dirty-")))
        image = home / "image"
        image.touch()
        os.truncate(image, 512 << 20)
        device = undone.enter_context(attached(image))
        subprocess.run(["mkfs.xfs", "-q", device], check=True)
        (home / "shared").mkdir()
        # Else XFS sets room aside behind the end of a file that grows, and gives it back some time.
        apart = ["-o", "allocsize=64k"]
        subprocess.run(["mount", *apart, device, home / "shared"], check=True)
        undone.callback(subprocess.run, ["umount", home / "shared"], check=True)
        yield home


def test_a_version_takes_what_changed(home: Path) -> None:
    """Each change in a large file would take its whole size on the remote, and as long as that."""
    flash, work, remote = home / "flash", home / "work", home / "shared" / "remote"
    data = bytearray(os.urandom(SIZE_B))
    flash.mkdir()
    (flash / "large").write_bytes(data)
    with greenfs.Mount(flash, work, remote=remote):
        pass
    versions = remote / ".greenfs" / "history" / "large"
    before, before_b = set(versions.glob("*Z")), shutil.disk_usage(remote).used
    with greenfs.Mount(flash, work):
        file = os.open(work / "large", os.O_WRONLY)
        for offset in (5, SIZE_B // 2 + 4096, SIZE_B - 100):
            new = os.urandom(WRITTEN_B)
            data[offset : offset + WRITTEN_B] = new
            os.pwrite(file, new, offset)
        os.close(file)
    assert "holds all" in greenfs.ask("sync", "--flash", flash, "--remote", remote)
    assert (remote / "large").read_bytes() == data
    (version,) = set(versions.glob("*Z")) - before
    assert version.stat().st_size == SIZE_B
    assert shutil.disk_usage(remote).used - before_b < SIZE_B / 4
