"""Every test has a registry of its own and leaves nothing mounted or attached."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import IDE, SIZE_B

from fsgreen.testbeds import Disk, folders, guard, mounts
from fsgreen.testbeds.simdisk import SimdiskTestbed


@pytest.fixture(autouse=True)
def private_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield
    known = [entry.readlink() for entry in folders.registry().iterdir() if entry.is_symlink()]
    left = [
        *(mount.point for folder in known for mount in mounts.under(folder)),
        *(folder for folder in known if folder.exists()),
    ]
    folders.sweep()
    assert left == []


@pytest.fixture
def foreign_loop(tmp_path: Path) -> Iterator[Path]:
    """Yield a loop device that belongs to someone else."""
    image = tmp_path / "someone-elses.img"
    image.write_bytes(b"")
    os.truncate(image, 64 << 20)
    device = Path(
        subprocess.run(
            ["losetup", "--find", "--show", str(image)], check=True, capture_output=True, text=True
        ).stdout.strip()
    )
    yield device
    for mount in mounts.mounted():
        if mount.source == str(device):
            subprocess.run(["umount", str(mount.point)], check=True)
    subprocess.run(["losetup", "--detach", str(device)], check=True)
    assert guard.backing_file(device.name) is None


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimdiskTestbed]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        opened = SimdiskTestbed(size_b=SIZE_B, disk=Disk(IDE))
    with opened:
        yield opened
