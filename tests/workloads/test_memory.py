"""Is the memory of a workload bounded, whatever becomes of the workload?"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fsgreen.errors import FsgreenError
from fsgreen.workloads import memory, process

MIB = 2**20


@pytest.fixture
def controller() -> Iterator[None]:
    """Where memory can be bounded; no group is left."""
    try:
        memory.require()
    except FsgreenError as error:
        pytest.skip(f"{error.what}; {error.next_step}")
    yield
    parent, _ = memory._parent()
    assert not list(parent.glob(f"{memory.PREFIX}{os.getpid()}-*"))


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
    with memory.bounded(48 * MIB) as bound:
        done = process.run([sys.executable, "-c", READ_TWICE, str(file)])
    assert done.status == 0, done.errors
    assert bound.use is not None
    assert bound.use.limit_b == 48 * MIB
    assert 24 * MIB < bound.use.peak_b <= 48 * MIB
    assert bound.use.reached_count > 0


@pytest.mark.usefixtures("controller")
def test_a_program_that_needs_more_by_itself_is_told_so() -> None:
    short = pytest.raises(FsgreenError, match="alone took more memory than its 16 MiB")
    with short as caught, memory.bounded(16 * MIB):
        process.run([sys.executable, "-c", f"print(len(b'x' * {256 * MIB}))"])
    assert "memory_mib" in str(caught.value.next_step)


@pytest.mark.usefixtures("controller")
def test_what_a_killed_run_left_goes_with_the_next() -> None:
    parent, _ = memory._parent()
    left = parent / f"{memory.PREFIX}1"
    left.mkdir(exist_ok=True)
    with memory.bounded(64 * MIB):
        process.run(["true"])
    assert not left.exists()


def test_without_a_bound_programs_run_as_ever() -> None:
    with memory.bounded(None) as bound:
        assert process.run(["true"]).status == 0
    assert bound.use is None


def test_where_memory_cannot_be_bounded_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("proc /proc proc rw 0 0\n")
    monkeypatch.setattr(memory, "MOUNTS", mounts)
    with pytest.raises(FsgreenError, match="no control groups that bound memory"):
        memory.require()


def test_a_group_of_the_second_version_stands_beside_that_of_the_harness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "user.slice" / "session.scope"
    own.mkdir(parents=True)
    (tmp_path / "user.slice" / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (mounts := tmp_path / "mounts").write_text(f"cgroup2 {tmp_path} cgroup2 rw 0 0\n")
    (groups := tmp_path / "cgroup").write_text("0::/user.slice/session.scope\n")
    monkeypatch.setattr(memory, "MOUNTS", mounts)
    monkeypatch.setattr(memory, "OWN", groups)
    assert memory._parent() == (own.parent, memory.VERSIONS[2])
    (own / "cgroup.subtree_control").write_text("memory\n")
    assert memory._parent() == (own.parent, memory.VERSIONS[2])
