"""Device states: made before each trial, whatever the one before did, and counted by the kernel."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from loops import levels, need

from fsgreen.devices import blockdev, guard, image, imagevolume, mounts
from fsgreen.devices.queue import Queue
from fsgreen.devices.volume import ROTATING
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import open_testbed

SIZE_B = 64 << 20


@pytest.fixture(autouse=True)
def ext4_here() -> None:
    need("ext4")


def image_of(folder: Path) -> Path:
    return next(folder.glob("fsgreen-loop-*/image"))


@pytest.mark.loop
def test_steady_is_written_in_full_before_every_trial() -> None:
    with open_testbed("loop", in_memory=True, size_b=SIZE_B) as bed:
        queue = Queue(bed.device_name() or "")
        for _ in range(2):
            before_b = queue.written_b()
            state = bed.prepare(levels("ext4", device="steady")).state
            assert state is not None and state.name == "steady"
            assert SIZE_B <= state.written_b <= queue.written_b() - before_b
            assert bed.remount().state == state


@pytest.mark.loop
def test_an_image_in_memory_is_initial_without_being_written_again() -> None:
    with open_testbed("loop", in_memory=True, size_b=SIZE_B) as bed:
        for _ in range(2):
            state = bed.prepare(levels("ext4")).state
            assert state is not None
            assert (state.name, state.written_b, state.discarded_b) == ("initial", 0, 0)
            assert (state.left, state.remembers) == (imagevolume.IN_MEMORY, False)


@pytest.fixture
def solid_state() -> Iterator[Path]:
    """A folder on a disk that takes discards: a loop device on memory, which has no zones."""
    with open_testbed("loop", in_memory=True, size_b=4 * SIZE_B) as disk:
        folder = disk.prepare(levels("ext4")).directory
        subprocess.run(["mount", "-o", "remount,discard", str(folder)], check=True)
        yield folder


@pytest.mark.loop
def test_a_solid_state_disk_forgets_the_trial_before(solid_state: Path) -> None:
    with open_testbed("loop", folder=solid_state, size_b=SIZE_B) as bed:
        first = bed.prepare(levels("ext4")).state
        assert first is not None and (first.written_b, first.discarded_b) == (0, 0)
        assert (first.left, first.remembers) == (imagevolume.NEW, False)
        for name, passes in (("initial", 1), ("steady", 2)):
            state = bed.prepare(levels("ext4", device=name)).state
            assert state is not None and state.name == name
            assert state.discarded_b >= SIZE_B == state.size_b
            assert (state.left, state.remembers) == (None, False)
            assert passes * SIZE_B <= state.written_b < (passes + 1) * SIZE_B
            assert image_of(solid_state).stat().st_blocks * 512 >= SIZE_B


@pytest.mark.loop
def test_an_image_on_a_rotating_disk_stays_in_its_zone(solid_state: Path) -> None:
    below = Queue(mounts.holding(solid_state).source.removeprefix("/dev/"))
    (below.folder / "rotational").write_text("1")
    with open_testbed("loop", folder=solid_state, size_b=SIZE_B) as bed:
        bed.prepare(levels("ext4"))
        state = bed.prepare(levels("ext4")).state
        assert state is not None and (state.written_b, state.discarded_b) == (0, 0)
        assert (state.left, state.remembers) == (ROTATING, False)


@pytest.mark.loop
def test_a_disk_that_is_not_told_what_is_freed_remembers_and_the_record_says_so(
    solid_state: Path,
) -> None:
    """Most laptops mount without discard: every trial but the first finds what others wrote."""
    subprocess.run(["mount", "-o", "remount,nodiscard", str(solid_state)], check=True)
    with open_testbed("loop", folder=solid_state, size_b=SIZE_B) as bed:
        bed.prepare(levels("ext4"))
        state = bed.prepare(levels("ext4")).state
        assert state is not None and (state.written_b, state.discarded_b) == (0, 0)
        assert state.left == f"not restored: {solid_state} is mounted without discard"
        assert state.remembers is True
        steady = bed.prepare(levels("ext4", device="steady")).state
        assert steady is not None and steady.remembers is False


@pytest.mark.parametrize(("rotational", "discards"), [(1, 1), (0, 0)])
def test_why_nothing_can_be_discarded_is_known_of_each_disk(
    rotational: int, discards: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = {"rotational": rotational, "discard_max_bytes": discards}
    monkeypatch.setattr(imagevolume, "disk_of_mount", lambda _: "sda")
    monkeypatch.setattr(Queue, "number", lambda _, name: numbers[name])
    below = mounts.MountEntry("8:1", tmp_path, "ext4", "/dev/sda1", ("rw", "discard"))
    monkeypatch.setattr(mounts, "holding", lambda _: below)
    left, remembers = imagevolume.disk_below(tmp_path)[1:]
    if rotational:
        assert (left, remembers) == (ROTATING, False)
    else:
        assert (left, remembers) == ("not restored: sda takes no discards", True)
    monkeypatch.setattr(imagevolume, "disk_of_mount", lambda _: None)
    left, remembers = imagevolume.disk_below(tmp_path)[1:]
    assert left == "not restored: no disk is in sight below ext4"
    assert remembers is None, "nobody can tell"


@pytest.mark.loop
def test_holes_in_the_image_are_written_before_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_testbed("loop", in_memory=True, size_b=SIZE_B) as bed:
        bed.restore()
        file = blockdev.backing_file(bed.device_name() or "")
        assert file is not None
        os.truncate(file, SIZE_B - 4096)
        os.truncate(file, SIZE_B)
        assert list(image.holes(file, SIZE_B)) == [(SIZE_B - 4096, SIZE_B)]
        bed.prepare(levels("ext4"))
        assert list(image.holes(file, SIZE_B)) == []
        os.truncate(file, SIZE_B - 4096)
        os.truncate(file, SIZE_B)
        bed.restore()
        monkeypatch.setattr(image, "write_zeros", lambda *_: None)
        with pytest.raises(FsgreenError, match=f"hole at byte {SIZE_B - 4096}"):
            bed.prepare(levels("ext4"))


@pytest.mark.loop
@pytest.mark.parametrize("file_system", ["ext2", "ext4"])
def test_mkfs_leaves_no_block_that_a_trial_would_touch_first(
    solid_state: Path, file_system: str
) -> None:
    """A loop device on ext4 zeroes by unwritten extents: inode tables would be slow at first."""
    with open_testbed("loop", folder=solid_state, size_b=SIZE_B) as bed:
        bed.prepare(levels(file_system))
        assert list(image.holes(image_of(solid_state), SIZE_B)) == []


@pytest.mark.loop
def test_writes_that_the_kernel_did_not_count_are_an_error() -> None:
    """A steady device that was never written would be a label without a fact."""
    with open_testbed("loop", in_memory=True, size_b=SIZE_B) as bed:
        counting = Path(f"/sys/block/{bed.device_name()}/queue/iostats")
        counting.write_text("0")
        try:
            with pytest.raises(FsgreenError, match=r"counted \d+ B written of") as caught:
                bed.prepare(levels("ext4", device="steady"))
            assert str(counting) in (caught.value.next_step or "")
        finally:
            counting.write_text("1")


@pytest.mark.loop
def test_nothing_is_written_on_a_mounted_device() -> None:
    with open_testbed("loop", in_memory=True, size_b=SIZE_B) as bed:
        device = Path(bed.prepare(levels("ext4")).device or "")
        file = blockdev.backing_file(device.name)
        assert file is not None
        with pytest.raises(FsgreenError, match="is mounted on"):
            guard.open_to_overwrite(device, file)


@pytest.mark.loop
def test_nothing_is_written_on_the_device_of_someone_else(
    foreign_loop: Path, tmp_path: Path
) -> None:
    ours = tmp_path / "ours"
    image.allocate(ours, 4 << 20)
    with pytest.raises(FsgreenError, match="not to our image"):
        imagevolume.ImageVolume(foreign_loop, ours, 4 << 20, -1).steady()


@pytest.mark.loop
def test_an_unknown_state_is_refused_with_the_nearest() -> None:
    with (
        open_testbed("loop", in_memory=True, size_b=SIZE_B) as bed,
        pytest.raises(FsgreenError, match="did you mean aged"),
    ):
        bed.prepare(levels("ext4", device="age"))


def test_a_disk_that_is_told_minutes_later_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """btrfs by itself: each trial would wait for discards that come later, and be set aside."""
    numbers = {"rotational": 0, "discard_max_bytes": 1}
    monkeypatch.setattr(imagevolume, "disk_of_mount", lambda _: "nvme0n1")
    monkeypatch.setattr(Queue, "number", lambda _, name: numbers[name])
    for how, told in (("discard=async", False), ("discard=sync", True), ("discard", True)):
        below = mounts.MountEntry("0:30", tmp_path, "btrfs", "/dev/nvme0n1p3", ("rw", how))
        monkeypatch.setattr(mounts, "holding", lambda _, below=below: below)
        disk, left, _ = imagevolume.disk_below(tmp_path)
        assert (disk is not None, left is None) == (told, told)
