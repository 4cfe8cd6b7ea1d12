"""A task over many items: the same results whoever does it, and no process is left."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fsgreen import executors
from fsgreen.executors import Processes, each, entered
from tests.patience import wait_for

KILLED = """
import os, time
from fsgreen import executors
with executors.processes(1) as pool:
    print(pool.submit(os.getpid).result(), flush=True)
    time.sleep(600)
"""


def power(exponent: int, number: int) -> tuple[int, int]:
    """A result, and the process that came to it."""
    return number**exponent, os.getpid()


def test_processes_give_what_one_gives_in_the_order_of_the_items(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(executors, "WORTH_A_PROCESS", 1)
    done = list(Processes(2).each(power, 3, range(40)))
    assert [result for result, _ in done] == [number**3 for number in range(40)]
    assert os.getpid() not in {process for _, process in done}


def test_few_items_start_no_process() -> None:
    """It would take longer to start than they do."""
    few = range(executors.WORTH_A_PROCESS)
    assert {process for _, process in Processes(2).each(power, 3, few)} == {os.getpid()}


def test_who_was_entered_does_the_tasks_of_the_block_alone() -> None:
    class Nobody:
        def each(self, task: object, common: object, items: object) -> list[str]:
            return ["nobody"]

    with entered(Nobody()):  # type: ignore[arg-type]
        assert list(each(power, 1, [2])) == ["nobody"]
    assert [result for result, _ in each(power, 1, [2])] == [2]


def test_processes_end_with_one_that_was_killed() -> None:
    """They would wait for work for ever, each with some hundred megabytes."""
    started = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    process = int(started.stdout.readline())
    assert runs(process)
    started.kill()
    started.communicate()
    wait_for(lambda: not runs(process), "the process goes on")


def runs(process: int) -> bool:
    """Whether a process has not ended, though nobody may have asked yet how it did."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"
