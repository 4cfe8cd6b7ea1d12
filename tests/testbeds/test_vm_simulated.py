"""The testbed `vm` on a simulated disk: who sorts, which disk, what state, whose energy."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loops import levels
from patience import wait_for
from served import SIZE_B, needs_disk, overwrite_at_random
from vms import EMULATED, need_guest, nightly

from fsgreen.campaign import simulated
from fsgreen.campaign.checks import check_device
from fsgreen.devices import folders
from fsgreen.devices.queue import QueueState
from fsgreen.devices.vm.boot import SERVED
from fsgreen.devices.vm.drive import SimulatedDrive
from fsgreen.errors import FsgreenError
from fsgreen.meters import simdisk
from fsgreen.meters.core.host import SSD_COLUMNS
from fsgreen.simdisk import Control
from fsgreen.simdisk.ssdstates import STATES
from fsgreen.testbeds import Disk, open_testbed
from fsgreen.workloads import load_workload

SSD = "x25-m-g2-slowed"
IN_GUEST = {"queue_depth": 256, "schedulers": ["none", "mq-deadline"]}
"""What the kernel of a guest says of its disk."""


@pytest.fixture
def work(tmp_path: Path) -> Iterator[folders.WorkFolder]:
    claimed = folders.claim(tmp_path, "vm")
    yield claimed
    claimed.release()


@needs_disk
def test_either_the_guest_sorts_or_the_simulator_does(work: folders.WorkFolder) -> None:
    """With both, or with neither, a scheduler would have been measured that nobody asked for."""
    drive = SimulatedDrive("virtio", work, SIZE_B, None, Disk(SSD))
    try:
        described = drive.up(IN_GUEST)
        depth = drive.queue_of(QueueState("none", 256, 131072)).queue_depth
        assert described["disk"] == SSD and depth == described["queue_depth"] < 256

        def of(scheduler: str) -> tuple[dict[str, Any], QueueState]:
            asked = levels("ext2", scheduler=scheduler, disk=SSD)
            drive.check(asked)
            drive.load(asked)
            told = drive.in_guest(asked)
            assert "disk" not in told, "the guest knows no simulated disk"
            kernel = QueueState(told["scheduler"], told["queue_depth"], 131072)
            return told, drive.queue_of(kernel)

        told, queue = of("cfq")
        assert (told["scheduler"], told["queue_depth"]) == ("none", 256)
        assert queue.scheduler == "cfq" and queue.queue_depth == depth
        told, queue = of("mq-deadline")
        assert (told["scheduler"], told["queue_depth"]) == ("mq-deadline", depth)
        assert queue.scheduler == "mq-deadline" and queue.simulated is not None
        assert queue.simulated["scheduler"] == "fifo"
    finally:
        drive.close()


@needs_disk
def test_what_a_simulated_disk_of_a_guest_cannot_be_is_refused(work: folders.WorkFolder) -> None:
    with pytest.raises(FsgreenError, match="null block device itself"):
        SimulatedDrive("null", work, SIZE_B, None, Disk(SSD))
    with pytest.raises(FsgreenError, match="disk too small: the file system is to have"):
        SimulatedDrive("virtio", work, 20 << 30, None, Disk("wd200bb"))
    drive = SimulatedDrive("virtio", work, SIZE_B, None, Disk(SSD))
    try:
        drive.up(IN_GUEST)
        with pytest.raises(FsgreenError, match=f"has the disk {SSD}, and a cell asks for wd200bb"):
            drive.check(levels("ext2", disk="wd200bb"))
        with pytest.raises(FsgreenError, match="cannot choose partition"):
            drive.check(levels("ext2", partition=2))
        with pytest.raises(FsgreenError, match="scheduler"):
            drive.check(levels("ext2", scheduler="elevator-of-1995"))
    finally:
        drive.close()


@needs_disk
def test_a_used_drive_copies_and_an_erased_one_does_not(work: folders.WorkFolder, ssd: str) -> None:
    """Trials on a used drive would begin on one that was just erased (rule 8)."""
    drive = SimulatedDrive("virtio", work, SIZE_B, None, Disk(ssd))
    try:
        drive.up(IN_GUEST)
        control = drive.simulator()
        copied = {}
        for state in drive.states:
            drive.load(levels("ext2", device=state, disk=ssd))
            before = control.ask("counters")["counters"]["flash_copied_b"]
            overwrite_at_random(work.path / SERVED, SIZE_B, 2000)
            copied[state] = control.ask("counters")["counters"]["flash_copied_b"] - before
        assert copied["steady"] > copied["initial"] == 0
    finally:
        drive.close()


def parts_uj(control: Control) -> dict[str, int]:
    """The energy of each part of the disk since it is served."""
    account = simdisk.read_account(control.line("energy"))
    assert isinstance(account, simdisk.Account)
    return dict(account.parts_uj)


@nightly
@needs_disk
def test_a_file_system_that_this_kernel_lacks_works_on_a_simulated_ssd() -> None:
    """sun14 asks for NILFS2 and ReiserFS; no kernel of today has both."""
    need_guest()
    with open_testbed("vm", size_b=SIZE_B, guest=EMULATED, disk=Disk(SSD)) as bed:
        assert bed.describe()["rotational"] is False
        control = bed.simulator()
        assert control is not None
        for file_system in ("nilfs2", "reiserfs"):
            mount = bed.prepare(levels(file_system, scheduler="cfq", disk=SSD))
            assert mount.state is not None and "erased" in str(mount.state.left)
            workload = load_workload("varmail", 0.002)
            with bed.entered():
                workload.prepare(mount.directory, 7)
            mount = bed.remount()
            assert mount.scheduler == "cfq" and mount.simulated is not None
            assert bed.resident_share() == 0
            control.ask("timing", reset=True)
            before_uj, before = parts_uj(control), simulated.counters(bed)
            with bed.entered():
                outcome = workload.run(mount.directory, 7, 0.0, 0.5)
            assert outcome.summary.work_ops > 0
            grown = {name for name, uj in parts_uj(control).items() if uj > before_uj[name]}
            assert grown - {"idle"}, "the work took no energy of the disk"
            assert control.ask("timing")["requests"] > 0, "the work passed by the disk"
            after = simulated.counters(bed)
            for name in ("disk_write_b", *SSD_COLUMNS):
                assert after[name] > before[name], f"{name} is not counted"
            bed.restore()
        mount = bed.prepare(levels("ext2", device="steady", disk=SSD))
        assert mount.state is not None and mount.state.left == STATES["steady"]
        assert mount.state.written_b >= mount.state.size_b
        assert check_device("steady", mount).ok
        bed.restore()
        device: Any = bed.device
        os.kill(device._guest._process.pid, signal.SIGKILL)
        wait_for(lambda: not device._guest.alive())
        assert bed.prepare(levels("ext2", disk=SSD)).file_system == "ext2", "no new guest"
