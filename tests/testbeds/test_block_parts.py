"""Partitions and queue depth of a real disk, played by a loop device that has partitions."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from loops import attached, levels
from playeddisk import SERIAL, play

from fsgreen import paths
from fsgreen.devices import blockdev, folders, guard
from fsgreen.devices.queue import KEPT, Queue, put_back
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import ListedDisk, Testbed, open_testbed

pytestmark = pytest.mark.loop

MIB_B = 1 << 20
PARTS_MIB = {1: (4, 64), 2: (72, 48)}
"""Begin and size of each."""


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The name by-id of a disk with two partitions, and other data in front of them."""
    if paths.program("addpart") is None:
        pytest.skip("needs addpart of util-linux, which Debian 13 leaves out: run on Debian 12")
    image = tmp_path / "disk.img"
    image.write_bytes(b"\xa5" * (128 * MIB_B))
    with attached(image) as node:
        try:
            for number, (begin, size) in PARTS_MIB.items():
                sectors = [str(mib * MIB_B // 512) for mib in (begin, size)]
                subprocess.run(["addpart", str(node), str(number), *sectors], check=True)
            yield play(node, tmp_path, monkeypatch)
        finally:
            for number in PARTS_MIB:
                subprocess.run(["delpart", str(node), str(number)], check=False)


def open_block(disk: Path, partition: int | None = None, depth: int | None = None) -> Testbed:
    listed = ListedDisk(disk, SERIAL)
    return open_testbed(
        "block", size_b=40 * MIB_B, listed=listed, partition=partition, queue_depth=depth
    )


def content(disk: Path) -> bytes:
    """What is on the disk, whose page cache knows nothing of that of its partitions."""
    image = blockdev.backing_file(disk.resolve().name)
    assert image is not None
    return image.read_bytes()


def outside(disk: Path, number: int) -> bytes:
    """All of the disk but one partition."""
    begin, size = PARTS_MIB[number]
    whole = content(disk)
    return whole[: begin * MIB_B] + whole[(begin + size) * MIB_B :]


def test_a_cell_formats_its_partition_and_nothing_else(disk: Path) -> None:
    with open_block(disk, partition=1) as bed:
        for number in (1, 2, 1):
            cell = levels("ext4", partition=number)
            bed.check(cell)
            before = outside(disk, number)
            mount = bed.prepare(cell)
            assert mount.device == f"{disk.resolve()}p{number}"
            (mount.directory / "file").write_bytes(b"x" * 100_000)
            assert (bed.remount().directory / "file").read_bytes() == b"x" * 100_000
            assert bed.device_name() == disk.resolve().name
            bed.restore()
            assert outside(disk, number) == before
    assert blockdev.in_use(disk) is None


@pytest.mark.parametrize("used", [1, 2])
def test_a_partition_beside_one_in_use_is_refused(disk: Path, tmp_path: Path, used: int) -> None:
    """What others do to the same disk would be measured, and is soon a mistake in a number."""
    node, point = f"{disk.resolve()}p{used}", tmp_path / "point"
    subprocess.run(["mkfs.ext4", "-q", node], check=True)
    point.mkdir()
    subprocess.run(["mount", node, str(point)], check=True)
    try:
        before = content(disk)
        with pytest.raises(FsgreenError, match=f"is mounted on {point}"):
            open_block(disk, partition=1)
        assert content(disk) == before
    finally:
        subprocess.run(["umount", str(point)], check=True)


def test_a_partition_of_another_disk_or_none_is_refused(
    disk: Path, foreign_loop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FsgreenError, match="has no partition 3"):
        open_block(disk, partition=3)
    first = ListedDisk(disk, SERIAL, partition=1)
    monkeypatch.setattr(ListedDisk, "node", lambda self: foreign_loop)
    with pytest.raises(FsgreenError, match="refused to format"):
        guard.check_destructive(Path(f"{disk.resolve()}p2"), first)


def test_the_whole_disk_is_not_formatted_where_other_cells_name_partitions(disk: Path) -> None:
    """The first cell would take the partitions of all others away."""
    with open_block(disk, partition=1) as bed:
        bed.check(levels("ext4", partition=2))
    with open_block(disk) as bed:
        bed.check(levels("ext4", partition=2))
        with pytest.raises(FsgreenError, match="others would format the whole disk"):
            bed.check(levels("ext4"))


def test_the_queue_depth_of_a_cell_is_set_read_back_and_put_back(disk: Path) -> None:
    queue = Queue(disk.resolve().name)
    scheduler, most = queue.scheduler, queue.depth()
    with open_block(disk, partition=1) as bed:
        for depth, kernels in ((8, "none"), (16, "mq-deadline")):
            cell = levels("ext4", queue_depth=depth, scheduler=kernels)
            bed.check(cell)
            mount = bed.prepare(cell)
            assert (mount.queue_depth, mount.scheduler) == (depth, kernels)
        assert bed.prepare(levels("ext4")).queue_depth == most
        with pytest.raises(FsgreenError, match=f"takes 4 to {most} commands at once, not"):
            bed.check(levels("ext4", queue_depth=most + 1))
        bed.restore()
        assert (queue.scheduler, queue.depth()) == (scheduler, most)
    with pytest.raises(FsgreenError, match="commands at once, not 1"):
        open_block(disk, partition=1, depth=1)


def test_the_queue_depth_goes_back_after_a_kill(disk: Path, tmp_path: Path) -> None:
    queue = Queue(disk.resolve().name)
    scheduler, most = queue.scheduler, queue.depth()
    bed = open_block(disk, partition=1, depth=8)
    kept = (bed.device.work.path / KEPT).read_bytes()
    bed.close()
    assert (queue.scheduler, queue.depth()) == (scheduler, most)
    queue.set_depth(8)
    (tmp_path / KEPT).write_text(json.dumps(json.loads(kept) | {"identity": "of another disk"}))
    assert put_back(tmp_path) == []
    assert queue.depth() == 8
    (tmp_path / KEPT).write_bytes(kept)
    assert f"put back the queue depth {most} of {queue.name}" in put_back(tmp_path)
    assert (queue.scheduler, queue.depth()) == (scheduler, most)


def test_the_requests_of_a_scheduler_are_put_back(disk: Path, tmp_path: Path) -> None:
    """The kernel forgets them with the scheduler, which a campaign takes away for a moment."""
    queue = Queue(disk.resolve().name)
    scheduler = queue.scheduler
    queue.set_scheduler("mq-deadline")
    try:
        queue.set_number("nr_requests", 48)
        with open_block(disk, partition=1) as bed:
            bed.prepare(levels("ext4", scheduler="none"))
            kept = (bed.device.work.path / KEPT).read_bytes()
            bed.restore()
            assert (queue.scheduler, queue.number("nr_requests")) == ("mq-deadline", 48)
        queue.set_scheduler("none")
        (tmp_path / KEPT).write_bytes(kept)
        assert f"put back the 48 requests of the scheduler of {queue.name}" in put_back(tmp_path)
        assert (queue.scheduler, queue.number("nr_requests")) == ("mq-deadline", 48)
    finally:
        queue.set_scheduler(scheduler)


def test_what_cannot_be_put_back_is_named_and_the_rest_is(disk: Path, tmp_path: Path) -> None:
    """The only record of what was before was deleted with the folder."""
    queue = Queue(disk.resolve().name)
    before_kib = queue.number("read_ahead_kb")
    queue.keep(tmp_path, scheduler="of-1995", read_ahead_kb=before_kib + 64)
    try:
        with pytest.raises(FsgreenError, match=r"the scheduler of-1995 of .* cannot be") as told:
            put_back(tmp_path)
        assert f"rm {tmp_path / KEPT}" in str(told.value.next_step)
        assert queue.number("read_ahead_kb") == before_kib + 64
    finally:
        queue.set_number("read_ahead_kb", before_kib)


def test_the_drivers_own_depth_is_set_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A SATA disk sorts what it has taken: its requests in the kernel would be another number."""
    queue = Queue("sdz")
    monkeypatch.setattr(queue, "folder", tmp_path / "queue")
    for folder in ("queue", "device"):
        (tmp_path / folder).mkdir()
    depth = tmp_path / "device" / "queue_depth"
    depth.write_text("31\n")
    assert (queue.depth(), queue.least_depth()) == (31, 1)
    queue.set_depth(1)
    assert depth.read_text() == "1"
    assert os.listdir(tmp_path / "queue") == []


def test_nothing_is_left_registered(disk: Path) -> None:
    with pytest.raises(FsgreenError, match="disk too small"):
        open_testbed("block", size_b=60 * MIB_B, listed=ListedDisk(disk, SERIAL), partition=2)
    assert [entry.name for entry in folders.registry().iterdir() if entry.is_symlink()] == []
