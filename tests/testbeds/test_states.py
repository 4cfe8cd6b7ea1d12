"""Device states: made before each trial, whatever the one before did, and counted by the kernel."""

import os
from pathlib import Path

import pytest

from fsgreen.errors import FsgreenError
from fsgreen.testbeds import guard, image, open_testbed, options, present, states
from fsgreen.testbeds.queue import Queue

SIZE_B = 64 << 20
DISK = Path("/var/tmp")


@pytest.fixture(autouse=True)
def ext4_here() -> None:
    usable, why = present.usable_here(options.file_system("ext4"))
    if not usable:
        pytest.skip(f"ext4: {why}")


def image_of(folder: Path) -> Path:
    return next(folder.glob("fsgreen-loop-*/image"))


@pytest.mark.loop
def test_steady_is_written_in_full_before_every_trial() -> None:
    with open_testbed("loop", in_memory=True, size_b=SIZE_B) as bed:
        queue = Queue(bed.device_name() or "")
        for _ in range(2):
            before_b = queue.written_b()
            state = bed.prepare("ext4", "default", device="steady").state
            assert state is not None and state.name == "steady"
            assert SIZE_B <= state.written_b <= queue.written_b() - before_b
            assert bed.remount().state == state


@pytest.mark.loop
def test_an_image_in_memory_is_initial_without_being_written_again() -> None:
    with open_testbed("loop", in_memory=True, size_b=SIZE_B) as bed:
        for _ in range(2):
            state = bed.prepare("ext4", "default").state
            assert state is not None
            assert (state.name, state.written_b, state.discarded_b) == ("initial", 0, 0)


@pytest.mark.loop
def test_a_disk_that_discards_forgets_the_trial_before() -> None:
    with open_testbed("loop", folder=DISK, size_b=SIZE_B) as bed:
        file = image_of(DISK)
        if states._discarding_disk(file) is None:
            pytest.skip(f"{DISK} is not mounted with discard on a disk that takes it")
        first = bed.prepare("ext4", "default").state
        assert first is not None and first.written_b == 0
        second = bed.prepare("ext4", "default").state
        assert second is not None and second.written_b >= SIZE_B
        assert second.discarded_b > 0
        assert file.stat().st_blocks * 512 >= SIZE_B


@pytest.mark.loop
def test_a_hole_in_the_image_is_found_before_the_trial() -> None:
    with open_testbed("loop", in_memory=True, size_b=SIZE_B) as bed:
        bed.prepare("ext4", "default")
        bed.restore()
        file = image_of(Path("/dev/shm"))
        os.truncate(file, SIZE_B - 4096)
        os.truncate(file, SIZE_B)
        with pytest.raises(FsgreenError, match=f"hole at byte {SIZE_B - 4096}"):
            bed.prepare("ext4", "default")


@pytest.mark.loop
def test_writes_that_the_kernel_did_not_count_are_an_error() -> None:
    """A steady device that was never written would be a label without a fact."""
    with open_testbed("loop", in_memory=True, size_b=SIZE_B) as bed:
        counting = Path(f"/sys/block/{bed.device_name()}/queue/iostats")
        counting.write_text("0")
        try:
            with pytest.raises(FsgreenError, match=r"counted \d+ B written of") as caught:
                bed.prepare("ext4", "default", device="steady")
            assert str(counting) in (caught.value.next_step or "")
        finally:
            counting.write_text("1")


@pytest.mark.loop
def test_nothing_is_written_on_a_mounted_device(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_testbed("loop", in_memory=True, size_b=SIZE_B) as bed:
        device = Path(bed.prepare("ext4", "default").device or "")
        with pytest.raises(FsgreenError, match="is mounted on"):
            guard.open_to_overwrite(device, image=image_of(Path("/dev/shm")))


@pytest.mark.loop
def test_nothing_is_written_on_the_device_of_someone_else(
    foreign_loop: Path, tmp_path: Path
) -> None:
    ours = tmp_path / "ours"
    image.allocate(ours, 4 << 20)
    with pytest.raises(FsgreenError, match="not to our image"):
        states.LoopStates(foreign_loop, ours, 4 << 20).steady()


@pytest.mark.loop
def test_an_unknown_state_is_refused_with_the_nearest() -> None:
    with (
        open_testbed("loop", in_memory=True, size_b=SIZE_B) as bed,
        pytest.raises(FsgreenError, match="did you mean aged"),
    ):
        bed.prepare("ext4", "default", device="age")
