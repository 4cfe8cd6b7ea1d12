"""Real file systems on a disk in software: made, verified, cold, cut from power."""

from __future__ import annotations

import contextlib
import mmap
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from loops import levels, need
from served import IDE, SCSI, SIZE_B, needs_disk

from fsgreen import commands
from fsgreen.devices import mounts
from fsgreen.devices.queue import Queue
from fsgreen.meters import Capture, open_meters, simdisk
from fsgreen.simdisk import Control
from fsgreen.simdisk.server import require
from fsgreen.testbeds import Disk, Testbed, open_testbed

pytestmark = pytest.mark.usefixtures("caches_kept")

BLOCK_B = 4096


@contextlib.contextmanager
def block(content: bytes = b"") -> Iterator[mmap.mmap]:
    with mmap.mmap(-1, BLOCK_B) as memory:
        memory.write(content)
        yield memory


def write_block(fd: int, offset_b: int, number: int) -> None:
    with block(bytes([number]) * BLOCK_B) as memory:
        assert os.pwritev(fd, [memory], offset_b) == BLOCK_B


def read_block(fd: int, offset_b: int) -> int:
    """The number that fills a block."""
    with block() as memory:
        assert os.preadv(fd, [memory], offset_b) == BLOCK_B
        (number,) = set(memory[:])
        return number


def read_at(fd: int, offsets_b: list[int]) -> None:
    with block() as memory:
        for offset_b in offsets_b:
            assert os.preadv(fd, [memory], offset_b) == BLOCK_B


def control_of(bed: Testbed) -> Control:
    control = bed.simulator()
    assert control is not None
    return control


def cut_power(bed: Testbed) -> Path:
    """Cut the disk's power, unmount what is left, restore it, and return the device."""
    control_of(bed).ask("power", to="cut")
    bed.stack.unmount()
    control_of(bed).ask("power", to="restore")
    return Path(f"/dev/{bed.device_name()}")


@contextlib.contextmanager
def device(bed: Testbed) -> Iterator[int]:
    fd = os.open(f"/dev/{bed.device_name()}", os.O_RDWR | os.O_DIRECT | os.O_EXCL)
    try:
        yield fd
    finally:
        os.close(fd)


@needs_disk
@pytest.mark.parametrize("file_system", ["ext4", "xfs"])
def test_a_file_system_is_made_verified_and_cold_and_keeps_its_data(
    bed: Testbed, file_system: str
) -> None:
    need(file_system)
    made = bed.prepare(levels(file_system, "noatime"))
    (entry,) = [found for found in mounts.mounted() if found.point == made.directory]
    assert (entry.file_system, entry.source) == (file_system, made.device)
    assert "noatime" in made.mount_options
    assert made.geometry["block_b"] == BLOCK_B
    assert made.geometry["read_ahead_b"] == 128 << 10
    for number in range(20):
        (made.directory / f"file{number}").write_bytes(bytes([number]) * 100_000)
    mount = bed.remount()
    assert mount.simulated is not None and mount.simulated["disk"] == IDE
    assert bed.resident_share() == 0
    assert control_of(bed).ask("describe")["clock"] == "real"
    assert (mount.directory / "file7").read_bytes() == b"\7" * 100_000
    assert bed.warm() == 1
    bed.restore()
    assert not mounts.under(made.directory)


@needs_disk
def test_the_kernel_reads_ahead_as_the_cell_says_and_as_ever_afterwards(bed: Testbed) -> None:
    """Requests of the device are counted: what is set and not done would be another cell."""
    reads = {}
    for asked_kib in (0, 1024, None):
        mount = bed.prepare(levels("ext4", kernel_read_ahead_kib=asked_kib))
        file = mount.directory / "file"
        file.write_bytes(b"x" * (1 << 20))
        read_ahead_b = bed.remount().geometry["read_ahead_b"]
        assert read_ahead_b == (128 if asked_kib is None else asked_kib) << 10
        queue = Queue(bed.device_name() or "")
        with file.open("rb", buffering=0) as opened:
            before = queue.reads()
            while opened.read(BLOCK_B):
                pass
        reads[asked_kib] = queue.reads() - before
    assert reads[0] >= (1 << 20) // BLOCK_B, "a request for each page"
    assert reads[1024] < reads[None] < reads[0]


@needs_disk
def test_the_first_file_system_on_a_device_has_the_read_ahead_of_its_cell() -> None:
    """Where mkfs first has zeros written, the kernel puts its own read-ahead back."""
    with open_testbed("simdisk", size_b=SIZE_B, disk=Disk(IDE)) as bed:
        mount = bed.prepare(levels("ext4", kernel_read_ahead_kib=0))
        assert mount.geometry["read_ahead_b"] == 0
        assert bed.remount().geometry["read_ahead_b"] == 0


@needs_disk
def test_nothing_is_faster_than_the_model_while_it_keeps_the_time(bed: Testbed) -> None:
    """A disk that answers early would make every file system on it look good."""
    bed.load({})
    control = control_of(bed)
    control.ask("timing", reset=True)
    with device(bed) as fd:
        read_at(fd, [number * (SIZE_B // 8) for number in range(8)])
    timing = control.ask("timing")
    assert timing["requests"] == 8
    assert timing["early"] == 0


@needs_disk
def test_preparing_takes_no_time_of_the_disk(bed: Testbed) -> None:
    bed.prepare(levels("ext4"))
    assert control_of(bed).ask("describe")["clock"] == "instant"


@needs_disk
def test_partitions_are_quarters_that_do_not_overlap(bed: Testbed) -> None:
    """Two zones that shared a block would be one zone in the figure, and one file system's ruin."""
    sectors = control_of(bed).ask("describe")["sectors"]
    last_b = SIZE_B - BLOCK_B
    for partition in (1, 2, 3, 4):
        bed.load({"partition": partition})
        with device(bed) as fd:
            assert os.lseek(fd, 0, os.SEEK_END) == SIZE_B
            control_of(bed).ask("clock", to="instant")
            write_block(fd, 0, partition)
            write_block(fd, last_b, 10 + partition)
    for partition in (1, 2, 3, 4):
        bed.load({"partition": partition})
        control_of(bed).ask("clock", to="instant")
        with device(bed) as fd:
            assert (read_block(fd, 0), read_block(fd, last_b)) == (partition, 10 + partition)
        mount = bed.prepare(levels("ext4", partition=partition))
        assert mount.simulated is not None
        first_b = mount.simulated["offset_b"]
        assert (partition - 1) * sectors * 128 <= first_b
        assert first_b + SIZE_B <= partition * sectors * 128


@needs_disk
def test_either_the_kernel_or_the_simulator_sorts_and_the_depth_is_that_of_the_cell(
    bed: Testbed,
) -> None:
    asked = {"disk": SCSI, "scheduler": "mq-deadline", "queue_depth": 8}
    mount = bed.prepare(levels("ext4", **asked))
    assert (mount.scheduler, mount.queue_depth) == ("mq-deadline", 8)
    assert mount.simulated is not None
    assert (mount.simulated["disk"], mount.simulated["scheduler"]) == (SCSI, "fifo")
    asked = {"disk": SCSI, "scheduler": "elevator"}
    mount = bed.prepare(levels("ext4", **asked))
    assert mount.simulated is not None
    assert (mount.scheduler, mount.simulated["kernel_scheduler"]) == ("elevator", "none")
    assert mount.queue_depth == 64
    mount = bed.prepare(levels("ext4"))
    assert mount.scheduler == "none"
    assert mount.simulated is not None and mount.simulated["disk"] == IDE


@needs_disk
def test_a_disk_of_ones_own_is_a_level_and_its_record_tells_it_from_an_edited_one(
    bed: Testbed, tmp_path: Path
) -> None:
    """Trials before and after the edit would be pooled as if they had one disk."""
    own = tmp_path / "own.toml"
    text = commands.run([require(), "show", IDE])
    hashes = []
    for line in ("rpm = 7200\n", "rpm = 7000\n"):
        own.write_text(text.replace("rpm = 7200\n", line))
        bed.load({})
        bed.prepare(levels("ext4", disk=str(own)))
        simulated = bed.remount().simulated
        assert simulated is not None
        hashes.append(simulated["disk_sha256"])
    assert hashes[0] == bed.describe()["disk_sha256"] != hashes[1]


@needs_disk
def test_the_meters_energy_is_the_disks_own_account(bed: Testbed, tmp_path: Path) -> None:
    """A joule that the meter loses would be a joule that a file system saved."""
    bed.load({})
    control = control_of(bed)
    meters = open_meters(simdisk.tables([simdisk.DISK], control.path), bed.device_name)
    before = control.ask("energy")
    with Capture(meters, tmp_path / "power.raw") as capture, device(bed) as fd:
        read_at(fd, [number * 4 * BLOCK_B * 1024 % SIZE_B for number in range(60)])
        power, _ = capture.finish()
    after = control.ask("energy")
    for account in (before, after):
        # Each part is rounded to a microjoule by itself.
        rounding_uj = len(account["parts_uj"])
        assert sum(account["parts_uj"].values()) == pytest.approx(
            account["total_uj"], abs=rounding_uj
        )
    counted_j = 3600 * (power["energy_wh"].iloc[-1] - power["energy_wh"].iloc[0])
    drawn_j = (power["power_w"] * power["time_s"].diff()).iloc[1:].sum()
    assert drawn_j == pytest.approx(counted_j, abs=1e-6)
    assert (power["quality"] == "ok").all()
    whole_j = (after["total_uj"] - before["total_uj"]) / 1e6
    assert 0 < counted_j <= whole_j
    assert after["parts_uj"]["seek"] > before["parts_uj"]["seek"]


@needs_disk
def test_a_power_cut_loses_what_was_not_flushed_and_nothing_else(bed: Testbed) -> None:
    """A file system that survives because the simulator stores too much would pass for safe."""
    bed.load({})
    step_b = SIZE_B // 64
    with device(bed) as fd:
        for _ in range(10):  # a machine that stands still gives the disk time to store everything
            for number in range(64):
                write_block(fd, number * step_b, 1)
            os.fsync(fd)
            for number in range(0, 64, 2):
                write_block(fd, (number * 37 % 64) * step_b, 2)
            control_of(bed).ask("power", to="cut")
            control_of(bed).ask("power", to="restore")
            found = [read_block(fd, number * step_b) for number in range(64)]
            lost = found.count(1) - 32
            assert set(found) <= {1, 2}
            assert 0 <= lost <= 32
            if lost:
                break
    assert lost
    bed.load({})


@needs_disk
def test_a_file_system_is_mended_after_a_power_cut_and_keeps_what_was_synced(
    bed: Testbed,
) -> None:
    bed.prepare(levels("ext4"))
    place = bed.remount().directory
    with (place / "synced").open("wb") as file:
        file.write(b"x" * 100_000)
        file.flush()
        os.fsync(file.fileno())
    (place / "lost").write_bytes(b"y" * 100_000)
    found = cut_power(bed)
    assert not mounts.under(place)
    done = subprocess.run(["e2fsck", "-f", "-y", str(found)], capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stdout
    subprocess.run(["mount", str(found), str(place)], check=True)
    try:
        assert (place / "synced").read_bytes() == b"x" * 100_000
    finally:
        subprocess.run(["umount", str(place)], check=True)


@needs_disk
def test_steady_is_written_in_full_and_aged_comes_back(bed: Testbed) -> None:
    """Both are states of the file system's place, which the disk itself does not remember."""
    steady = bed.prepare(levels("ext2", device="steady")).state
    assert steady is not None
    assert (steady.name, steady.written_b >= SIZE_B) == ("steady", True)
    first, second = (
        bed.prepare(levels("ext2", device="aged"), seed=3).fragmentation for _ in range(2)
    )
    assert first is not None and first == second
