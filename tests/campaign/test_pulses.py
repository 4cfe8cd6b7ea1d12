"""Pulses whose edges are wrong, or a burner that stays behind, would spoil every trial after."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fsgreen.campaign import pulses
from fsgreen.errors import FsgreenError
from tests.patience import LIMIT_S, wait_for

RUNS = (0.2, 0.1, 0.1, 0.2, 0.2)


def burners(marker: str) -> list[int]:
    """Processes that inherited this mark and run the burner's program."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            marked = f"PULSES_TEST={marker}\0".encode() in (place / "environ").read_bytes()
            if marked and b"begin_s" in (place / "cmdline").read_bytes():
                found.append(int(place.name))
    return found


@pytest.fixture
def mark(monkeypatch, tmp_path):
    monkeypatch.setenv("PULSES_TEST", str(tmp_path))
    yield str(tmp_path)
    wait_for(lambda: not burners(str(tmp_path)), "a burner was left behind")


@pytest.fixture
def busy_machine(monkeypatch):
    """Let edges be blurred: a test machine may be busy."""
    monkeypatch.setattr(pulses, "MAX_SPREAD", 100.0)


@pytest.mark.usefixtures("mark", "busy_machine")
def test_every_edge_is_reported_in_order_and_the_cpus_were_loaded():
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    begin_s = time.monotonic()
    edges_s = pulses.make_pulses(RUNS)
    assert len(edges_s) == len(RUNS) + 1
    assert begin_s < edges_s[0] and edges_s[-1] < time.monotonic()
    assert list(edges_s) == sorted(edges_s)
    assert edges_s[-1] - begin_s >= pulses.LEAD_S + sum(RUNS)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime > before


@pytest.mark.usefixtures("mark")
def test_pulses_of_a_busy_machine_are_refused(monkeypatch):
    monkeypatch.setattr(pulses, "MAX_SPREAD", 0.0)
    with pytest.raises(FsgreenError, match="no clear edges"):
        pulses.make_pulses(RUNS)


@pytest.mark.parametrize(
    ("end", "runs"),
    [
        pytest.param(signal.SIGINT, "[60]", id="Ctrl-C in mid-pulse"),
        pytest.param(signal.SIGKILL, "[60]", id="kill in mid-pulse"),
        pytest.param(signal.SIGKILL, "[0.1, 60, 0.1]", id="kill in a pause"),
    ],
)
def test_end_of_the_harness_leaves_no_burner(mark, end, runs):
    code = f"from fsgreen.campaign.pulses import make_pulses; make_pulses({runs})"
    harness = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    wait_for(lambda: len(burners(mark)) == len(os.sched_getaffinity(0)))
    time.sleep(0.5)  # well into the run
    harness.send_signal(end)
    assert harness.wait(LIMIT_S) != 0
    wait_for(lambda: not burners(mark), "a burner outlives its harness")


@pytest.mark.usefixtures("busy_machine")
def test_a_burner_that_dies_is_told(mark, monkeypatch):
    monkeypatch.setattr(pulses, "BURNER", "print('ready', flush=True)")
    with pytest.raises(FsgreenError, match="ended of itself"):
        pulses.make_pulses(RUNS)


def test_a_campaign_of_hours_has_patterns_in_between_and_no_two_alike(monkeypatch):
    """Without one, a clock that was set in a gap of the readings cannot be told from a drift."""
    made, noted = [], []
    monkeypatch.setattr(pulses, "make_pulses", lambda runs: made.append(runs) or (1.0, 2.0))
    marks = pulses.LoadPulses(noted.append)
    for _ in range(3):
        marks.make()
        assert not marks.due
    assert made[0] != made[1] != made[2]
    assert len(noted) == 3
    assert abs(noted[0][1] - 2.0 - (time.time() - time.monotonic())) < 60
    monkeypatch.setattr(pulses, "EVERY_S", -1.0)
    assert marks.due
