"""An SSD in software: each trial begins in the state of its level, with files that are on flash."""

from __future__ import annotations

import os

from loops import levels
from served import IDE, needs_disk, overwrite_at_random

from fsgreen.campaign.checks import check_device
from fsgreen.devices.served import SIMULATED
from fsgreen.simdisk.ssdstates import STATES
from fsgreen.testbeds import Testbed

FILE_B = 32 << 20


def counted(bed: Testbed) -> dict[str, int]:
    control = bed.simulator()
    assert control is not None
    counters: dict[str, int] = control.ask("counters")["counters"]
    return counters


@needs_disk
def test_files_are_made_in_no_time_and_read_from_flash(bed: Testbed, ssd: str) -> None:
    """Pages that the model knows nothing of would be read for nothing."""
    mount = bed.prepare(levels("ext2", disk=ssd))
    assert mount.state is not None
    assert (mount.state.name, mount.state.left) == ("initial", STATES["initial"])
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
    for level in ("steady", "initial"):
        mount = bed.prepare(levels("ext2", disk=ssd, device=level))
        assert mount.state is not None and mount.state.left == STATES[level]
        assert check_device(level, mount).ok
        file = mount.directory / "file"
        file.write_bytes(bytes(FILE_B))
        bed.remount()
        before = counted(bed)
        overwrite_at_random(file, FILE_B, 2000)
        copied[level] = counted(bed)["flash_copied_b"] - before["flash_copied_b"]
    assert copied["steady"] > 0
    assert copied["initial"] == 0


@needs_disk
def test_a_disk_that_rotates_is_served_after_it_and_has_no_state(bed: Testbed, ssd: str) -> None:
    bed.load({"disk": ssd})
    mount = bed.prepare(levels("ext2", disk=IDE))
    assert mount.state is not None and mount.state.left == SIMULATED
