"""Does a workload use the processors that its cell names, and no others, whoever starts it?"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence

import pytest

from fsgreen import elsewhere
from fsgreen.errors import FsgreenError, TrialFailed
from fsgreen.workloads import pinning, process

SAY = "import os; print(*sorted(os.sched_getaffinity(0)))"
CHILD_SAYS = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SAY!r}])"

HERE = os.sched_getaffinity(0)
ONE = str(min(HERE))


NEEDS_TWO = pytest.mark.skipif(len(HERE) < 2, reason="needs two processors, to leave one out")


@pytest.fixture(autouse=True)
def put_back() -> Iterator[None]:
    """Whatever happens, what runs next has all processors again."""
    yield
    left = os.sched_getaffinity(0)
    os.sched_setaffinity(0, HERE)
    assert left == HERE


@NEEDS_TWO
@pytest.mark.parametrize("code", [SAY, CHILD_SAYS], ids=["program", "what it starts"])
def test_a_program_has_the_processors_of_its_cell(code: str) -> None:
    """A trial would count for fewer processors than it had."""
    with pinning.pinned(ONE) as processors:
        done = process.run([sys.executable, "-c", code])
    assert done.output.split() == [ONE] == [processors]
    assert len(process.run([sys.executable, "-c", code]).output.split()) == len(HERE)


@NEEDS_TWO
def test_a_driver_in_python_has_them_too_and_so_have_its_threads() -> None:
    seen = []
    thread = threading.Thread(target=lambda: seen.append(os.sched_getaffinity(0)))
    with pinning.pinned(ONE):
        thread.start()
        thread.join()
        seen.append(os.sched_getaffinity(0))
    assert seen == [{int(ONE)}, {int(ONE)}]


@NEEDS_TWO
def test_a_meter_that_runs_already_keeps_its_processors() -> None:
    """It would come too late for its readings, behind the workload."""
    go, seen = threading.Event(), []
    thread = threading.Thread(target=lambda: (go.wait(), seen.append(os.sched_getaffinity(0))))
    thread.start()
    with pinning.pinned(ONE):
        go.set()
        thread.join()
    assert seen == [HERE]


def test_all_are_those_of_fsgreen_and_are_told() -> None:
    with pinning.pinned("all") as processors:
        assert os.sched_getaffinity(0) == HERE
    assert processors == pinning.spelt(HERE)


def test_a_cell_that_names_none_changes_nothing() -> None:
    with pinning.pinned(None) as processors:
        assert os.sched_getaffinity(0) == HERE
    assert processors is None


@pytest.mark.parametrize(
    ("level", "processors"),
    [("0", {0}), ("0-1", {0, 1}), ("0+2-4", {0, 2, 3, 4}), ("1+0", {0, 1}), ("all", set(range(8)))],
)
def test_lists_are_the_kernels_with_a_plus_for_the_comma(
    level: str, processors: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert pinning.chosen(level) == processors
    assert pinning.chosen(pinning.spelt(processors)) == processors
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("level", "why"),
    [
        ("0-99999", "fsgreen may use the processors"),
        ("99999", "fsgreen may use the processors"),
        ("1-0", "it is no list"),
        ("0+1-0", "it is no list"),
        ("0-", "it is no list"),
        ("two", "it is no list"),
        ("0,1", "it is no list"),
        (2, "it is no list"),
    ],
)
def test_what_this_machine_lacks_or_nobody_understands_is_refused(level: object, why: str) -> None:
    """A count of processors, say, would pin the workload to the one of that number."""
    with pytest.raises(FsgreenError, match=why) as caught:
        pinning.chosen(level)
    assert caught.value.where and caught.value.next_step


def test_what_the_kernel_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int, __: object) -> None:
        monkeypatch.undo()
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    refused = pytest.raises(FsgreenError, match="the kernel says: Invalid argument")
    with refused, pinning.pinned(ONE):
        pytest.fail("it ran unpinned")


@NEEDS_TWO
def test_processors_that_change_meanwhile_spoil_the_trial() -> None:
    with pytest.raises(TrialFailed, match=f"although {ONE} were set"), pinning.pinned(ONE):
        os.sched_setaffinity(0, HERE)


class Guest(elsewhere.Place):
    def run(self, command: Sequence[str]) -> str:
        raise AssertionError

    def launcher(self, command: Sequence[str]) -> Sequence[str]:
        raise AssertionError

    def put(self, file: object) -> str:
        raise AssertionError


def test_in_a_guest_it_is_refused() -> None:
    """What asks for the program would be pinned, and the program would not."""
    refused = pytest.raises(FsgreenError, match="runs in a guest")
    with elsewhere.entered(Guest()), refused as caught:
        pinning.chosen(ONE)
    assert "taskset" in str(caught.value.next_step)
