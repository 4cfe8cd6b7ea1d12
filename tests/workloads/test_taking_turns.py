"""Runs that take turns: what each did in its windows, and nothing of what was done between them."""

from __future__ import annotations

import os
import time
from itertools import pairwise
from pathlib import Path

import pytest

from fsgreen.errors import FsgreenError
from fsgreen.workloads import TakesTurns, Turn, Turns, WmlWorkload, WorkloadFailed
from tests.patience import until_calm

READER = """
set $dir=/tmp
define fileset name=files,path=$dir,entries=20,size=4k,prealloc
define process name=reader { thread name=reader {
  flowop openfile name=open,filesetname=files,fd=1
  flowop readwholefile name=read,fd=1
  flowop closefile name=close,fd=1
} }
run
"""
ONCE = READER.replace("} }", "  flowop finishoncount name=enough,value=5\n} }")

pytestmark = pytest.mark.usefixtures("engine")


def workload(folder: Path, text: str = READER) -> WmlWorkload:
    file = folder / "text.f"
    file.write_text(text)
    found = WmlWorkload("text", file, 1.0)
    (folder / "files").mkdir()
    found.prepare(folder / "files", 1)
    return found


def worked(running: Turns, length_s: float) -> Turn:
    """The first turn in which the run got to work, which it may miss on a busy machine."""
    turn: Turn = until_calm(lambda: running.turn(length_s), lambda turn: turn.work_ops > 0)
    return turn


def test_a_run_counts_its_windows_and_neither_its_warm_up_nor_the_pauses(tmp_path: Path) -> None:
    reader = workload(tmp_path)
    assert isinstance(reader, TakesTurns)
    with reader.turns(tmp_path / "files", 1, 0.2) as running:
        warm = worked(running, 0.2)
        first = worked(running, 0.2)
        time.sleep(0.3)
        second = worked(running, 0.3)
        outcome = running.outcome([first, second])
    assert warm.end_s <= first.start_s < first.end_s <= second.start_s - 0.3
    assert [phase.span_s for phase in outcome.phases] == [
        (turn.start_s, turn.end_s) for turn in (first, second)
    ]
    assert outcome.summary.work_ops == first.work_ops + second.work_ops > 0
    assert outcome.ops["work_ops"].tolist() == [first.work_ops, second.work_ops]
    in_windows_s = sum(turn.end_s - turn.start_s for turn in (first, second))
    assert outcome.summary.duration_s == pytest.approx(in_windows_s)
    assert outcome.summary.read_b > 0
    assert not outcome.summary.partial
    assert outcome.latency["work_ops"].sum() > 0


def test_two_runs_take_turns_and_leave_nothing(tmp_path: Path) -> None:
    """One that worked in the other's window would be in its number."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = workload(tmp_path / "a"), workload(tmp_path / "b")
    with (
        one.turns(tmp_path / "a" / "files", 1, 0) as first,
        other.turns(tmp_path / "b" / "files", 1, 0) as second,
    ):
        windows = [worked(running, 0.5) for running in (first, second, second, first)]
        assert all(turn.work_ops > 0 for turn in windows)
        done = first.outcome([windows[0], windows[3]]), second.outcome(windows[1:3])
    spans = [(turn.start_s, turn.end_s) for turn in windows]
    assert spans == sorted(spans) and all(one[1] <= later[0] for one, later in pairwise(spans))
    assert done[0].summary.work_ops == windows[0].work_ops + windows[3].work_ops
    assert done[1].summary.work_ops == windows[1].work_ops + windows[2].work_ops


def test_a_run_that_ends_by_itself_is_no_window(tmp_path: Path) -> None:
    """Its rate would be of the time in which nothing was left to do."""
    finite = workload(tmp_path, ONCE)
    with finite.turns(tmp_path / "files", 1, 0) as running, pytest.raises(WorkloadFailed) as caught:
        for _ in range(3):
            running.turn(1.0)
    assert "ended before its turns" in caught.value.what
    assert caught.value.next_step is not None


def test_a_broken_text_is_told_in_the_words_of_the_engine(tmp_path: Path) -> None:
    reader = workload(tmp_path)
    reader.file.write_text("define nonsense\n")
    with (
        reader.turns(tmp_path / "files", 1, 0) as running,
        pytest.raises(FsgreenError) as caught,
    ):
        running.turn(0.1)
    assert "nonsense" in str(caught.value)


def test_nothing_of_a_run_is_left_when_its_caller_fails(tmp_path: Path) -> None:
    reader = workload(tmp_path)
    with pytest.raises(KeyboardInterrupt), reader.turns(tmp_path / "files", 1, 0) as running:
        running.turn(0.1)
        pid = running._process.pid  # type: ignore[attr-defined]
        raise KeyboardInterrupt
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
