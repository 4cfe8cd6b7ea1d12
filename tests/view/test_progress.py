"""What the view is told of phases and work."""

import math

import pytest

from fsgreen.view import Progress, exercise
from fsgreen.view.source import INTERVAL_S


@pytest.fixture
def clock(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("fsgreen.view.source.time.monotonic", lambda: clock[0])
    return clock


def test_a_phase_ends_where_the_next_begins(clock):
    progress = Progress()
    progress.begin("idle")
    clock[0] = 105.0
    progress.begin("measure")
    told = [(phase.name, phase.start_s, phase.end_s) for phase in progress.phases()]
    assert told == [("idle", 100.0, 105.0), ("measure", 105.0, math.inf)]
    clock[0] = 107.0
    progress.end()
    progress.end()
    assert progress.phases()[-1].end_s == 107.0


def test_rates_add_up_to_the_operations(clock):
    progress = Progress()
    progress.begin("measure")
    total = 0.0
    for nth, step_s in enumerate((0.5, 1.0, 2.0, 0.7)):
        progress.count(100 * nth)
        clock[0] += step_s
        total += progress.work(clock[0] - 1e-9).throughput_ops_s[0] * step_s
    assert total == pytest.approx(100 + 200 + 300)


def test_short_intervals_are_put_together(clock):
    """A rate over a moment would jump between nothing and much."""
    progress = Progress()
    for _ in range(3):
        progress.count()
        clock[0] += INTERVAL_S * 0.4
        work = progress.work(0.0)
    assert work.throughput_ops_s == pytest.approx([3 / (1.2 * INTERVAL_S)])
    assert not progress.work(clock[0]).time_s.size


def test_the_last_operations_are_not_lost_when_nobody_looks_until_later(clock):
    progress = Progress()
    progress.begin("measure")
    clock[0] += 2.0
    progress.count(100)
    progress.end()
    clock[0] += 60.0
    work = progress.work(0.0)
    assert work.time_s.tolist() == [102.0]
    assert work.throughput_ops_s.tolist() == [50.0]


def test_rates_begin_with_the_first_phase(clock):
    progress = Progress()
    clock[0] += 60.0
    progress.begin("measure")
    progress.count(10)
    clock[0] += 1.0
    assert progress.work(0.0).throughput_ops_s.tolist() == [10.0]


def test_there_is_no_work_where_nobody_tells_of_any(clock):
    progress = Progress()
    clock[0] += 60.0
    assert not progress.work(0.0).time_s.size


def test_the_exercise_tells_what_it_does():
    progress = Progress()
    exercise(progress, idle_s=0.05, work_s=INTERVAL_S)
    assert [phase.name for phase in progress.phases()] == ["idle", "measure", "idle"]
    assert all(math.isfinite(phase.end_s) for phase in progress.phases())
    assert progress.work(0.0).throughput_ops_s.max() > 0
