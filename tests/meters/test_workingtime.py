"""Nobody is charged with time of processors that none of them had."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.host import CPU_COLUMNS
from fsgreen.meters.core.workingtime import ServerShare, TickExcess

CORES = 2


def machine(user_s, system_s=0.0, idle_s=0.0):
    values = (user_s, system_s, 0.0, idle_s, 0.0)
    return dict(zip(CPU_COLUMNS, values, strict=True))


def test_a_process_that_stands_for_a_device_counts_as_idle_time():
    """The simulator of a disk is no work of the machine under test."""
    times = iter([(5.0, 1.0), (7.0, 1.5)])
    apart = ServerShare(lambda: next(times))
    first, second = machine(50.0, 20.0, 30.0), machine(53.0, 21.0, 36.0)
    assert apart.leave_out(first) == first
    assert apart.leave_out(second) == machine(51.0, 20.5, 38.5)


def test_time_that_the_machine_has_not_counted_yet_is_left_out_later():
    """A counter that went back would be taken for another device."""
    times = iter([(0.0, 0.0), (0.03, 0.0), (0.03, 0.0)])
    apart = ServerShare(lambda: next(times))
    rows = [apart.leave_out(machine(user_s)) for user_s in (1.0, 1.01, 1.05)]
    assert [row["cpu_user_s"] for row in rows] == pytest.approx([1.0, 1.0, 1.02])


def test_a_process_that_ends_and_another_that_begins_take_nothing_twice():
    def gone():
        raise FsgreenError("gone")

    times = iter([lambda: (9.0, 0.0), gone, lambda: (0.5, 0.0)])
    apart = ServerShare(lambda: next(times)())
    rows = [apart.leave_out(machine(user_s)) for user_s in (10.0, 11.0, 12.0)]
    assert [row["cpu_user_s"] for row in rows] == pytest.approx([10.0, 11.0, 11.5])


def sampled(seconds):
    """Return rows of a machine that has had such user, system and idle time in each second."""
    rows = itertools.accumulate(
        seconds, lambda so_far, now: tuple(map(sum, zip(so_far, now, strict=True)))
    )
    excess = TickExcess()
    return [excess.leave_out(machine(*row), float(at_s), CORES) for at_s, row in enumerate(rows)]


def test_who_wakes_with_the_tick_is_charged_with_what_it_worked():
    """An emulated guest was: its campaign set trials aside for the work of others, and had none."""
    *_, last = sampled([(0.0, 0.0, 0.0)] + [(0.9, 0.3, 1.4)] * 100)
    assert last["cpu_user_s"] == pytest.approx(45, rel=0.01)
    assert last["cpu_system_s"] == pytest.approx(15, rel=0.01)
    assert last["cpu_idle_s"] == pytest.approx(140)


@pytest.mark.parametrize(("worked_s", "idle_s"), [(0.6, 1.4), (2.0, 0.0), (0.3, 1.0)])
def test_counters_that_add_up_to_the_clock_or_lag_behind_it_stay_as_they_are(worked_s, idle_s):
    *_, last = sampled([(0.0, 0.0, 0.0)] + [(worked_s, 0.0, idle_s)] * 100)
    assert last["cpu_user_s"] == pytest.approx(100 * worked_s)


def test_ticks_that_are_noise_take_nothing_away():
    """Of short bursts a tick sees few, and charges each with a whole one: right in the mean."""
    random = np.random.default_rng(1)
    ticks_s = random.binomial(20, 0.05, size=(1200, 1)) * 0.01  # 2 cores, 5 % busy, 0.1 s a row
    excess, shown_s = TickExcess(), 0.0
    rows = []
    for nth, (worked_s,) in enumerate(ticks_s):
        shown_s += worked_s
        rows.append(excess.leave_out(machine(shown_s, 0.0, 0.19 * nth), 0.1 * nth, CORES))
    assert rows[-1]["cpu_user_s"] == pytest.approx(0.01 * len(rows), rel=0.02)


@given(st.lists(st.tuples(*[st.floats(0, 3)] * 3), min_size=2, max_size=30))
def test_no_counter_goes_back_and_none_has_more_than_there_was(seconds):
    rows = sampled([(0.0, 0.0, 0.0), *seconds])
    for before, after in itertools.pairwise(rows):
        assert all(after[name] >= before[name] - 1e-9 for name in CPU_COLUMNS)
    worked_s = rows[-1]["cpu_user_s"] + rows[-1]["cpu_system_s"]
    shown_s = sum(user_s + system_s for user_s, system_s, _ in seconds)
    assert worked_s <= shown_s + 1e-9
    if all(user_s + system_s + idle_s >= CORES for user_s, system_s, idle_s in seconds):
        room_s = sum(max(0.0, CORES - idle_s) for *_, idle_s in seconds)
        assert worked_s <= room_s + 1e-9


def test_a_processor_that_goes_takes_no_working_time_with_it():
    excess = TickExcess()
    excess.leave_out(machine(10.0, 0.0, 10.0), 1000.0, 2)
    row = excess.leave_out(machine(11.0, 0.0, 10.0), 1001.0, 1)
    assert row["cpu_user_s"] == 11.0
