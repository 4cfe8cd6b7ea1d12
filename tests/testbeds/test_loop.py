"""Real file systems on a loop device in RAM: made, verified, remounted cold, and gone again."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from loops import levels, need

from fsgreen import paths
from fsgreen.devices import mounts
from fsgreen.devices.queue import Queue
from fsgreen.errors import FsgreenError
from fsgreen.stacks import filesystems
from fsgreen.testbeds import Testbed, open_testbed
from fsgreen.workloads import bounds, process
from fsgreen.workloads.bounds import Bounds, Traffic
from tests.patience import wait_for

pytestmark = pytest.mark.usefixtures("caches_kept")

SMALL_B = 520 << 20

CELLS = [
    (name, option)
    for name, spec in filesystems.FILE_SYSTEMS.items()
    if not spec.served  # test_greenfs_stack.py and test_vm_nfs.py have those
    for option in ["default", *spec.options]
] + [
    ("ext2", "blk1k+isz1k+noatime"),
    ("ext3", "blk2k+bg16k+wrbck"),
    ("ext4", "isz1k+dtlg+noatime"),
    ("xfs", "blk2k+isz1k+agcnt8"),
]


@pytest.fixture(scope="module")
def testbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Testbed]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        bed = open_testbed("loop", in_memory=True, size_b=SMALL_B)
    with bed:
        yield bed


@pytest.mark.loop
@pytest.mark.parametrize(("file_system", "option"), CELLS)
def test_cell_is_made_mounted_and_verified(testbed: Testbed, file_system: str, option: str) -> None:
    """What the record says of a trial's file system must be what the kernel and the disk say."""
    need(file_system)
    recipe = filesystems.recipe(file_system, option)
    if recipe.minimum_b > SMALL_B:
        with pytest.raises(FsgreenError, match="disk too small"):
            testbed.check(levels(file_system, option))
        return
    mount = testbed.prepare(levels(file_system, option))
    (entry,) = [found for found in mounts.mounted() if found.point == mount.directory]
    assert (entry.file_system, entry.source) == (file_system, mount.device)
    assert set(recipe.mount) <= set(mount.mount_options)
    for name in ("noatime", "relatime"):
        assert (name in entry.options) == (name in recipe.mount)
    assert recipe.geometry.items() <= mount.geometry.items()
    has_device = mount.directory.stat().st_dev == Path(mount.device or "").stat().st_rdev
    assert has_device != recipe.file_system.own_read_ahead, "read-ahead is that of st_dev"
    block_b = os.statvfs(mount.directory).f_bsize
    assert block_b == mount.geometry["block_b"]
    (mount.directory / "file").write_bytes(b"written")
    assert (testbed.remount().directory / "file").read_bytes() == b"written"


@pytest.mark.loop
@pytest.mark.parametrize(("option", "discards"), [("discard", True), ("default", False)])
def test_blocks_of_removed_files_are_discarded_only_where_that_is_asked_for(
    testbed: Testbed, option: str, discards: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("ext4")
    if not discards:
        monkeypatch.setattr("fsgreen.devices.queue.DISCARD_S", 5.0)  # nothing is to come
    mount = testbed.prepare(levels("ext4", option))
    queue = Queue(Path(mount.device or "").name)
    file, size_b = mount.directory / "file", 32 << 20
    file.write_bytes(os.urandom(size_b))
    os.sync()
    before_b = queue.discarded_b()
    file.unlink()
    testbed.remount()
    assert (queue.await_discarded_b(before_b, size_b) >= size_b) == discards


WRITE_DIRECTLY = """
import mmap, os, sys
block = mmap.mmap(-1, 1 << 20)
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_DIRECT)
for _ in range(8):
    os.write(file, block)
"""


@pytest.mark.loop
def test_no_more_passes_to_a_disk_than_a_workload_is_given(testbed: Testbed) -> None:
    """The kernel keeps to the rate, so the work takes at least as long as that says."""
    need("ext4")
    try:
        bounds.require(["io"])
    except FsgreenError as error:
        pytest.skip(f"{error.what}; {error.next_step}")
    mount = testbed.prepare(levels("ext4"))
    traffic = Traffic(Path(mount.device or ""), 4 << 20)
    with bounds.bounded(Bounds(traffic=traffic)):
        done = process.run([sys.executable, "-c", WRITE_DIRECTLY, str(mount.directory / "file")])
    assert done.status == 0, done.errors
    assert done.end_s - done.start_s > 1
    with pytest.raises(FsgreenError, match="a limit of 0 MiB/s lets nothing pass"):
        testbed.check(levels("ext4", disk_mib_s=0))


@pytest.mark.loop
def test_discards_are_refused_on_a_disk_that_has_none(
    testbed: Testbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel would mount it, and discard nothing."""
    need("ext4")
    number = Queue.number
    monkeypatch.setattr(
        Queue,
        "number",
        lambda queue, name: 0 if name == "discard_max_bytes" else number(queue, name),
    )
    with pytest.raises(FsgreenError, match="ext4 discard discards, and the disk cannot"):
        testbed.check(levels("ext4", "discard"))
    testbed.check(levels("ext4"))


@pytest.mark.loop
@pytest.mark.parametrize("file_system", ["ext2", "ext3", "ext4", "xfs", "btrfs"])
def test_remount_is_cold_and_keeps_data(testbed: Testbed, file_system: str) -> None:
    need(file_system)
    place = testbed.prepare(levels(file_system)).directory
    for number in range(20):
        (place / f"file{number}").write_bytes(bytes([number]) * 100_000)
    assert testbed.resident_share() == 1
    assert testbed.remount().directory == place
    assert testbed.resident_share() == 0
    assert (place / "file7").read_bytes() == b"\7" * 100_000
    assert testbed.resident_share() == pytest.approx(1 / 20)
    assert testbed.warm() == 1


@pytest.mark.loop
def test_looking_at_a_cold_cache_leaves_names_and_inodes_cold(testbed: Testbed) -> None:
    """Else the harness would have read every inode before a trial that is called cold."""
    need("ext4")
    place = testbed.prepare(levels("ext4")).directory
    for number in range(2000):
        (place / f"file{number}").write_bytes(b"x")
    testbed.remount()
    queue = Queue(testbed.device_name() or "")

    def reads_to_stat_all() -> int:
        before = queue.reads()
        for number in range(2000):
            (place / f"file{number}").stat()
        return queue.reads() - before

    cold = reads_to_stat_all()
    assert cold > 0
    wait_for(lambda: reads_to_stat_all() == 0, "names and inodes are read again and again")
    testbed.remount()
    assert testbed.resident_share() == 0
    assert reads_to_stat_all() == pytest.approx(cold, rel=0.5)


@pytest.mark.loop
def test_a_mount_that_lives_on_elsewhere_is_seen_as_warm(testbed: Testbed) -> None:
    """Another name space or bind mount keeps the pages: a remount alone proves nothing."""
    need("ext4")
    mount = testbed.prepare(levels("ext4"))
    (mount.directory / "file").write_bytes(b"x" * 500_000)
    other = mount.directory.parent / "other"
    other.mkdir(exist_ok=True)
    subprocess.run(["mount", "--bind", str(mount.directory), str(other)], check=True)
    try:
        testbed.remount()
        assert testbed.resident_share() == 1
    finally:
        subprocess.run(["umount", str(other)], check=True)
    testbed.remount()
    assert testbed.resident_share() == 0


@contextlib.contextmanager
def on_one_processor() -> Iterator[None]:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def make_folders(place: Path) -> None:
    for number in range(40):
        (place / f"folder{number}").mkdir()
        for index in range(5):
            (place / f"folder{number}" / f"{index}").touch()


@pytest.mark.loop
@pytest.mark.parametrize("file_system", ["ext2", "ext3", "ext4", "xfs", "btrfs"])
def test_equal_trials_get_equal_layouts(testbed: Testbed, file_system: str) -> None:
    """A layout that changes from trial to trial would be noise in every comparison.

    On one processor: where ext2 and ext4 put a folder depends on those that its maker ran on
    (docs/state.md).
    """
    need(file_system)
    seen = []
    for _ in range(2):
        place = testbed.prepare(levels(file_system)).directory
        with on_one_processor():
            make_folders(place)
        seen.append(
            [
                (Path(folder), [(entry.name, entry.inode()) for entry in os.scandir(folder)])
                for folder, _, _ in os.walk(place)
            ]
        )
    assert seen[0] == seen[1]


@pytest.mark.loop
def test_prepare_starts_afresh(testbed: Testbed) -> None:
    need("ext4")
    (testbed.prepare(levels("ext4")).directory / "old").touch()
    assert not (testbed.prepare(levels("ext4")).directory / "old").exists()


@pytest.mark.loop
def test_mkfs_that_does_otherwise_is_found(
    testbed: Testbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trial labelled blk1k on 4 KiB blocks would be a wrong row in table 2."""
    need("ext4")
    right = filesystems.recipe("ext4", "blk1k")
    wrong = filesystems.recipe("ext4", "default")
    mixed = filesystems.Recipe(right.file_system, "blk1k", wrong.mkfs, right.mount, right.geometry)
    monkeypatch.setattr(filesystems, "recipe", lambda *_: mixed)
    with pytest.raises(FsgreenError, match="block_b is 4096, asked for 1024"):
        testbed.prepare(levels("ext4", "blk1k"))


@pytest.mark.loop
def test_mount_that_does_otherwise_is_found(
    testbed: Testbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("ext4")
    monkeypatch.setattr(mounts, "complete_options", lambda entry: entry.options)
    with pytest.raises(FsgreenError, match=r"not mounted as asked.*without strictatime"):
        testbed.prepare(levels("ext4"))


@pytest.mark.loop
@pytest.mark.parametrize("agcount", [8, 32, 64, 128])
def test_smallest_xfs_is_what_mkfs_says(tmp_path: Path, agcount: int) -> None:
    """A size that check() passes and mkfs refuses would stop a campaign half-way."""
    need("xfs")
    recipe = filesystems.recipe("xfs", f"agcnt{agcount}")
    sparse = tmp_path / "sparse.img"
    for size_b, accepted in ((recipe.minimum_b, True), (agcount * 64 << 20, False)):
        sparse.touch()
        os.truncate(sparse, size_b)
        mkfs = paths.program("mkfs.xfs")
        assert mkfs is not None
        done = subprocess.run([mkfs, "-N", *recipe.mkfs, str(sparse)], capture_output=True)
        assert (done.returncode == 0) == accepted


def test_geometry_that_differs_is_named() -> None:
    with pytest.raises(FsgreenError, match="agcount is 4, asked for 8"):
        filesystems.verify({"block_b": 4096, "agcount": 8}, {"block_b": 4096, "agcount": 4}, "xfs")


def test_kernel_without_the_file_system_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = filesystems.FileSystem("nosuchfs", (), 0, (), {})
    monkeypatch.setattr(paths, "program", lambda tool: "/bin/false")
    why = "not in this kernel: boot one that has it, or see docs/vm.md"
    assert filesystems.usable_here(spec) == (False, why)


@pytest.mark.loop
def test_a_file_system_that_reads_ahead_on_its_own_is_not_told_how_far(testbed: Testbed) -> None:
    """A cell of btrfs without read-ahead would be one with 4 MiB of it, under a wrong name."""
    need("btrfs")
    testbed.check(levels("btrfs"))
    with pytest.raises(FsgreenError, match="btrfs reads ahead on its own"):
        testbed.check(levels("btrfs", kernel_read_ahead_kib=0))


@pytest.mark.loop
def test_a_read_ahead_of_half_a_page_is_refused(testbed: Testbed) -> None:
    for wrong_kib in (-4, 2, 130):
        with pytest.raises(FsgreenError, match=f"whole pages of .* not {wrong_kib} KiB"):
            testbed.check(levels("ext4", kernel_read_ahead_kib=wrong_kib))
