"""Has a workload what it may have and no more, whatever becomes of it?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from fsgreen import elsewhere
from fsgreen.errors import FsgreenError, TrialFailed
from fsgreen.trial import MemoryUse
from fsgreen.workloads import bounds, groups, process
from fsgreen.workloads.bounds import Bounds, Traffic
from fsgreen.workloads.groups import Place

MIB = 2**20


@pytest.fixture
def controller() -> Iterator[None]:
    """Where memory can be bounded; no group is left."""
    try:
        bounds.require(["memory"])
    except FsgreenError as error:
        pytest.skip(f"{error.what}; {error.next_step}")
    yield
    parent = groups.parent("memory").folder
    assert not list(parent.glob(f"{groups.PREFIX}{os.getpid()}-*"))


READ_TWICE = """
import sys
for _ in range(2):
    with open(sys.argv[1], "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass
"""


@pytest.mark.usefixtures("controller")
def test_files_larger_than_the_memory_do_not_stay_in_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(os.urandom(128 * MIB))
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with bounds.bounded(Bounds(48 * MIB)) as bound:
        done = process.run([sys.executable, "-c", READ_TWICE, str(file)])
    assert done.status == 0, done.errors
    assert bound.memory is not None
    assert bound.memory.limit_b == 48 * MIB
    assert 24 * MIB < bound.memory.peak_b <= 48 * MIB
    assert bound.memory.reached_count > 0


@pytest.mark.usefixtures("controller")
def test_a_program_that_needs_more_by_itself_is_told_so() -> None:
    short = pytest.raises(TrialFailed, match="alone took more memory than its 16 MiB")
    with short as caught, bounds.bounded(Bounds(16 * MIB)):
        process.run([sys.executable, "-c", f"print(len(b'x' * {256 * MIB}))"])
    assert "memory_mib" in str(caught.value.next_step)


@pytest.mark.usefixtures("controller")
def test_what_a_killed_run_left_goes_with_the_next() -> None:
    left = groups.parent("memory").folder / f"{groups.PREFIX}1"
    left.mkdir(exist_ok=True)
    with bounds.bounded(Bounds(64 * MIB)):
        process.run(["true"])
    assert not left.exists()


def test_without_a_bound_programs_run_as_ever() -> None:
    with bounds.bounded(Bounds()) as bound:
        assert process.run(["/usr/bin/true"]).status == 0
    assert bound.memory is None


def test_where_memory_cannot_be_bounded_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("proc /proc proc rw 0 0\n")
    monkeypatch.setattr(groups, "MOUNTS", mounts)
    with pytest.raises(FsgreenError, match="no control groups that bound it"):
        bounds.require(["memory"])


def test_a_group_of_the_second_version_stands_beside_that_of_the_harness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "user.slice" / "session.scope"
    own.mkdir(parents=True)
    (tmp_path / "user.slice" / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (mounts := tmp_path / "mounts").write_text(f"cgroup2 {tmp_path} cgroup2 rw 0 0\n")
    (of_us := tmp_path / "cgroup").write_text("0::/user.slice/session.scope\n")
    monkeypatch.setattr(groups, "MOUNTS", mounts)
    monkeypatch.setattr(groups, "OWN", of_us)
    assert groups.parent("memory") == Place(own.parent, 2)
    (own / "cgroup.subtree_control").write_text("memory\n")
    assert groups.parent("memory") == Place(own.parent, 2)


def test_a_group_of_the_second_version_has_all_bounds_in_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program is in one group of that version: two groups would bound it in one thing."""
    (own := tmp_path / "user.slice" / "session.scope").mkdir(parents=True)
    (own.parent / "cgroup.subtree_control").write_text("memory\n")
    (tmp_path / "cgroup.subtree_control").write_text("io memory\n")
    (mounts := tmp_path / "mounts").write_text(f"cgroup2 {tmp_path} cgroup2 rw 0 0\n")
    (of_us := tmp_path / "cgroup").write_text("0::/user.slice/session.scope\n")
    monkeypatch.setattr(groups, "MOUNTS", mounts)
    monkeypatch.setattr(groups, "OWN", of_us)
    assert groups.parent("memory") == Place(own.parent, 2)
    group = groups.make(["memory", "io"])
    [folder] = group.folders
    assert folder.parent == tmp_path
    bounds._set(group, Bounds(MIB, Traffic(Path("/dev/null"), 5)))
    assert (folder / "memory.max").read_text() == str(MIB)
    assert (folder / "io.max").read_text() == "1:3 rbps=5 wbps=5"
    with groups.entered(group):
        assert groups.joined(["true"])[3:] == [str(folder / "cgroup.procs"), "true"]


class Played(elsewhere.Place):
    """A guest whose control groups are folders of this machine."""

    def __init__(self) -> None:
        self.launched: list[Sequence[str]] = []

    def run(self, command: Sequence[str]) -> str:
        if command[0] == "rmdir":
            shutil.rmtree(command[1])
            return ""
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise FsgreenError(done.stderr)
        if command[0] == "mkdir":
            (Path(command[1]) / "memory.peak").write_text("1024\n")
            (Path(command[1]) / "memory.events").write_text("max 3\noom_kill 0\n")
        return done.stdout

    def launcher(self, command: Sequence[str]) -> Sequence[str]:
        self.launched.append(command)
        return command


def test_in_a_guest_the_group_is_the_guests_and_its_program_enters_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group of this machine would bound what asks for the program."""
    (tmp_path / "cgroup.subtree_control").write_text("memory\n")
    (mounts := tmp_path / "mounts").write_text(f"cgroup2 {tmp_path} cgroup2 rw 0 0\n")
    (of_us := tmp_path / "cgroup").write_text("0::/\n")
    monkeypatch.setattr(groups, "MOUNTS", mounts)
    monkeypatch.setattr(groups, "OWN", of_us)
    guest = Played()
    with elsewhere.entered(guest), bounds.bounded(Bounds(MIB)) as bound:
        [group] = tmp_path.glob(f"{groups.PREFIX}*")
        assert (group / "memory.max").read_text() == f"{MIB}\n"
        assert process.run(["/usr/bin/true"]).status == 0
    assert guest.launched == [["/bin/sh", "-c", groups.JOIN, str(group / "cgroup.procs"), "true"]]
    assert bound.memory == MemoryUse(MIB, 1024, 3)
    assert not group.exists()


def test_a_bound_of_which_there_is_no_controller_leaves_no_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memory").mkdir()
    above = {"memory": Place(tmp_path / "memory", 1), "io": Place(tmp_path / "gone", 1)}
    monkeypatch.setattr(groups, "parent", lambda controller, beside: above[controller])
    with pytest.raises(FsgreenError, match="the traffic to the disk of a workload cannot") as told:
        groups.make(["memory", "io"])
    assert "disk_mib_s" in str(told.value.next_step)
    assert not list((tmp_path / "memory").iterdir())
