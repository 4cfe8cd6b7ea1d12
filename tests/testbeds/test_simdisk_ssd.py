"""An SSD in software: each trial begins in the state of its level, with files that are on flash."""

from __future__ import annotations

import mmap
import os
import random
from pathlib import Path

import pytest
from loops import levels
from served import IDE, needs_disk

from fsgreen import commands
from fsgreen.campaign.checks import check_device
from fsgreen.devices.simulatedvolume import ERASED, OVERWRITTEN, SIMULATED
from fsgreen.simdisk.server import require
from fsgreen.testbeds import Testbed

BLOCK_B = 4096
FILE_B = 32 << 20
SLOWER = {
    "capacity_gib = 74.53": "capacity_gib = 1.0",
    "command_ms = 0.025": "command_ms = 1.0",
    "bandwidth_mb_s = 250.0": "bandwidth_mb_s = 25.0",
}
"""Any machine can serve such a drive."""


@pytest.fixture
def ssd(tmp_path: Path) -> str:
    text = commands.run([require(), "show", "x25-m-g2"])
    for word, slower in SLOWER.items():
        assert word in text
        text = text.replace(word, slower)
    file = tmp_path / "ssd.toml"
    file.write_text(text)
    return str(file)


def counted(bed: Testbed) -> dict[str, int]:
    control = bed.simulator()
    assert control is not None
    counters: dict[str, int] = control.ask("counters")["counters"]
    return counters


def overwritten_at_random(file: Path, count: int) -> None:
    places = random.Random(1)
    fd = os.open(file, os.O_RDWR | os.O_DIRECT)
    try:
        with mmap.mmap(-1, BLOCK_B) as memory:
            for _ in range(count):
                os.pwritev(fd, [memory], places.randrange(FILE_B // BLOCK_B) * BLOCK_B)
    finally:
        os.close(fd)


@needs_disk
def test_files_are_made_in_no_time_and_read_from_flash(bed: Testbed, ssd: str) -> None:
    """Pages that the model knows nothing of would be read for nothing."""
    mount = bed.prepare(levels("ext2", disk=ssd))
    assert mount.state is not None
    assert (mount.state.name, mount.state.left) == ("initial", ERASED)
    file = mount.directory / "file"
    file.write_bytes(os.urandom(FILE_B))
    before = counted(bed)
    bed.remount()
    made = counted(bed)
    assert made["host_written_b"] == before["host_written_b"], "the drive took its time"
    file.read_bytes()
    assert counted(bed)["flash_read_b"] - made["flash_read_b"] >= FILE_B


@needs_disk
def test_a_used_drive_copies_and_an_erased_one_does_not(bed: Testbed, ssd: str) -> None:
    """A trial would begin on what those before it have left (rule 8)."""
    copied = {}
    for level, how in (("steady", OVERWRITTEN), ("initial", ERASED)):
        mount = bed.prepare(levels("ext2", disk=ssd, device=level))
        assert mount.state is not None and mount.state.left == how
        assert check_device(level, mount).ok
        file = mount.directory / "file"
        file.write_bytes(bytes(FILE_B))
        bed.remount()
        before = counted(bed)
        overwritten_at_random(file, 2000)
        copied[level] = counted(bed)["flash_copied_b"] - before["flash_copied_b"]
    assert copied["steady"] > 0
    assert copied["initial"] == 0


@needs_disk
def test_a_disk_that_rotates_is_served_after_it_and_has_no_state(bed: Testbed, ssd: str) -> None:
    bed.load({"disk": ssd})
    mount = bed.prepare(levels("ext2", disk=IDE))
    assert mount.state is not None and mount.state.left == SIMULATED
