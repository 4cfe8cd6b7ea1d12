"""A trial begins from an idle machine: not from one that was idle for the moment of a reading."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fsgreen.campaign import settling
from fsgreen.errors import FsgreenError
from fsgreen.meters.core.readings import Newest, Readings

BAND_W, IDLE_S, LIMIT_S = 110.0, 5.0, 60.0
STEP_S = 0.5


class Scripted:
    """A capture in a time of its own: a meter of two readings a second, of a power by time."""

    def __init__(self, power_w: Callable[[float], float]) -> None:
        self.infos = {"system": SimpleNamespace(rate_hz=1 / STEP_S)}
        self.fault: FsgreenError | None = None
        self.now_s = 0.0
        self.flagged_from_s = float("inf")
        self._power_w = power_w
        self._recent = Newest()
        self._next_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, duration_s: float) -> None:
        self.now_s += duration_s
        while self._next_s <= self.now_s:
            time_s = np.array([self._next_s])
            flags = {0: "negative"} if self._next_s >= self.flagged_from_s else {}
            power_w = np.array([self._power_w(self._next_s)])
            self._recent.add(Readings(time_s, power_w, flags=flags))
            self._next_s += STEP_S

    def latest_w(self, name: str, since_s: float) -> float | None:
        return self._recent.latest_w(since_s)

    def since(self, name: str, time_s: float) -> Readings:
        return self._recent.since(time_s)


@pytest.fixture
def settle(monkeypatch: pytest.MonkeyPatch) -> Callable[[Scripted], Any]:
    """Return a function that settles in the time of a scripted capture."""

    def run(capture: Scripted) -> Any:
        monkeypatch.setattr(settling, "time", capture)
        return settling.settle(capture, ["system"], BAND_W, IDLE_S, LIMIT_S)  # type: ignore[arg-type]

    return run


def test_a_calm_machine_settles_at_once(settle: Callable[[Scripted], Any]) -> None:
    (waited, idle), check = settle(Scripted(lambda time_s: 100.0))
    assert [waited.name, idle.name] == ["settle", "idle"]
    assert waited.end_s == idle.start_s
    assert idle.duration_s == pytest.approx(IDLE_S)
    assert (check.rule, check.ok) == (11, True)
    assert check.detail.startswith("100.0 W against 110.0 W")


def test_an_idle_phase_above_the_band_is_not_idle_and_is_waited_out(
    settle: Callable[[Scripted], Any],
) -> None:
    """One reading in the band let trials begin that idled at work (rule 11)."""
    (waited, idle), check = settle(Scripted(lambda time_s: 200.0 if 1 <= time_s < 8 else 100.0))
    assert waited.start_s == 0.0
    assert idle.start_s >= 8.0
    assert check.ok
    assert check.detail.startswith("100.0 W")


def test_a_machine_that_is_idle_for_single_readings_only_does_not_settle(
    settle: Callable[[Scripted], Any],
) -> None:
    (waited,), check = settle(Scripted(lambda time_s: 100.0 if time_s % 3 == 0 else 130.0))
    assert waited.name == "settle"
    assert waited.duration_s >= LIMIT_S
    assert not check.ok
    mean_w = float(check.detail.split()[0])
    assert BAND_W < mean_w < 130.0, "the mean, not one of its readings"


def test_readings_without_a_value_show_no_idle_power(settle: Callable[[Scripted], Any]) -> None:
    """The analysis would find no mean either."""
    _, check = settle(Scripted(lambda time_s: float("nan") if time_s % 2 == 1 else 100.0))
    assert not check.ok


def test_a_machine_that_never_comes_down_is_told_with_its_power(
    settle: Callable[[Scripted], Any],
) -> None:
    (waited,), check = settle(Scripted(lambda time_s: 180.0))
    assert waited.duration_s >= LIMIT_S
    assert not check.ok
    assert check.detail.startswith("180.0 W against 110.0 W")


def test_a_meter_that_fails_ends_the_wait(settle: Callable[[Scripted], Any]) -> None:
    capture = Scripted(lambda time_s: 180.0)
    capture.fault = FsgreenError("went silent")
    (waited,), check = settle(capture)
    assert waited.duration_s < LIMIT_S
    assert not check.ok


def test_a_meter_that_goes_on_with_flagged_readings_is_not_waited_for_without_end(
    settle: Callable[[Scripted], Any],
) -> None:
    """A disk that falls asleep reads -0.02 W: numbers keep coming, and none of them is sound."""
    capture = Scripted(lambda time_s: 100.0 if time_s < 2 else -0.02)
    capture.flagged_from_s = 2.0
    phases, check = settle(capture)
    assert [phase.name for phase in phases] == ["settle"]
    assert not check.ok
    assert capture.now_s < LIMIT_S + 2 * (IDLE_S + settling.silence_s(capture.infos["system"]))
