"""The zoned disk of a guest, before there is a guest: its size, its state, and what is refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fsgreen.devices import folders
from fsgreen.devices.vm.drive import OwnDrive, SimulatedDrive
from fsgreen.errors import FsgreenError
from fsgreen.simdisk import Disk


@pytest.fixture
def work(tmp_path: Path) -> Iterator[folders.WorkFolder]:
    claimed = folders.claim(tmp_path, "vm")
    yield claimed
    claimed.release()


def test_a_zoned_disk_has_whole_zones_and_its_record_says_that_they_are_reset(
    work: folders.WorkFolder,
) -> None:
    """The kernel would make a shorter zone of the rest, which no file system writes to."""
    drive = OwnDrive("null", work, 260 << 20, None, 16)
    assert drive.size_b == 272 << 20 == drive.asked["size_b"]
    assert drive.asked["zone_mib"] == 16
    assert drive.asked["states"]["initial"] == {
        "left": "zones reset; in the guest's memory: made when it started",
        "remembers": False,
    }
    plain = OwnDrive("null", work, 260 << 20, None)
    assert plain.size_b == 260 << 20 and "zones" not in plain.asked["states"]["initial"]["left"]


def test_a_disk_of_few_zones_is_refused_with_the_size_that_it_needs(
    work: folders.WorkFolder,
) -> None:
    """btrfs would find no zone to move data to, and say that the disk is full."""
    with pytest.raises(FsgreenError, match="256 MiB are 4 zones of 64 MiB") as told:
        OwnDrive("null", work, 256 << 20, None, 64)
    assert told.value.next_step == "image_mib: 1024 in the profile, or smaller zones"


def test_a_simulated_disk_has_no_zones(work: folders.WorkFolder) -> None:
    """It would count a reset as so many bytes written, and wear by them."""
    with pytest.raises(FsgreenError, match="the simulated disk x25-m-g2 has no zones") as told:
        SimulatedDrive("nvme", work, 512 << 20, None, Disk("x25-m-g2"), 16)
    assert "drive_zone_mib" in (told.value.next_step or "")
