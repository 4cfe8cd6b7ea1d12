"""Testbed directory: works for everyone, changes nothing, and refuses what it cannot do."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from loops import levels

from fsgreen.devices import mounts
from fsgreen.errors import FsgreenError
from fsgreen.stacks import cache
from fsgreen.testbeds import available, default_folder, open_testbed

pytestmark = pytest.mark.usefixtures("caches_kept")

SIZE_B = 1 << 20


def present(folder: Path) -> str:
    return mounts.holding(folder).file_system


def test_round_trip_leaves_the_directory_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with open_testbed("directory", folder=tmp_path, size_b=SIZE_B) as bed:
        mount = bed.prepare(levels(present(tmp_path)))
        assert mount.directory.is_relative_to(tmp_path)
        (mount.directory / "file").write_bytes(b"x")
        assert (bed.remount().directory / "file").read_bytes() == b"x"
        assert list(bed.prepare(levels(present(tmp_path))).directory.iterdir()) == []
        bed.restore()
        bed.restore()
    bed.close()
    assert {"mine"} == {path.name for path in tmp_path.iterdir() if path.name != "state"}


def test_remount_drops_the_file_data(tmp_path: Path) -> None:
    if present(tmp_path) in mounts.MEMORY_FILE_SYSTEMS:
        pytest.skip("this folder is memory: run with --basetemp on a disk")
    with open_testbed("directory", folder=tmp_path, size_b=SIZE_B) as bed:
        place = bed.prepare(levels(present(tmp_path))).directory
        (place / "below").mkdir()
        files = [place / "one", place / "below" / "two"]
        for file in files:
            file.write_bytes(b"x" * 500_000)
        assert bed.resident_share() == 1
        bed.remount()
        assert bed.resident_share() == 0
        assert bed.warm() == 1


def test_without_a_folder_it_goes_where_a_cache_can_be_cold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/tmp is memory on many systems: the first campaign of a student would be refused."""
    shm = Path("/dev/shm")
    if present(shm) not in mounts.MEMORY_FILE_SYSTEMS:
        pytest.skip("/dev/shm is no tmpfs here: mount one")
    monkeypatch.setattr(tempfile, "tempdir", str(shm))
    assert default_folder("directory") == Path("/var/tmp")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    in_memory = present(tmp_path) in mounts.MEMORY_FILE_SYSTEMS
    assert default_folder("directory") == (Path("/var/tmp") if in_memory else tmp_path)


def test_pages_that_stay_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial that is called cold on a warm cache measures memory."""
    if present(tmp_path) in mounts.MEMORY_FILE_SYSTEMS:
        pytest.skip("this folder is memory: run with --basetemp on a disk")
    monkeypatch.setattr(cache, "drop", lambda place: None)
    with open_testbed("directory", folder=tmp_path, size_b=SIZE_B) as bed:
        place = bed.prepare(levels(present(tmp_path))).directory
        (place / "warm").write_bytes(b"x" * 500_000)
        bed.remount()
        assert bed.resident_share() == 1


def test_memory_is_never_called_cold() -> None:
    shm = Path("/dev/shm")
    if present(shm) not in mounts.MEMORY_FILE_SYSTEMS:
        pytest.skip("/dev/shm is no tmpfs here: mount one")
    with open_testbed("directory", folder=shm, size_b=SIZE_B) as bed:
        assert bed.describe()["cold_cache"] is False
        assert bed.device_name() is None
        (bed.prepare(levels("tmpfs")).directory / "file").write_bytes(b"x" * 10_000)
        assert bed.remount().device is None
        assert bed.resident_share() == 1


def test_disk_below_is_named_as_in_diskstats(tmp_path: Path) -> None:
    with open_testbed("directory", folder=tmp_path, size_b=SIZE_B) as bed:
        name = bed.device_name()
        if name is None:
            pytest.skip("no disk below this folder: run with --basetemp on a disk")
        assert f" {name} " in Path("/proc/diskstats").read_text()
        assert Path("/sys/block", name).exists()


def test_other_file_system_or_option_is_refused(tmp_path: Path) -> None:
    here = present(tmp_path)
    other = "xfs" if here != "xfs" else "ext4"
    with open_testbed("directory", folder=tmp_path, size_b=SIZE_B) as bed:
        with pytest.raises(FsgreenError, match=f"on {here}, not {other}") as caught:
            bed.check(levels(other))
        assert "--testbed loop" in (caught.value.next_step or "")
        with pytest.raises(FsgreenError, match="not with the option noatime"):
            bed.prepare(levels(here, "noatime"))
        with pytest.raises(FsgreenError, match="unknown file system"):
            bed.check(levels("ext5"))
        for early in (bed.remount, bed.resident_share, bed.warm):
            with pytest.raises(FsgreenError, match="nothing is prepared"):
                early()


@pytest.mark.parametrize("state", ["steady", "aged"])
def test_a_device_state_that_a_directory_cannot_make_is_refused(tmp_path: Path, state: str) -> None:
    """A trial labelled aged on a young file system would be a wrong row in the table."""
    with open_testbed("directory", folder=tmp_path, size_b=SIZE_B) as bed:
        for refusing in (bed.check, bed.prepare):
            with pytest.raises(FsgreenError, match=f"cannot make the device state {state}") as it:
                refusing(levels(present(tmp_path), device=state))
            assert "--testbed loop" in (it.value.next_step or "")
        assert bed.prepare(levels(present(tmp_path), device="initial")).state is None
        with pytest.raises(FsgreenError, match="did you mean steady"):
            bed.check(levels(present(tmp_path), device="stead"))


def test_a_scheduler_that_a_directory_would_have_to_set_is_refused(tmp_path: Path) -> None:
    with open_testbed("directory", folder=tmp_path, size_b=SIZE_B) as bed:
        here = bed.describe()["scheduler"]
        bed.check(levels(present(tmp_path), scheduler=here))
        with pytest.raises(FsgreenError, match="sets no scheduler") as caught:
            bed.check(levels(present(tmp_path), scheduler="elevator"))
        assert "--testbed loop" in (caught.value.next_step or "")


@pytest.mark.parametrize(
    "asked",
    [{"disk": "some-disk"}, {"partition": 1}, {"queue_depth": 32}, {"kernel_read_ahead_kib": 0}],
    ids=["disk", "partition", "queue_depth", "read-ahead"],
)
def test_what_only_a_simulated_disk_can_be_is_refused(
    tmp_path: Path, asked: dict[str, object]
) -> None:
    """A cell of the inner zone, measured wherever the folder is, would carry a false label."""
    with open_testbed("directory", folder=tmp_path, size_b=SIZE_B) as bed:
        with pytest.raises(FsgreenError, match="testbed directory cannot choose") as caught:
            bed.prepare(levels(present(tmp_path), **asked))
        assert "--testbed simdisk" in (caught.value.next_step or "")


def test_missing_folder_and_too_small_a_disk_are_told(tmp_path: Path) -> None:
    with pytest.raises(FsgreenError, match="does not exist") as caught:
        open_testbed("directory", folder=tmp_path / "no")
    assert "mkdir" in (caught.value.next_step or "")
    with pytest.raises(FsgreenError, match=r"disk too small: needs \d+ MiB, has") as caught:
        open_testbed("directory", folder=tmp_path, size_b=1 << 55)
    assert "image_mib" in (caught.value.next_step or "")


def test_the_directory_changes_no_scheduler_and_says_what_it_can_measure(tmp_path: Path) -> None:
    with open_testbed("directory", folder=tmp_path, size_b=SIZE_B, scheduler="none") as bed:
        assert bed.only_file_system() == present(tmp_path)


def test_the_probe_leaves_nothing_and_has_both_curves(tmp_path: Path) -> None:
    with open_testbed("directory", folder=tmp_path, size_b=SIZE_B) as bed:
        before = sorted(tmp_path.rglob("*"))
        found = bed.probe(seed=1)
        assert sorted(tmp_path.rglob("*")) == before
    assert all(row["bandwidth_b_s"] > 0 for row in found["offset"])
    assert all(row["throughput_ops_s"] > 0 for row in found["queue"])


def test_auto_without_root_takes_the_directory_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    found = [(entry.name, entry.usable) for entry in available() if entry.name != "vm"]
    assert found == [
        ("loop", False),
        ("directory", True),
        ("block", False),
        ("simdisk", False),
    ]
    with open_testbed("auto", size_b=SIZE_B) as bed:
        assert bed.kind == "directory"
        assert "needs root" in bed.describe()["why"]


UNPRIVILEGED = """
import os, sys
from pathlib import Path
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import available, open_testbed
os.setgid(65534); os.setuid(65534)
os.environ["XDG_STATE_HOME"] = sys.argv[1] + "/state"
try:
    open_testbed("loop")
except FsgreenError as error:
    assert "needs root" in error.what
with open_testbed("auto", folder=Path(sys.argv[1]), size_b=1 << 20) as bed:
    place = bed.prepare({"file_system": bed.only_file_system(), "option": "default"}).directory
    (place / "file").write_bytes(b"x" * 100_000)
    bed.remount()
    print(bed.kind, available()[0].usable)
"""


@pytest.mark.loop
def test_real_unprivileged_user_can_measure() -> None:
    with tempfile.TemporaryDirectory() as name:
        os.chown(name, 65534, 65534)
        done = subprocess.run(
            [sys.executable, "-c", UNPRIVILEGED, name],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        assert (done.stdout, done.stderr) == ("directory False\n", "")
        assert os.listdir(name) == ["state"]


@pytest.mark.loop
def test_auto_as_root_takes_the_loop_and_says_why() -> None:
    with open_testbed("auto", in_memory=True, size_b=32 << 20) as bed:
        assert bed.kind == "loop"
        assert "ext4" in bed.describe()["why"]


def test_unknown_kind_suggests_the_nearest() -> None:
    with pytest.raises(FsgreenError, match="did you mean loop"):
        open_testbed("lopo")
