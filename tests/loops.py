"""What tests of devices, stacks and testbeds share: levels of cells, and nothing left behind."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fsgreen.devices import blockdev, folders, mounts
from fsgreen.stacks import filesystems
from tests.patience import wait_for


def levels(file_system: str, option: str = "default", **others: Any) -> dict[str, Any]:
    """The levels of a cell that leaves everything else open."""
    return {"file_system": file_system, "option": option, **others}


def need(file_system: str) -> None:
    """Skip a test where this machine cannot make or mount a file system."""
    usable, why = filesystems.usable_here(filesystems.file_system(file_system))
    if not usable:
        pytest.skip(f"{file_system}: {why}")


@pytest.fixture(autouse=True)
def private_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every test has a registry of its own and leaves nothing mounted or attached."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield
    known = [entry.readlink() for entry in folders.registry().iterdir() if entry.is_symlink()]
    left = [
        *(mount.point for folder in known for mount in mounts.under(folder)),
        *(folder for folder in known if folder.exists()),
    ]
    folders.sweep()
    assert left == []


@contextmanager
def attached(file: Path) -> Iterator[Path]:
    """A loop device on a file or device, while the block lasts."""
    attach = ["losetup", "--find", "--show", str(file)]
    node = subprocess.run(attach, check=True, capture_output=True, text=True).stdout.strip()
    try:
        yield Path(node)
    finally:
        subprocess.run(["losetup", "--detach", node], check=True)


@pytest.fixture
def foreign_loop(tmp_path: Path) -> Iterator[Path]:
    """Yield a loop device that belongs to someone else."""
    image = tmp_path / "someone-elses.img"
    image.write_bytes(b"")
    os.truncate(image, 64 << 20)
    with attached(image) as device:
        yield device
        for mount in mounts.mounted():
            if mount.source == str(device):
                subprocess.run(["umount", str(mount.point)], check=True)
    # Whoever uses it last detaches it, and another one may take it at once.
    wait_for(lambda: blockdev.backing_file(device.name) != image, "it stays attached")
