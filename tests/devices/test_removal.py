"""A work folder goes, whatever the kernel has detached by itself meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fsgreen import commands
from fsgreen.devices import blockdev, image, removal
from fsgreen.errors import FsgreenError


@pytest.fixture
def attached(tmp_path: Path) -> str:
    """A loop device on a file in the folder of the test."""
    image.allocate(tmp_path / "image", 4 << 20)
    device = commands.run(["losetup", "--find", "--show", str(tmp_path / "image")])
    return device.strip().removeprefix("/dev/")


@pytest.fixture
def lock_fd(tmp_path: Path) -> Iterator[int]:
    with (tmp_path / "lock").open("wb") as lock:
        yield lock.fileno()


@pytest.mark.loop
def test_a_device_that_detaches_by_itself_at_the_last_moment_is_no_fault(
    attached: str, lock_fd: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel detaches a device at its last close, which may come between look and action."""
    run = commands.run

    def late(command: list[str], lock_fd: int) -> str:
        run(command, lock_fd=lock_fd)
        return run(command, lock_fd=lock_fd)

    monkeypatch.setattr(commands, "run", late)
    assert removal.free_devices(tmp_path, lock_fd) == [f"detached {attached}"]
    assert blockdev.backing_file(attached) != tmp_path / "image"


@pytest.mark.loop
def test_a_device_that_stays_attached_is_told_of(
    attached: str, lock_fd: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(command: list[str], lock_fd: int) -> str:
        raise FsgreenError("losetup says no")

    with monkeypatch.context() as patch:
        patch.setattr(commands, "run", fail)
        with pytest.raises(FsgreenError, match="losetup says no"):
            removal.free_devices(tmp_path, lock_fd)
    assert removal.free_devices(tmp_path, lock_fd) == [f"detached {attached}"]
