"""Work folders: whatever kills the harness, the next start finds and removes what was left."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mounts_of_greenfs import needs_a_mount

from fsgreen import paths
from fsgreen.devices import blockdev, folders, image, mounts
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import sweep
from tests.patience import TRIES

NIGHTLY = "FSGREEN_NIGHTLY" in os.environ
KILLS = 20 if NIGHTLY else 6

HARNESS = """
import sys
from pathlib import Path
from fsgreen.testbeds import open_testbed
while True:
    with open_testbed("loop", folder=Path(sys.argv[1]), size_b=40 << 20) as bed:
        print("opened", flush=True)
        for file_system in ("ext4", "ext2", "ext3"):
            mount = bed.prepare({"file_system": file_system, "option": "default"})
            (mount.directory / "file").write_bytes(b"x" * 100_000)
            bed.remount()
"""


AGING = """
import sys
from pathlib import Path
from fsgreen.testbeds import open_testbed
with open_testbed("loop", folder=Path(sys.argv[1]), size_b=64 << 20) as bed:
    print("opened", flush=True)
    for seed in range(1000):
        bed.prepare({"file_system": "ext4", "option": "default", "device": "aged"}, seed=seed)
"""


def start(program: str, *arguments: str) -> "subprocess.Popen[str]":
    root = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    )


def kill(harness: "subprocess.Popen[str]") -> None:
    harness.send_signal(signal.SIGKILL)
    harness.communicate()


def loops_below(folder: Path) -> list[str]:
    return [
        path.name
        for path in Path("/sys/block").glob("loop*")
        if str(blockdev.backing_file(path.name) or "").startswith(str(folder))
    ]


@pytest.mark.loop
def test_nothing_is_left_after_kills_at_random_moments(tmp_path: Path) -> None:
    moment = random.Random(20)
    place = tmp_path / "images"
    place.mkdir()
    found_something = 0
    for _ in range(KILLS):
        harness = start(HARNESS, str(place))
        assert harness.stdout is not None
        harness.stdout.readline()
        time.sleep(moment.uniform(0, 0.4))
        kill(harness)
        report = sweep()
        found_something += any(line.startswith("removed ") for line in report)
        assert mounts.under(place) == []
        assert loops_below(place) == []
        assert list(place.iterdir()) == []
        assert [entry.name for entry in folders.registry().iterdir()] == ["lock"]
    assert found_something >= 3 * KILLS // 4


@pytest.mark.loop
def test_nothing_is_left_after_the_ager_was_killed(tmp_path: Path) -> None:
    """Killed while it writes the device, churns, keeps a copy or puts one back."""
    moment = random.Random(5)
    place = tmp_path / "images"
    place.mkdir()
    mounted = 0
    for nth in range(TRIES):
        if nth >= (5 if NIGHTLY else 3) and mounted:
            break
        harness = start(AGING, str(place))
        assert harness.stdout is not None
        harness.stdout.readline()
        while nth == 0 and not mounts.under(place):
            assert harness.poll() is None, "it ended before it had mounted anything"
            time.sleep(0.01)
        time.sleep(moment.uniform(0, 1.5))
        kill(harness)
        mounted += any(line.startswith("unmounted") for line in sweep())
        assert mounts.under(place) == []
        assert loops_below(place) == []
        assert list(place.iterdir()) == []
    assert mounted


@pytest.mark.loop
def test_running_testbed_is_left_alone(tmp_path: Path) -> None:
    """A second harness on the machine must not sweep away the first one's trial."""
    harness = start(
        HARNESS.replace(
            "bed.remount()",
            "bed.remount(); print('ready', flush=True); __import__('time').sleep(600)",
        ),
        str(tmp_path),
    )
    assert harness.stdout is not None
    try:
        lines = iter(harness.stdout.readline, "")
        assert "ready\n" in lines, "it ended before it was ready"
        assert sweep() == []
        assert mounts.under(tmp_path) and loops_below(tmp_path)
    finally:
        kill(harness)
    assert any(line.startswith("unmounted") for line in sweep())


@pytest.mark.loop
def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    for delay_s in (0.02 * nth for nth in range(0, 10, 1 if NIGHTLY else 3)):
        harness = start(HARNESS, str(tmp_path))
        assert harness.stdout is not None
        harness.stdout.readline()
        time.sleep(delay_s)
        harness.send_signal(signal.SIGINT)
        harness.communicate()
        assert mounts.under(tmp_path) == []
        assert list(tmp_path.glob("fsgreen-*")) == []


@pytest.mark.loop
def test_ctrl_c_before_a_with_has_begun_leaves_nothing(tmp_path: Path) -> None:
    """The moments at a statement's edges, where no `finally` of anybody's is in force."""
    harness = start(
        "import sys, time; from pathlib import Path; from fsgreen.testbeds import open_testbed\n"
        "bed = open_testbed('loop', folder=Path(sys.argv[1]), size_b=40 << 20)\n"
        "bed.prepare({'file_system': 'ext4', 'option': 'default'})\n"
        "print('opened', flush=True); time.sleep(600)",
        str(tmp_path),
    )
    assert harness.stdout is not None
    harness.stdout.readline()
    assert mounts.under(tmp_path)
    harness.send_signal(signal.SIGINT)
    harness.communicate()
    assert mounts.under(tmp_path) == []
    assert loops_below(tmp_path) == []
    assert list(tmp_path.glob("fsgreen-*")) == []


TOOL_OUTLIVES = """
import os, signal, sys
from pathlib import Path
from fsgreen import commands
from fsgreen.devices import blockdev, folders
work = folders.claim(Path(sys.argv[1]), "loop")
(work.path / "image").touch()
os.environ["PATH"] = sys.argv[1] + ":" + os.environ["PATH"]
print("claimed", flush=True)
commands.run(["slow-mkfs", str(work.path)], lock_fd=work.lock_fd)
"""


def test_tool_of_a_killed_harness_is_waited_for(tmp_path: Path) -> None:
    """A mkfs that still runs would write into a folder that is being removed."""
    tool = tmp_path / "slow-mkfs"
    tool.write_text('#!/bin/sh\ntouch "$1/started"\nsleep 3\necho done > "$1/../finished"\n')
    tool.chmod(0o755)
    harness = start(TOOL_OUTLIVES, str(tmp_path))
    assert harness.stdout is not None
    harness.stdout.readline()
    while not list(tmp_path.glob("fsgreen-loop-*/started")):
        assert harness.poll() is None, "the harness has ended: its error is above"
        time.sleep(0.01)
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    report = sweep()
    harness.communicate()
    assert (tmp_path / "finished").exists()
    assert report[-1].startswith("removed ")
    assert list(tmp_path.glob("fsgreen-*")) == []


def test_folder_of_an_own_testbed_is_not_swept(tmp_path: Path) -> None:
    work = folders.claim(tmp_path, "directory")
    assert sweep() == []
    assert work.path.is_dir()
    work.release()
    work.release()
    assert not work.path.exists()


def test_nothing_but_our_own_is_touched(tmp_path: Path) -> None:
    """A registry that was damaged or forged must not make sweep delete someone's files."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("precious")
    name = "fsgreen-loop-0123456789ab"
    (folders.registry() / name).symlink_to(precious)
    (folders.registry() / "other").symlink_to(precious)
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / name).symlink_to(precious)
    (folders.registry() / "fsgreen-loop-0123456789ac").symlink_to(tmp_path / "link" / name)
    assert len(sweep()) == 2
    assert (precious / "file").read_text() == "precious"
    assert os.listdir(precious) == ["file"]
    unregistered = tmp_path / name
    unregistered.mkdir()
    sweep()
    assert unregistered.is_dir()
    for entry in folders.registry().iterdir():
        entry.unlink()


def test_entry_without_folder_is_forgotten(tmp_path: Path) -> None:
    """The harness was killed between the entry and the folder, or the disk is gone."""
    (folders.registry() / "fsgreen-loop-0123456789ab").symlink_to(tmp_path / "gone")
    assert sweep() == []
    assert [entry.name for entry in folders.registry().iterdir()] == ["lock"]


def test_folder_without_owner_is_removed(tmp_path: Path) -> None:
    """The harness was killed between the folder and its lock."""
    folder = tmp_path / "fsgreen-loop-0123456789ab"
    folder.mkdir()
    (folders.registry() / folder.name).symlink_to(folder)
    assert sweep() == [f"removed {folder}"]
    assert not folder.exists()


def test_unwritable_parent_is_an_error_and_leaves_no_entry(tmp_path: Path) -> None:
    with pytest.raises(FsgreenError, match="cannot make a work folder") as caught:
        folders.claim(Path("/proc/sys"), "loop")
    assert "--folder" in (caught.value.next_step or "")
    assert [entry.name for entry in folders.registry().iterdir()] == ["lock"]


@pytest.mark.parametrize(
    ("name", "said", "next_step"),
    [
        ("missing", "does not exist", "mkdir -p"),
        ("file", "is not a directory", "--folder"),
        ("/dev/loop0", "is a device", "testbed file"),
    ],
)
def test_what_is_no_directory_is_told_with_what_helps(
    tmp_path: Path, name: str, said: str, next_step: str
) -> None:
    """Who names a disk as the folder was told to make a directory of its name."""
    (tmp_path / "file").touch()
    with pytest.raises(FsgreenError, match=said) as caught:
        folders.claim(tmp_path / name, "directory")
    assert next_step in (caught.value.next_step or "")


@pytest.mark.loop
def test_a_folder_on_a_disk_that_is_not_mounted_now_is_not_forgotten(
    foreign_loop: Path, tmp_path: Path
) -> None:
    """Its image would lie there for good once the disk is back."""
    point = tmp_path / "disk"
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", foreign_loop], check=True)
    subprocess.run(["mount", foreign_loop, point], check=True)
    killed = "import os, sys; from pathlib import Path; from fsgreen.devices import folders\n"
    killed += "folders.claim(Path(sys.argv[1]), 'loop'); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", killed, point], check=False)
    (folder,) = point.glob("fsgreen-loop-*")
    subprocess.run(["umount", point], check=True)
    (said,) = sweep()
    assert f"{point} is not mounted now" in said and "rm " in said
    subprocess.run(["mount", foreign_loop, point], check=True)
    assert sweep() == [f"removed {folder}"]
    assert sweep() == []


def test_a_fuse_whose_server_died_is_told_with_what_helps(tmp_path: Path) -> None:
    """Nothing below it can be looked at until somebody unmounts it."""
    needs_a_mount()
    flash, point = tmp_path / "flash", tmp_path / "point"
    flash.mkdir()
    point.mkdir()
    program = str(paths.program("greenfs"))
    server = subprocess.Popen([program, "mount", "--foreground", "--flash", flash, "--", point])
    try:
        while not os.path.ismount(point):
            assert server.poll() is None
            time.sleep(0.01)
        killed = "import os, sys; from pathlib import Path; from fsgreen.devices import folders\n"
        killed += "folders.claim(Path(sys.argv[1]), 'loop'); os.kill(os.getpid(), 9)"
        subprocess.run([sys.executable, "-c", killed, point], check=False)
        server.kill()
        server.wait()
        with contextlib.suppress(OSError):
            while point.stat():  # as the kernel remembers it, for a second
                time.sleep(0.05)
        with pytest.raises(FsgreenError, match="cannot be looked at: Transport") as told:
            image.require_directory(point)
        assert f"findmnt --target {point}" in str(told.value.next_step)
        (said,) = sweep()
        assert "cannot look at" in said
        assert "umount it: the next fsgreen measure looks again" in said
    finally:
        server.kill()
        server.wait()
        unmount = ["umount", "-l"] if os.geteuid() == 0 else ["fusermount3", "-u", "-z"]
        subprocess.run([*unmount, point], check=False)
        for entry in folders.registry().glob("fsgreen-*"):
            entry.unlink()


@pytest.mark.loop
def test_an_immutable_file_is_told_with_what_helps(foreign_loop: Path, tmp_path: Path) -> None:
    """To name a writable folder, or to change its owner, would help nobody."""
    point = tmp_path / "disk"
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", foreign_loop], check=True)
    subprocess.run(["mount", foreign_loop, point], check=True)
    work = folders.claim(point, "loop")
    (work.path / "image").touch()
    subprocess.run(["chattr", "+i", work.path / "image"], check=True)
    with pytest.raises(FsgreenError, match="may not be removed") as caught:
        work.release()
    assert "chattr -R -i" in (caught.value.next_step or "")
    (said,) = sweep()
    assert "could not remove" in said and "chattr -R -i" in said
    subprocess.run(["chattr", "-i", work.path / "image"], check=True)
    assert sweep() == [f"removed {work.path}"]
