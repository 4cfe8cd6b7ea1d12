"""GreenFS in trials: over ext4 on a loop device in RAM, cold, and gone again whatever happens."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from loops import levels, need

from fsgreen import greenfs, paths
from fsgreen.devices import blockdev, mounts
from fsgreen.errors import FsgreenError
from fsgreen.stacks import filesystems
from fsgreen.testbeds import Testbed, open_testbed, sweep
from tests.patience import wait_for

pytestmark = pytest.mark.usefixtures("caches_kept")

SIZE_B = 64 << 20
GREENFS = levels("greenfs")
HARNESS = """
import time
from fsgreen.testbeds import open_testbed
bed = open_testbed("loop", in_memory=True, size_b=64 << 20)
mount = bed.prepare({"file_system": "greenfs", "option": "default"})
(mount.directory / "file").write_bytes(b"x" * 5_000_000)
print(bed.device.work.path, bed.device_name(), flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Testbed]:
    need("greenfs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        opened = open_testbed("loop", in_memory=True, size_b=SIZE_B)
    with opened:
        yield opened


def below(bed: Testbed) -> Path:
    """The file system that has the folders."""
    return bed.device.work.path / "mount"


def processes_of(work: Path) -> list[int]:
    """The processes that were told of something in a work folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.fsencode(work) in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


@pytest.mark.loop
def test_programs_work_in_greenfs_and_the_record_says_so(bed: Testbed) -> None:
    """A trial that is called greenfs and ran on ext4 would be a wrong row in every table."""
    mount = bed.prepare(levels("greenfs", "noatime"))
    entry = mounts.holding(mount.directory)
    assert entry.point == mount.directory and entry.source.startswith("greenfs:")
    assert (mount.file_system, mount.option) == ("greenfs", "noatime")
    assert "noatime" in mount.mount_options and mount.mkfs[0].endswith("mkfs.ext4")
    assert mount.device == f"/dev/{bed.device_name()}"
    assert mounts.holding(below(bed)).source == mount.device
    assert mount.stacked is not None
    assert mount.stacked["program"] == "greenfs"
    assert mount.stacked["branches"] == ["flash", "remote", "disk"]
    assert len(mount.stacked["sha256"]) == 64
    assert set(mount.stacked["mount_options"]) <= set(entry.options)
    again = bed.prepare(levels("greenfs", "noatime"))
    assert again.stacked == mount.stacked, "rule 9 would find trials of one cell unlike each other"


@pytest.mark.loop
@pytest.mark.parametrize(
    ("option", "kept"),
    [
        ("default", {"remote", "disk"}),
        ("noremote", {"disk"}),
        ("nodisk", {"remote"}),
        ("nodisk+noremote", set()),
    ],
)
def test_when_the_files_are_made_every_folder_that_is_asked_for_has_them(
    bed: Testbed, option: str, kept: set[str]
) -> None:
    place = bed.prepare(levels("greenfs", option)).directory
    (place / "file").write_bytes(b"made")
    (bed.remount().directory / "later").write_bytes(b"made later")
    assert bed.remount().stacked is not None
    for branch in ("remote", "disk"):
        folder = below(bed) / branch
        assert folder.exists() == (branch in kept)
        if branch in kept:
            assert (folder / "file").read_bytes() == b"made"
            assert (folder / "later").read_bytes() == b"made later"


@pytest.mark.loop
def test_remount_is_cold_and_keeps_data(bed: Testbed) -> None:
    """A page that ext4 kept for GreenFS would make a cold trial a warm one."""
    place = bed.prepare(GREENFS).directory
    for number in range(20):
        (place / f"file{number}").write_bytes(bytes([number]) * 100_000)
    assert bed.resident_share() == 1
    assert bed.remount().directory == place
    assert bed.resident_share() == 0
    assert (place / "file7").read_bytes() == b"\7" * 100_000
    assert bed.resident_share() == pytest.approx(1 / 20)
    assert bed.warm() == 1


@pytest.mark.loop
def test_prepare_starts_afresh(bed: Testbed) -> None:
    (bed.prepare(GREENFS).directory / "old").touch()
    bed.remount()
    place = bed.prepare(GREENFS).directory
    assert not (place / "old").exists()
    assert not (below(bed) / "remote" / "old").exists()


@pytest.mark.loop
def test_in_a_trial_the_remote_is_brought_up_and_the_disk_sleeps(bed: Testbed) -> None:
    """Work would be called GreenFS's that it leaves to the night, or not be counted at all."""
    bed.prepare(GREENFS)
    place = bed.remount().directory
    (place / "file").write_bytes(b"worked")
    fd = os.open(place, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
    assert (below(bed) / "remote" / "file").read_bytes() == b"worked"
    said = greenfs.ask("status", "--flash", below(bed) / "flash")
    assert "connected; holds all" in said and "asleep; lacks changes" in said
    assert not (below(bed) / "disk" / "file").exists()


@pytest.mark.loop
def test_a_bounded_memory_is_refused(bed: Testbed) -> None:
    """The program's pages lie outside of the bound: the cell would have more than it says."""
    bed.check(GREENFS)
    with pytest.raises(FsgreenError, match="memory of greenfs cannot be bounded") as refused:
        bed.check(levels("greenfs", memory_mib=512))
    assert "leave memory_mib out" in (refused.value.next_step or "")


def test_what_is_missing_is_told_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = filesystems.file_system("greenfs")
    monkeypatch.setattr(filesystems, "_in_kernel", lambda: {"ext4"})
    monkeypatch.setattr(filesystems, "_has_module", lambda _: False)
    monkeypatch.setattr(paths, "program", lambda name: None if name == "greenfs" else name)
    usable, why = filesystems.usable_here(spec)
    assert not usable and "./run engine" in why
    monkeypatch.setattr(paths, "program", lambda name: name)
    monkeypatch.setattr(filesystems, "FUSE", Path("/nowhere/fuse"))
    with pytest.raises(FsgreenError, match="greenfs cannot be used here: no /nowhere/fuse") as told:
        filesystems.require(spec)
    assert "modprobe fuse" in (told.value.next_step or "")


@pytest.mark.loop
def test_close_leaves_nothing_even_when_a_file_is_open() -> None:
    """A workload that hangs must not keep the machine's mounts, loop devices and programs."""
    need("greenfs")
    opened = open_testbed("loop", in_memory=True, size_b=SIZE_B)
    mount = opened.prepare(GREENFS)
    work, name = opened.device.work.path, opened.device_name()
    assert name is not None and processes_of(work)
    fd = os.open(mount.directory / "open", os.O_WRONLY | os.O_CREAT)
    opened.close()
    assert not mounts.under(work)
    assert not work.exists()
    assert processes_of(work) == []
    with contextlib.suppress(OSError):  # nobody is there any more to be told of it
        os.close(fd)
    opened.close()
    behind = blockdev.backing_file(name)
    assert behind is None or work.name not in str(behind)


@pytest.mark.loop
def test_a_program_that_cannot_mount_leaves_nothing_mounted(
    bed: Testbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "greenfs"
    broken.write_text("#!/bin/sh\nprintf 'no such luck\\n  where: x\\n  next:  y\\n' >&2; exit 1\n")
    broken.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setattr(greenfs, "program", lambda: str(broken))
        with pytest.raises(FsgreenError, match="no such luck") as told:
            bed.prepare(GREENFS)
    assert (told.value.where, told.value.next_step) == ("x", "y")
    assert not mounts.under(bed.device.work.path)
    assert bed.prepare(GREENFS).directory.is_dir()


@pytest.mark.loop
def test_files_that_leave_no_room_for_their_copies_are_told_of(bed: Testbed) -> None:
    """A trial would begin with a disk that lacks what it is said to hold."""
    place = bed.prepare(levels("greenfs", "noremote")).directory
    (place / "file").write_bytes(os.urandom(40 << 20))
    with pytest.raises(
        FsgreenError, match="not every folder of the volume holds the files"
    ) as told:
        bed.remount()
    assert "image_mib" in (told.value.next_step or "")
    bed.restore()
    assert not mounts.under(bed.device.work.path)


@pytest.mark.loop
def test_a_killed_harness_leaves_no_mount_no_device_and_no_process() -> None:
    need("greenfs")
    harness = subprocess.Popen([sys.executable, "-c", HARNESS], stdout=subprocess.PIPE, text=True)
    assert harness.stdout is not None
    folder, name = harness.stdout.readline().split()
    work = Path(folder)
    assert processes_of(work)
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    harness.stdout.close()
    assert f"removed {work}" in sweep()
    assert not work.exists()
    assert not mounts.under(work)
    assert processes_of(work) == []
    wait_for(lambda: blockdev.backing_file(name) is None)
