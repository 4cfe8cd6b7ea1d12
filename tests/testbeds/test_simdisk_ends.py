"""However a simulated disk ends, nothing stays mounted, attached or running, and it is told."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from loops import levels, need
from served import IDE, SIZE_B, needs_disk

from fsgreen import commands
from fsgreen.devices import blockdev, mounts
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import Disk, open_testbed, sweep

HARNESS = """
import time
from fsgreen.devices import served
from fsgreen.testbeds import Disk, open_testbed
from tests.testbeds.served import serve_patiently
served.Server = serve_patiently
bed = open_testbed("simdisk", size_b=320 << 20, disk=Disk("wd200bb"))
mount = bed.prepare({"file_system": "ext4", "option": "default"})
bed.remount()
(mount.directory / "file").write_bytes(b"x" * 5_000_000)
print(mount.directory.parent, flush=True)
time.sleep(600)
"""


def servers_of(work: Path) -> list[int]:
    """The processes that have something in a work folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().decode().split("\0")
            if any(word.startswith(str(work)) for word in words):
                found.append(int(process.name))
    return found


def loops_of(work: Path) -> list[str]:
    """The loop devices on the disk that is served in a work folder."""
    names = [path.name for path in Path("/sys/block").glob("loop*")]
    return [name for name in names if blockdev.attached_as(name) == work / "served" / "disk"]


@needs_disk
def test_close_leaves_nothing_and_the_loop_device_as_it_was() -> None:
    """A queue of 4 that stayed with the device would slow down whoever gets it next."""
    opened = open_testbed("simdisk", size_b=SIZE_B, disk=Disk(IDE), scheduler="mq-deadline")
    mount = opened.prepare(levels("ext4", queue_depth=4))
    name, work = opened.device_name(), mount.directory.parent
    assert name is not None
    opened.close()
    opened.close()
    assert not work.exists()
    assert not mounts.under(work)
    assert blockdev.backing_file(name) is None
    queue = Path("/sys/block") / name / "queue"
    assert "[none]" in (queue / "scheduler").read_text()
    assert int((queue / "nr_requests").read_text()) > 4
    assert servers_of(work) == []


@needs_disk
def test_a_place_that_is_full_is_told_of_and_not_taken_for_the_file_systems_fault(
    tmp_path: Path,
) -> None:
    place = tmp_path / "in"
    place.mkdir()
    commands.run(["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", str(place)])
    try:
        with open_testbed("simdisk", folder=place, size_b=SIZE_B, disk=Disk(IDE)) as bed:
            made = bed.prepare(levels("ext4"))
            with (place / "others").open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(place).free - (8 << 20))
            (made.directory / "file").write_bytes(b"x" * (32 << 20))
            with pytest.raises(FsgreenError, match=r"disk lost data: .*No space"):
                bed.remount()
        assert [left.name for left in place.iterdir()] == ["others"]
    finally:
        commands.run(["umount", str(place)])


@needs_disk
def test_a_killed_harness_leaves_no_mount_no_device_and_no_process() -> None:
    harness = subprocess.Popen(
        [sys.executable, "-c", HARNESS], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert harness.stdout is not None
    work = Path(harness.stdout.readline().strip())
    assert servers_of(work)
    assert loops_of(work)
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    harness.stdout.close()
    done = sweep()
    assert f"removed {work}" in done
    assert not work.exists()
    assert not mounts.under(work)
    assert loops_of(work) == []
    assert servers_of(work) == []


@needs_disk
@pytest.mark.parametrize("file_system", ["ext4", "xfs"])
def test_a_killed_server_is_told_of_and_its_file_system_does_not_stay(file_system: str) -> None:
    """A mount without a disk would hang whoever looks at it, and every next start."""
    need(file_system)
    with open_testbed("simdisk", size_b=SIZE_B, disk=Disk(IDE)) as bed:
        work = bed.prepare(levels(file_system)).directory.parent
        (bed.remount().directory / "file").write_bytes(b"x" * 5_000_000)
        (server,) = servers_of(work)
        os.kill(server, signal.SIGKILL)
        with pytest.raises(FsgreenError, match="the simulated disk does not answer"):
            bed.restore()
    assert not work.exists()
    assert not mounts.under(work)
    assert loops_of(work) == []
