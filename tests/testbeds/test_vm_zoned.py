"""The testbed `vm` on a zoned disk: what can be made on it works, and begins on empty zones."""

from typing import Literal

import pytest
from loops import levels
from vms import need_guest, nightly

from fsgreen.devices.base import GuestAsked
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import Testbed, open_testbed
from fsgreen.workloads import load_workload

SEED = 7
SIZE_B = 512 << 20


def on_zones(drive: Literal["nvme", "null"], zone_mib: int) -> Testbed:
    """A guest with a disk of such zones."""
    need_guest()
    asked = GuestAsked(clock="tcg", drive=drive, drive_zone_mib=zone_mib)
    return open_testbed("vm", in_memory=True, size_b=SIZE_B, guest=asked)


def works_in(bed: Testbed, zone_mib: int, file_system: str, option: str) -> None:
    """Make a file system twice, and work in it: the second is made where the first was."""
    about = bed.describe()
    assert about["zoned"] == "host-managed" and about["zone_b"] == zone_mib << 20
    for _ in range(2):
        mount = bed.prepare(levels(file_system, option))
        assert mount.geometry["zone_b"] == zone_mib << 20
        assert mount.geometry["zones_count"] == SIZE_B // (zone_mib << 20)
        assert mount.scheduler == "mq-deadline"
        assert mount.state is not None and str(mount.state.left).startswith("zones reset; ")
        workload = load_workload("varmail", 0.002)
        with bed.entered():
            workload.prepare(mount.directory, SEED)
        mount = bed.remount()
        assert bed.resident_share() == 0
        with bed.entered():
            outcome = workload.run(mount.directory, SEED, 0.0, 0.5)
        assert outcome.summary.work_ops > 0
        bed.restore()


@nightly
def test_a_zoned_nvme_disk_takes_btrfs_and_says_why_it_takes_no_other() -> None:
    with on_zones("nvme", 16) as bed:
        works_in(bed, 16, "btrfs", "default")
        with pytest.raises(FsgreenError, match="ext4 overwrites"):
            bed.check(levels("ext4"))
        with pytest.raises(FsgreenError, match="no zone of this disk takes that"):
            bed.check(levels("f2fs", "discard"))
        with pytest.raises(FsgreenError, match="the scheduler kyber keeps no order"):
            bed.check(levels("btrfs", scheduler="kyber"))


@nightly
@pytest.mark.parametrize(
    ("zone_mib", "file_system", "option"), [(16, "btrfs", "default"), (4, "f2fs", "discard")]
)
def test_a_zoned_null_disk_takes_both(zone_mib: int, file_system: str, option: str) -> None:
    with on_zones("null", zone_mib) as bed:
        assert bed.describe()["conventional_zones_count"] >= 4
        works_in(bed, zone_mib, file_system, option)
