"""Meters that answer when asked: in time, never hurried, and with the answer as it came."""

import time
from dataclasses import replace

import pytest
from traces import INFO

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.live import Polled


class Clock:
    """A clock that only sleeping and answering move."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 1000.0
        self.slept_s: list[float] = []
        monkeypatch.setattr(time, "monotonic", lambda: self.now_s)
        monkeypatch.setattr(time, "sleep", self.sleep)

    def sleep(self, duration_s: float) -> None:
        assert 0 <= duration_s < 60
        self.slept_s.append(duration_s)
        self.now_s += duration_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def meter(clock: Clock, takes_s: list[float], rate_hz: float = 2.0) -> Polled:
    """A meter whose answers take so long, one after the other, and then no time."""

    def ask() -> bytes:
        clock.now_s += takes_s.pop(0) if takes_s else 0.0
        return b"answer"

    return Polled(replace(INFO, rate_hz=rate_hz), ask)


def times(polled: Polled, count: int) -> list[float]:
    chunks = []
    while len(chunks) < count:
        chunk = polled.read(0.2)
        if chunk is not None:
            chunks.append(chunk)
    return [chunk.time_s - 1000 for chunk in chunks]


def test_questions_stand_at_whole_intervals_whatever_the_answers_take(clock: Clock) -> None:
    polled = meter(clock, [0.02, 0.1, 0.0, 0.3, 0.0])
    polled.start()
    assert times(polled, 5) == pytest.approx([0.01, 0.55, 1.0, 1.65, 2.0])


def test_question_that_time_has_run_over_is_left_out(clock: Clock) -> None:
    """No two answers at once afterwards: the trace shows the gap."""
    polled = meter(clock, [0.0, 1.3, 0.0])
    polled.start()
    assert times(polled, 4) == pytest.approx([0.0, 1.15, 2.0, 2.5])


def test_read_waits_no_longer_than_it_may_and_never_spins(clock: Clock) -> None:
    polled = meter(clock, [], rate_hz=0.1)
    assert polled.read(0.25) is None
    polled.start()
    assert polled.read(0.25) is not None
    assert [polled.read(0.25) for _ in range(4)] == [None] * 4
    polled.stop()
    assert polled.read(0.25) is None
    assert clock.slept_s == pytest.approx([0.25, 0.0, 0.25, 0.25, 0.25, 0.25, 0.25])


def test_silence_of_the_meter_is_told_and_its_resources_are_released(clock: Clock) -> None:
    released = []

    def ask() -> bytes:
        raise FsgreenError("does not answer")

    polled = Polled(INFO, ask, lambda: released.append(1))
    polled.start()
    with pytest.raises(FsgreenError, match="does not answer"):
        polled.read(0.25)
    polled.close()
    assert released == [1]
    assert polled.read(0.25) is None
    assert polled.describe() is INFO
