"""The device behind a loop: its queue is as asked, its image stays ours, nothing of it is left."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from loops import levels, need

from fsgreen.devices import blockdev, folders, mounts
from fsgreen.devices.queue import Queue
from fsgreen.errors import FsgreenError
from fsgreen.stacks import cache
from fsgreen.testbeds import open_testbed

pytestmark = pytest.mark.usefixtures("caches_kept")


@pytest.mark.loop
def test_scheduler_is_set_read_back_and_restored() -> None:
    need("ext4")
    with open_testbed("loop", in_memory=True, size_b=32 << 20) as plain:
        before = plain.describe()["scheduler"]
        other = next(name for name in plain.describe()["schedulers"] if name != before)
    with open_testbed("loop", in_memory=True, size_b=32 << 20, scheduler=other) as bed:
        mount = bed.prepare(levels("ext4"))
        path = Path(f"/sys/block/{bed.device_name()}/queue/scheduler")
        assert mount.scheduler == other
        assert f"[{other}]" in path.read_text()
        bed.restore()
        assert f"[{before}]" in path.read_text()
        assert bed.prepare(levels("ext4")).scheduler == other


@pytest.mark.loop
def test_the_read_ahead_of_one_image_does_not_stay_for_the_next() -> None:
    """The next testbed gets the same loop device: a campaign could not be gone on with."""
    with open_testbed("loop", in_memory=True, size_b=32 << 20) as bed:
        Queue(str(bed.device_name())).set_number("read_ahead_kb", 2560)
    with open_testbed("loop", in_memory=True, size_b=32 << 20) as bed:
        assert bed.describe()["read_ahead_b"] == 128 << 10


@pytest.mark.loop
def test_the_scheduler_of_one_cell_does_not_stay_for_the_next() -> None:
    need("ext4")
    with open_testbed("loop", in_memory=True, size_b=32 << 20) as bed:
        before = bed.describe()["scheduler"]
        other = next(name for name in bed.describe()["schedulers"] if name != before)
        assert bed.prepare(levels("ext4", scheduler=other)).scheduler == other
        assert bed.prepare(levels("ext4")).scheduler == before
        with pytest.raises(FsgreenError, match="unknown scheduler"):
            bed.check(levels("ext4", scheduler="elevator"))


@pytest.mark.loop
def test_unknown_scheduler_leaves_nothing() -> None:
    with pytest.raises(FsgreenError, match="did you mean mq-deadline"):
        open_testbed("loop", in_memory=True, size_b=32 << 20, scheduler="mq-deadlin")
    assert [entry.name for entry in folders.registry().iterdir()] == ["lock"]


@pytest.mark.loop
def test_close_leaves_nothing_even_when_a_file_is_open() -> None:
    """A workload that hangs must not keep the machine's mounts and loop devices."""
    need("ext4")
    bed = open_testbed("loop", in_memory=True, size_b=32 << 20)
    mount = bed.prepare(levels("ext4"))
    name = bed.device_name()
    assert name is not None
    with (mount.directory / "open").open("w"):
        bed.close()
        assert not mounts.under(mount.directory)
        assert not mount.directory.parent.exists()
    bed.close()
    behind = blockdev.backing_file(name)
    assert behind is None or mount.directory.parent.name not in str(behind)


@pytest.mark.loop
def test_image_is_written_in_full_and_stays_so(tmp_path: Path) -> None:
    """A sparse image would be allocated in the middle of a trial; a discard would thin it again."""
    need("btrfs")
    with open_testbed("loop", folder=tmp_path, size_b=160 << 20) as bed:
        image = next(tmp_path.glob("fsgreen-loop-*/image"))
        assert image.stat().st_blocks * 512 >= 160 << 20
        for file_system in ("ext4", "btrfs"):
            mount = bed.prepare(levels(file_system))
            (mount.directory / "file").write_bytes(b"x" * (8 << 20))
            (mount.directory / "file").unlink()
            bed.remount()
        assert image.stat().st_blocks * 512 >= 160 << 20
        assert cache.resident_share(image.parent, apart=mount.directory) < 0.01


@pytest.mark.loop
def test_no_free_loop_device_is_an_error_with_a_way_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "bin" / "losetup"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho 'losetup: cannot find an unused loop device' >&2; exit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    with pytest.raises(FsgreenError, match="cannot find an unused loop device") as caught:
        open_testbed("loop", folder=tmp_path, size_b=32 << 20)
    assert "losetup -l" in (caught.value.next_step or "")
    assert not list(tmp_path.glob("fsgreen-loop-*"))


@pytest.mark.loop
def test_too_large_an_image_is_refused_before_it_is_written(tmp_path: Path) -> None:
    with pytest.raises(FsgreenError, match=r"needs \d+ MiB, has \d+ MiB") as caught:
        open_testbed("loop", folder=tmp_path, size_b=1 << 50)
    assert "image_mib" in (caught.value.next_step or "")
    assert not list(tmp_path.glob("fsgreen-loop-*"))


def test_without_root_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(FsgreenError, match="needs root") as caught:
        open_testbed("loop")
    assert "--testbed directory" in (caught.value.next_step or "")


@pytest.mark.loop
def test_the_device_stays_on_our_image_whatever_others_attach(tmp_path: Path) -> None:
    """Once a foreign image that came behind it between mkfs and mount was mounted and written."""
    foreign = tmp_path / "foreign"
    foreign.write_bytes(bytes(64 << 20))
    subprocess.run(["mkfs.ext4", "-q", "-F", foreign], check=True)
    before = foreign.read_bytes()
    with open_testbed("loop", in_memory=True, size_b=64 << 20) as bed:
        for step in (lambda: bed.prepare(levels("ext4")), bed.remount, bed.resident_share):
            node = f"/dev/{bed.device_name()}"
            subprocess.run(["losetup", "--detach", node], check=False)
            attached = subprocess.run(["losetup", node, foreign], check=False, capture_output=True)
            assert attached.returncode != 0
            step()
        (bed.remount().directory / "file").write_text("ours")
    assert foreign.read_bytes() == before


@pytest.mark.loop
@pytest.mark.parametrize("gone", ["image", "."])
def test_an_image_that_was_removed_is_told_of(gone: str) -> None:
    """It was a traceback, or the advice to look at loop devices."""
    with open_testbed("loop", in_memory=True, size_b=64 << 20) as bed:
        bed.prepare(levels("ext4"))
        bed.restore()
        place = bed.device.work.path / gone
        shutil.rmtree(place) if place.is_dir() else place.unlink()
        with pytest.raises(FsgreenError, match="image that this campaign made is gone") as caught:
            bed.prepare(levels("ext4"))
        assert "start the same command again" in (caught.value.next_step or "")
