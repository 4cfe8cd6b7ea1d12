"""NFS in a guest: ext4 that its kernel exports and mounts again, over the network of the cell."""

from collections.abc import Iterator

import pytest
from loops import levels
from vms import DISK_B, EMULATED, need_guest, nightly

from fsgreen import commands
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import Testbed, open_testbed
from fsgreen.workloads import load_workload

pytestmark = [nightly, pytest.mark.slow]

SEED = 7
SCALE = 1 / 64
READ_B = 4 << 20

CONNECT = """
import socket, time
start_s = time.monotonic()
socket.create_connection(("127.0.0.1", 2049)).close()
print(time.monotonic() - start_s)
"""


@pytest.fixture(scope="module")
def vm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Testbed]:
    need_guest()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        opened = open_testbed("vm", in_memory=True, size_b=DISK_B, guest=EMULATED)
    with opened:
        yield opened


def inside(vm: Testbed, *command: str) -> str:
    """What a program of the guest prints."""
    with vm.entered():
        return commands.run(command)


def mounted(vm: Testbed) -> str:
    return inside(vm, "cat", "/proc/mounts")


def read(vm: Testbed) -> float:
    """Make files, read them cold, and return how long the readers took."""
    mount = vm.remount()
    workload = load_workload("sequential-readers", SCALE, {"readers": 2})
    with vm.entered():
        workload.prepare(mount.directory, SEED)
    mount = vm.remount()
    assert vm.resident_share() == 0
    with vm.entered():
        outcome = workload.run(mount.directory, SEED, 0.0, 60.0)
    assert (outcome.summary.read_b, outcome.summary.errors) == (READ_B, {})
    return outcome.summary.duration_s


def test_readers_of_a_mounted_export_are_what_the_record_says(vm: Testbed) -> None:
    """A trial that is called one with 4 connections and had one would be a wrong row."""
    asked = {"nfs_connections": 4, "nfs_read_ahead_kib": 1024}
    cell = levels("nfs", "noatime", **asked)
    vm.check(cell)
    mount = vm.prepare(cell)
    assert mount.file_system == "nfs" and mount.mkfs[0] == "mkfs.ext4"
    assert "noatime" in mount.mount_options and mount.stacked is not None
    assert {"vers=4.2", "nconnect=4"} <= set(mount.stacked["mount_options"])
    assert (mount.stacked["connections"], mount.stacked["read_ahead_kib"]) == (4, 1024)
    assert f"127.0.0.1:/ {mount.directory} nfs4" in mounted(vm)
    read(vm)
    assert inside(vm, "cat", "/proc/self/mountstats").count("xprt:\ttcp") == 4
    vm.restore()
    assert "nfs4" not in mounted(vm) and "ext4" not in mounted(vm)
    assert inside(vm, "cat", "/proc/fs/nfsd/threads").strip() == "0"


def test_a_network_takes_as_long_as_it_is_asked_to(vm: Testbed) -> None:
    vm.prepare(levels("nfs", network_round_trip_ms=40))
    assert float(inside(vm, "python3", "-c", CONNECT)) >= 0.04
    vm.prepare(levels("nfs", connection_mbit_s=8))
    assert "maxrate 8Mbit" in inside(vm, "tc", "qdisc", "show", "dev", "lo")
    assert read(vm) > 0.9 * READ_B * 8 / 8e6, "one connection got more than it may"
    vm.prepare(levels("nfs"))
    assert "netem" not in inside(vm, "tc", "qdisc", "show", "dev", "lo")


def test_a_mount_that_a_program_works_in_is_not_left_half_there(vm: Testbed) -> None:
    directory = vm.prepare(levels("nfs")).directory
    sleeps = f"(cd {directory} && exec sleep 1000) >/dev/null 2>&1 & echo $! >/run/sleeps"
    inside(vm, "sh", "-c", sleeps)
    with pytest.raises(FsgreenError, match="still in use"):
        vm.remount()
    assert f"{directory} nfs4" in mounted(vm)
    inside(vm, "sh", "-c", "kill $(cat /run/sleeps)")
    assert vm.remount().directory == directory


def test_an_export_that_is_refused_is_told_of(vm: Testbed) -> None:
    """And the next trial has its file system."""
    inside(vm, "mount", "--bind", "/bin/false", "/usr/sbin/rpc.mountd")
    try:
        with pytest.raises(FsgreenError, match=r"rpc\.mountd does not come up"):
            vm.prepare(levels("nfs"))
    finally:
        inside(vm, "umount", "/usr/sbin/rpc.mountd")
    assert "nfs4" not in mounted(vm)
    assert vm.prepare(levels("nfs")).stacked is not None


def test_a_server_that_is_gone_is_an_error_and_no_endless_wait(vm: Testbed) -> None:
    directory = vm.prepare(levels("nfs")).directory
    inside(vm, "sh", "-c", f"echo kept >{directory}/file")
    directory = vm.remount().directory
    inside(vm, "rpc.nfsd", "0")
    with pytest.raises(FsgreenError, match="cat ended with status"):
        inside(vm, "cat", f"{directory}/file")
    assert vm.prepare(levels("ext2")).file_system == "ext2"
