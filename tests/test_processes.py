"""Who uses the processors is told by its name, whatever that name is."""

import os
import shutil
import subprocess
import sys

import psutil
import pytest

from fsgreen import processes
from fsgreen.processes import Process

COMPILER = Process(105, "rustc", "R", 1, 1.0, 1.0, 7)


def test_a_process_has_its_own_name_and_times():
    own = processes.of(os.getpid())
    assert own.pid == os.getpid() and not own.ended and own.start_ticks > 0
    assert 0 < own.processor_s <= sum(os.times()[:2]) + 1


def test_a_name_may_hold_what_ends_a_name(tmp_path):
    """A name with a parenthesis would shift all fields."""
    program = tmp_path / "a) R (b"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    with subprocess.Popen([program, "60"]) as asleep:
        try:
            while (found := processes.of(asleep.pid)).name != program.name:
                assert not found.ended
        finally:
            asleep.kill()


def test_nobody_is_told_to_end_the_campaign_that_asks_or_what_it_started():
    """It works a little before its first trial, and so does the virtual machine of a testbed."""
    with subprocess.Popen(["sh", "-c", "sleep 60; true"]) as child:
        try:
            while not (found := psutil.Process(child.pid).children()):
                assert child.poll() is None
            seen = {one.pid for one in processes.others()}
            assert os.getppid() in seen | {0}
            assert not seen & {os.getpid(), child.pid, found[0].pid}
        finally:
            for one in (*psutil.Process(child.pid).children(), child):
                one.kill()


def test_what_ended_is_told_from_what_runs():
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert processes.of(child.pid).ended
    with pytest.raises(OSError):
        processes.of(child.pid)


def test_the_busiest_is_who_took_most_since():
    other = Process(9, "long-lived", "S", 1, 500.0, 20.0, 3)
    after = [COMPILER._replace(user_s=2.5), other._replace(user_s=501.0)]
    assert processes.busiest([COMPILER, other], after) == "rustc (process 105)"


def test_who_began_meanwhile_counts_from_its_start():
    """Another process had its number before."""
    after = [COMPILER._replace(start_ticks=8)]
    assert processes.busiest([COMPILER], after) == "rustc (process 105)"


def test_nobody_is_blamed_for_nothing():
    assert processes.busiest([COMPILER], [COMPILER]) == ""
    assert processes.busiest([COMPILER], []) == ""
