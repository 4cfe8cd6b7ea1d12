"""A real disk as a testbed, played by loop devices: only the one that is confirmed is formatted."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loops import levels, need
from nvmedrive import nvme_cli
from patience import wait_for
from playeddisk import SERIAL, play

from fsgreen.audit.tree import Tree
from fsgreen.devices import blockdev, folders, mounts, nvme
from fsgreen.devices.block import DiskVolume
from fsgreen.devices.queue import Queue
from fsgreen.devices.volume import ROTATING
from fsgreen.errors import FsgreenError
from fsgreen.host import journal
from fsgreen.testbeds import ListedDisk, Testbed, open_testbed

pytestmark = [pytest.mark.loop, pytest.mark.usefixtures("caches_kept")]

SIZE_B = 64 << 20


@pytest.fixture(autouse=True)
def ext4_here() -> None:
    need("ext4")


@pytest.fixture
def disk(foreign_loop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The name by-id of a blank disk with a serial number."""
    return play(foreign_loop, tmp_path, monkeypatch)


def open_block(disk: Path, serial: str | None = SERIAL) -> Testbed:
    return open_testbed("block", size_b=32 << 20, listed=ListedDisk(disk, serial))


def head(disk: Path) -> bytes:
    with disk.open("rb") as file:
        return file.read(1 << 20)


def refused(disk: Path, said: str, serial: str | None = SERIAL) -> None:
    """The disk is refused, with a way on, and is byte for byte as it was."""
    before = head(disk)
    with pytest.raises(FsgreenError, match=said) as caught:
        open_block(disk, serial)
    assert caught.value.next_step
    assert head(disk) == before
    assert [entry.name for entry in folders.registry().iterdir() if entry.is_symlink()] == []


def test_a_confirmed_disk_is_formatted_measured_and_left_free(disk: Path) -> None:
    subprocess.run(["mkfs.ext2", "-q", str(disk.resolve())], check=True)
    with open_block(disk) as bed:
        about = bed.describe()
        assert (about["kind"], about["by_id"], about["serial"]) == ("block", str(disk), SERIAL)
        assert about["size_b"] == SIZE_B
        for file_system in ("ext4", "ext2"):
            mount = bed.prepare(levels(file_system))
            assert mount.device == str(disk.resolve())
            (mount.directory / "file").write_bytes(b"x" * 100_000)
            assert (bed.remount().directory / "file").read_bytes() == b"x" * 100_000
            assert bed.warm() == 1
            bed.restore()
            assert not mounts.under(mount.directory)
    assert blockdev.in_use(disk) is None
    assert blockdev.signatures(disk) == ["ext2"]


def test_a_disk_without_its_serial_number_in_the_file_is_refused(disk: Path) -> None:
    refused(disk, "does not confirm by its serial number", serial=None)


def test_another_serial_number_is_refused(disk: Path) -> None:
    """A disk that was swapped for another keeps its slot, and loses its data."""
    refused(disk, f"its serial number is {SERIAL}, the testbed file says WD-2", serial="WD-2")


def test_a_disk_that_has_no_serial_number_is_refused(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any text would be right for it."""
    monkeypatch.setattr(blockdev, "serial_of", lambda device: None)
    refused(disk, "no serial number that could confirm it")


def test_a_mounted_disk_is_refused_though_it_is_confirmed(disk: Path, tmp_path: Path) -> None:
    subprocess.run(["mkfs.ext4", "-q", str(disk.resolve())], check=True)
    point = tmp_path / "point"
    point.mkdir()
    subprocess.run(["mount", str(disk.resolve()), str(point)], check=True)
    refused(disk, f"is mounted on {point}")


def test_what_is_no_whole_disk_or_too_small_or_not_there_is_refused(
    disk: Path, tmp_path: Path
) -> None:
    with pytest.raises(FsgreenError, match="there is no such disk"):
        open_block(tmp_path / "gone")
    with pytest.raises(FsgreenError, match="a testbed file names"):
        open_testbed("block")
    with pytest.raises(FsgreenError, match=r"disk too small: the profile asks for 128 MiB"):
        open_testbed("block", size_b=128 << 20, listed=ListedDisk(disk, SERIAL))
    (blockdev.SYS_BLOCK / disk.resolve().name / "partition").write_text("1\n")
    refused(disk, "this is a partition")


def test_nobody_else_can_mount_or_format_it_while_it_waits(disk: Path, tmp_path: Path) -> None:
    node, point = str(disk.resolve()), tmp_path / "point"
    point.mkdir()
    with open_block(disk) as bed:
        for _ in range(2):
            for command in (["mount", node, str(point)], ["mkfs.ext4", "-q", node]):
                done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
                assert done.returncode != 0, command
            bed.prepare(levels("ext4"))
            bed.restore()


def test_a_disk_that_was_swapped_since_is_not_formatted(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The campaign of a week began with another disk at this name."""
    with open_block(disk) as bed:
        monkeypatch.setattr(blockdev, "serial_of", lambda device: "WD-2")
        with pytest.raises(FsgreenError, match="its serial number is WD-2"):
            bed.prepare(levels("ext4"))


@contextlib.contextmanager
def rotating(disk: Path, value: str) -> Iterator[None]:
    """Whether the disk calls itself rotating."""
    attribute = Queue(disk.resolve().name).folder / "rotational"
    before = attribute.read_text()
    attribute.write_text(value)
    try:
        yield
    finally:
        attribute.write_text(before)


def test_a_solid_state_disk_forgets_and_is_written_again(disk: Path) -> None:
    with rotating(disk, "0"), open_block(disk) as bed:
        for state, passes in (("initial", 1), ("steady", 2)):
            found = bed.prepare(levels("ext4", device=state)).state
            assert found is not None and found.name == state
            assert found.discarded_b >= SIZE_B == found.size_b
            assert passes * SIZE_B <= found.written_b < (passes + 1) * SIZE_B
            assert (found.left, found.remembers) == (None, False)


def test_a_rotating_disk_is_left_as_it_is(disk: Path) -> None:
    with rotating(disk, "1"), open_block(disk) as bed:
        found = bed.prepare(levels("ext4")).state
        assert found is not None
        assert (found.written_b, found.left, found.remembers) == (0, ROTATING, False)


def test_the_scheduler_of_a_cell_is_put_back(disk: Path) -> None:
    queue = Queue(disk.resolve().name)
    before = queue.scheduler
    other = next(name for name in queue.schedulers() if name != before)
    with open_block(disk) as bed:
        assert bed.prepare(levels("ext4", scheduler=other)).scheduler == other
        bed.restore()
        assert queue.scheduler == before


def test_the_read_ahead_of_a_cell_is_put_back(disk: Path) -> None:
    queue = Queue(disk.resolve().name)
    before_kib = queue.number("read_ahead_kb")
    with open_block(disk) as bed:
        mount = bed.prepare(levels("ext4", kernel_read_ahead_kib=before_kib + 64))
        assert mount.geometry["read_ahead_b"] == (before_kib + 64) << 10
        bed.restore()
        assert queue.number("read_ahead_kb") == before_kib


HARNESS = """
import json, sys, time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from fsgreen.devices import blockdev, guard
from fsgreen.testbeds import ListedDisk, open_testbed
blockdev.SYS_BLOCK = Path(sys.argv[2])
listed = ListedDisk(Path(sys.argv[1]), sys.argv[3])
bed = open_testbed("block", size_b=32 << 20, listed=listed, before=before)
bed.prepare({"file_system": "ext4", "option": "default", **json.loads(sys.argv[4])})
print("ready", flush=True)
time.sleep(600)
"""


SET_BY_HOST = """
from pathlib import Path
from fsgreen import host
changed = host.applied(["{word}"], disks=["{disk}"], tree=host.Tree(Path("{root}")))
before = host.before(changed.__enter__())
"""
"""Settings that hold while a harness lives."""


def kill_with(disk: Path, asked: dict[str, Any], first: str = "") -> None:
    """Kill a harness, which begins with the code `first`, once it has prepared a cell."""
    given = [disk, blockdev.SYS_BLOCK, SERIAL, json.dumps(asked)]
    harness = subprocess.Popen(
        [sys.executable, "-c", "before = {}\n" + first + HARNESS, *given],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert harness.stdout is not None
    assert harness.stdout.readline() == "ready\n"
    harness.send_signal(signal.SIGKILL)
    harness.communicate()


def test_a_killed_harness_leaves_no_mount_and_the_queue_goes_back(disk: Path) -> None:
    queue = Queue(disk.resolve().name)
    before, before_kib = queue.scheduler, queue.number("read_ahead_kb")
    other = next(name for name in queue.schedulers() if name != before)
    kill_with(disk, {"scheduler": other, "kernel_read_ahead_kib": before_kib + 64})
    assert (queue.scheduler, queue.number("read_ahead_kb")) == (other, before_kib + 64)
    report = folders.sweep()
    assert f"put back the scheduler {before} of {queue.name}" in report
    assert (queue.scheduler, queue.number("read_ahead_kb")) == (before, before_kib)
    assert blockdev.in_use(disk) is None


def test_a_read_ahead_that_no_cell_sets_is_left_to_others(disk: Path) -> None:
    """`fsgreen host` had set it for the campaign, and has put back the user's own."""
    queue = Queue(disk.resolve().name)
    before_kib = queue.number("read_ahead_kb")
    kill_with(disk, {})
    queue.set_number("read_ahead_kb", before_kib + 64)
    try:
        folders.sweep()
        assert queue.number("read_ahead_kb") == before_kib + 64
    finally:
        queue.set_number("read_ahead_kb", before_kib)


def test_a_scheduler_that_the_host_had_set_gives_way_to_the_users_own(
    disk: Path, tmp_path: Path
) -> None:
    """The guardian puts it back at once; what the campaign had found would come over it later."""
    queue = Queue(disk.resolve().name)
    before = queue.scheduler
    for name in ("sys", "proc"):
        (tmp_path / name).symlink_to(f"/{name}")
    of_host, of_cell = [name for name in queue.schedulers() if name != before][:2]
    kill_with(
        disk,
        {"scheduler": of_cell},
        SET_BY_HOST.format(root=tmp_path, word=f"scheduler={of_host}", disk=queue.name),
    )
    wait_for(lambda: journal.journals(Tree(tmp_path)) == [])
    assert queue.scheduler == before
    folders.sweep()
    assert queue.scheduler == before


@pytest.fixture
def works(disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the disk have a controller of NVMe; return the file with the state in which it works."""
    monkeypatch.setattr(nvme, "controller_of", lambda disk: "nvme7")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    nvme_cli(tmp_path, "/dev/nvme7")
    return tmp_path / "works"


def test_the_power_state_of_a_cell_is_set_and_recorded_and_put_back(
    disk: Path, works: Path
) -> None:
    with open_block(disk) as bed:
        assert bed.prepare(levels("ext4")).nvme is None
        assert bed.prepare(levels("ext4", nvme_power_state=2)).nvme == {"nvme_power_state": 2}
        assert (works.read_text(), bed.remount().nvme) == ("2\n", {"nvme_power_state": 2})
        assert bed.prepare(levels("ext4")).nvme == {"nvme_power_state": 0}
        with pytest.raises(FsgreenError, match="works in the states 0, 1, 2, not in '3'"):
            bed.check(levels("ext4", nvme_power_state=3))
        bed.prepare(levels("ext4", nvme_power_state=1))
        bed.restore()
        assert works.read_text() == "0\n"


def test_a_killed_harness_leaves_the_power_state_to_the_next(disk: Path, works: Path) -> None:
    first = "from fsgreen.devices import nvme\nnvme.controller_of = lambda disk: 'nvme7'\n"
    kill_with(disk, {"nvme_power_state": 2}, first)
    assert works.read_text() == "2\n"
    assert f"put back nvme_power_state 0 of {disk.resolve().name}" in folders.sweep()
    assert works.read_text() == "0\n"


def test_only_real_disks_are_held(disk: Path) -> None:
    """A loop device that is held could not be detached."""
    volume = DiskVolume(disk.resolve(), ListedDisk(disk, SERIAL), SIZE_B, lock_fd=-1)
    volume.hold()
    volume.hold()
    assert "cannot be opened alone" in (blockdev.in_use(disk) or "")
    volume.release()
    volume.close()
    volume.close()
    assert blockdev.in_use(disk) is None
