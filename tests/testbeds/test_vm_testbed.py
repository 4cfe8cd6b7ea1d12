"""The testbed `vm`: file systems that this kernel lacks, in a guest that may break."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from loops import levels
from patience import wait_for
from vms import DISK_B, EMULATED, need_guest, nightly

from fsgreen import commands, elsewhere
from fsgreen.devices import folders
from fsgreen.devices.base import GuestAsked
from fsgreen.devices.names import OF_NVME
from fsgreen.devices.vm import boot, device, guest, image
from fsgreen.errors import FsgreenError, TrialFailed
from fsgreen.host.disks import Apst
from fsgreen.testbeds import Testbed, open_testbed
from fsgreen.workloads import load_workload

SEED = 7
LACKING = ["reiserfs", *(pytest.param(name, marks=nightly) for name in ("nilfs2", "f2fs"))]
OTHERS = ("ext2", "ext3", "ext4", "xfs", "btrfs", "jfs")


@pytest.fixture(scope="module")
def vm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Testbed]:
    need_guest()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        opened = open_testbed("vm", in_memory=True, size_b=2 * DISK_B, guest=EMULATED)
    with opened:
        yield opened


def pid_of(vm: Testbed) -> int:
    """The process of QEMU."""
    process: int = vm.device._guest._process.pid
    return process


def works_in(vm: Testbed, file_system: str, option: str = "default") -> None:
    """Make a file system, work in it, and see that its cache is cold afterwards."""
    mount = vm.prepare(levels(file_system, option))
    assert mount.file_system == file_system and mount.mkfs[0] == f"mkfs.{file_system}"
    assert mount.guest is not None and mount.guest["clock"] == "tcg"
    workload = load_workload("varmail", 0.002)
    start_s = time.monotonic()
    before = vm.counters()
    with vm.entered():
        workload.prepare(mount.directory, SEED)
    mount = vm.remount()
    after = vm.counters()
    assert before is not None and after is not None
    assert after["disk_write_b"] > before["disk_write_b"] > 0, "what was written is not counted"
    assert after["disk_reads_count"] >= before["disk_reads_count"] > 0
    assert vm.resident_share() == 0
    with vm.entered():
        outcome = workload.run(mount.directory, SEED, 0.0, 0.5)
    assert outcome.summary.work_ops > 0
    [measured] = [phase for phase in outcome.phases if phase.name == "measure"]
    assert start_s < measured.start_s < measured.end_s < time.monotonic(), "another clock"


@pytest.mark.parametrize("file_system", LACKING)
def test_a_file_system_that_this_kernel_lacks_is_made_and_worked_in(
    vm: Testbed, file_system: str
) -> None:
    works_in(vm, file_system)


@nightly
@pytest.mark.slow
@pytest.mark.parametrize("file_system", OTHERS)
def test_every_other_file_system_works_too(vm: Testbed, file_system: str) -> None:
    works_in(vm, file_system)


@nightly
@pytest.mark.slow
@pytest.mark.parametrize("option", ["noatime", "notail", "wrbck", "dtlg", "blk1k", "blk2k"])
def test_the_options_of_reiserfs_that_fast10_measured_work(vm: Testbed, option: str) -> None:
    """Its table 2 cannot be measured again without them."""
    works_in(vm, "reiserfs", option)


def test_a_scheduler_is_set_in_the_guest(vm: Testbed) -> None:
    for scheduler in ("bfq", "mq-deadline", "none"):
        mount = vm.prepare(levels("ext2", scheduler=scheduler))
        assert mount.scheduler == scheduler


def test_what_the_guest_cannot_do_is_refused_before_a_trial(vm: Testbed) -> None:
    with pytest.raises(FsgreenError, match="does not bring about device: aged"):
        vm.check(levels("ext2", device="aged"))
    with pytest.raises(FsgreenError, match="does not bring about disk_mib_s"):
        vm.check(levels("ext2", disk_mib_s=5))
    with pytest.raises(FsgreenError, match="unknown scheduler 'cfq'"):
        vm.check(levels("ext2", scheduler="cfq"))
    with pytest.raises(FsgreenError, match="bcachefs cannot be used here"):
        vm.check(levels("bcachefs"))


def test_nilfs2_without_its_cleaner_is_no_trial(vm: Testbed) -> None:
    """It would fill up with what was overwritten, and be slower and slower."""
    with vm.entered():
        commands.run(["mount", "--bind", "/bin/true", "/sbin/nilfs_cleanerd"])
    try:
        with pytest.raises(FsgreenError, match="mounted without its cleaner") as told:
            vm.prepare(levels("nilfs2"))
        assert str(told.value.next_step).startswith(f"rm -r {image.folder()}")
    finally:
        with vm.entered():
            commands.run(["umount", "/sbin/nilfs_cleanerd"])


@nightly
def test_a_guest_that_panics_spoils_its_trial_and_the_next_gets_a_new_one(vm: Testbed) -> None:
    vm.prepare(levels("ext2"))
    with pytest.raises(TrialFailed, match=r"the guest ended: .*panic"), vm.entered():
        commands.run(["sh", "-c", "echo c > /proc/sysrq-trigger"])
    vm.restore()
    assert vm.prepare(levels("ext2")).file_system == "ext2"


@nightly
def test_a_guest_that_hangs_is_ended(vm: Testbed, monkeypatch: pytest.MonkeyPatch) -> None:
    vm.prepare(levels("ext2"))
    before = pid_of(vm)
    os.kill(before, signal.SIGSTOP)
    with pytest.raises(TrialFailed, match="the guest hangs"):
        vm.device._guest.ask("ping", 0.2)
    assert not Path(f"/proc/{before}").exists()
    assert vm.prepare(levels("ext2")).file_system == "ext2"


@nightly
def test_a_program_of_a_guest_that_ended_is_no_fault_of_the_program(vm: Testbed) -> None:
    """The campaign stops for a workload that cannot run, and goes on after a broken guest."""
    mount = vm.prepare(levels("ext2"))
    workload = load_workload("varmail", 0.002)
    os.kill(pid_of(vm), signal.SIGKILL)
    with pytest.raises(TrialFailed, match="the guest ended"), vm.entered():
        workload.prepare(mount.directory, SEED)


@nightly
def test_f2fs_on_too_small_a_disk_says_how_large_it_must_be() -> None:
    need_guest()
    small = GuestAsked(clock="tcg", drive="null")
    with (
        open_testbed("vm", in_memory=True, size_b=48 << 20, guest=small) as bed,
        pytest.raises(FsgreenError, match="disk too small: f2fs default needs 52 MiB") as told,
    ):
        bed.check(levels("f2fs"))
    assert "image_mib" in (told.value.next_step or "")


@nightly
def test_a_guest_on_a_null_block_device_has_a_disk_of_a_fixed_time() -> None:
    need_guest()
    null = GuestAsked(clock="tcg", drive="null")
    with open_testbed("vm", in_memory=True, size_b=128 << 20, guest=null) as bed:
        mount = bed.prepare(levels("ext2"))
        assert mount.device is not None and mount.device.startswith("/dev/")
        assert mount.state is not None and mount.state.left == (
            "in the guest's memory: made when it started"
        )


@nightly
def test_a_guest_has_the_disk_and_the_bound_of_dirty_pages_that_are_asked_for() -> None:
    need_guest()
    asked = GuestAsked(clock="tcg", drive="nvme", dirty_mib=32, drive_mib_s=500)
    with open_testbed("vm", in_memory=True, size_b=DISK_B, guest=asked) as bed:
        assert bed.prepare(levels("ext4")).device == "/dev/nvme0n1"
        with bed.entered():
            assert elsewhere.text_of(Path("/proc/sys/vm/dirty_bytes")).strip() == str(32 << 20)
            commands.run(["test", "-e", "/sys/class/nvme/nvme0/power/control"])
            commands.run(["test", "!", "-e", f"/{Apst().file('nvme0n1')}"])  # docs/vm.md: no APST
        for factor in OF_NVME:
            with pytest.raises(FsgreenError, match="only a real NVMe drive can have"):
                bed.check(levels("ext4", **{factor: 1}))
        assert bed.describe()["guest_dirty_mib"] == 32


@nightly
def test_a_guest_that_does_not_come_up_is_tried_twice_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_guest()
    monkeypatch.setattr(
        boot, "COMMAND_LINE", "init=/nothing rdinit=/nothing panic=-1 console=ttyS0"
    )
    with pytest.raises(FsgreenError, match=r"did not come up, tried 2 x: .*panic"):
        open_testbed("vm", folder=tmp_path, size_b=64 << 20, guest=EMULATED)
    assert not list(tmp_path.glob("fsgreen-vm-*"))


@nightly
def test_kvm_that_opens_and_runs_no_guest_gives_way_to_emulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Clouds offer a device that opens; a guest on it hangs or dies."""
    made = need_guest()
    monkeypatch.setattr(boot, "kvm_opens", lambda: True)
    monkeypatch.setitem(guest.READY_S, "kvm", 0.0)
    monkeypatch.setattr(device.guest_image, "folder", lambda: tmp_path)
    monkeypatch.setattr(device.guest_image, "ensure", lambda: made)
    asked = GuestAsked(drive="null")
    with open_testbed("vm", in_memory=True, size_b=64 << 20, guest=asked) as bed:
        assert bed.describe()["clock"] == "tcg"
    assert "KVM opens here and runs no guest" in capsys.readouterr().out
    with open_testbed("vm", in_memory=True, size_b=64 << 20, guest=asked):
        pass
    assert "KVM" not in capsys.readouterr().out, "it was tried again"


@nightly
def test_a_harness_that_is_killed_leaves_no_guest(tmp_path: Path) -> None:
    need_guest()
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from fsgreen.devices.base import GuestAsked\n"
        "from fsgreen.testbeds import open_testbed\n"
        f"bed = open_testbed('vm', folder=Path({str(tmp_path)!r}), size_b=64 << 20,\n"
        "                   guest=GuestAsked(clock='tcg', drive='null'))\n"
        "print(bed.device._guest._process.pid, flush=True)\n"
        "time.sleep(1000)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as harness:
        assert harness.stdout is not None
        line = harness.stdout.readline()
        harness.kill()
    wait_for(lambda: not Path(f"/proc/{int(line)}").exists(), "QEMU goes on")
    assert [line.partition(" ")[0] for line in folders.sweep()] == ["removed"]


@nightly
def test_an_option_that_the_kernel_takes_and_ignores_is_no_trial(vm: Testbed) -> None:
    """Linux 6.1 mounts reiserfs with its log although nolog is asked for."""
    with pytest.raises(FsgreenError, match=r"not mounted as asked: .* without nolog"):
        vm.prepare(levels("reiserfs", "nolog"))
