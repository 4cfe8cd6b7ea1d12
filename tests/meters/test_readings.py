"""Readings in columns must say what single readings say."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.meters import Reading, Readings
from fsgreen.meters.core.powertable import blocks, power_table
from fsgreen.meters.core.readings import Newest

NAN = float("nan")
values = st.floats(-10, 10) | st.just(NAN)
singles = st.lists(
    st.builds(
        Reading,
        st.floats(0, 100),
        values,
        values,
        values,
        values,
        st.sampled_from(["ok", "retimed", "clipped", "clipped|lost", "cut"]),
    ),
    max_size=20,
)


@given(singles)
def test_columns_hold_the_same_readings(several) -> None:
    columns = Readings.of(several)
    assert Readings.of(columns) is columns
    assert repr(list(columns)) == repr(several)
    assert repr(columns[2:5]) == repr(several[2:5])


@given(st.lists(singles, max_size=5))
def test_joined_parts_are_the_whole_and_parts_of_it_are_the_parts(lists) -> None:
    whole = Readings.joined(map(Readings.of, lists))
    assert repr(list(whole)) == repr([reading for several in lists for reading in several])
    begin = 0
    for several in lists:
        part = whole.part(begin, begin + len(several))
        assert repr(list(part)) == repr(several)
        begin += len(several)


def test_quantity_that_only_one_part_has_is_missing_in_the_other() -> None:
    times = np.array([1.0, 2.0])
    joined = Readings.joined([Readings(times, times), Readings(times + 2, times, voltage_v=times)])
    assert joined.voltage_v is not None and joined.current_a is None
    np.testing.assert_array_equal(joined.voltage_v, [NAN, NAN, 1.0, 2.0])


@given(st.lists(st.integers(0, 9), max_size=8), st.integers(1, 7))
def test_blocks_keep_every_reading_in_order(lengths, size) -> None:
    numbers = np.arange(float(sum(lengths)))
    places = np.cumsum([0, *lengths])
    pieces = [
        Readings(numbers[a:b], numbers[a:b], flags={0: "lost"} if a < b else {})
        for a, b in pairwise(places)
    ]
    found = list(blocks(pieces, size))
    assert [len(block) for block in found[:-1]] == [size] * (len(found) - 1)
    whole = Readings.joined(found)
    np.testing.assert_array_equal(whole.time_s, numbers)
    assert sorted(whole.flags) == [a for a, n in zip(places, lengths, strict=False) if n]


def test_table_of_columns_is_that_of_single_readings() -> None:
    rows = [Reading(1.0, 5.0, quality="ok"), Reading(2.0, NAN, quality="cut"), Reading(3.0, 6.0)]
    fast = Readings(np.array([1.0, 2.0, 3.0]), np.array([5.0, NAN, 6.0]), flags={1: "cut"})
    assert power_table({"a": rows}).equals(power_table({"a": fast}))
    assert power_table({}).empty


def chunk(first: int, count: int, **flags) -> Readings:
    numbers = np.arange(first, first + count, dtype=float)
    return Readings(numbers, 100 + numbers, **flags)


def test_newest_sound_power_is_told_through_thousands_that_are_not() -> None:
    recent = Newest()
    assert recent.latest_w(-np.inf) is None
    recent.add(chunk(0, 10))
    recent.add(chunk(10, 5000, flags=dict.fromkeys(range(5000), "clipped")))
    assert recent.latest_w(-np.inf) == 109
    assert recent.latest_w(9.0) == 109
    assert recent.latest_w(9.5) is None
    recent.add(chunk(5010, 2, flags={1: "stale|wrapped"}))
    assert recent.latest_w(-np.inf) == 5111


def test_looking_on_gets_each_reading_once() -> None:
    recent, seen, seen_s = Newest(), [], -np.inf
    for first in range(0, 100, 7):
        recent.add(chunk(first, 7))
        if first % 3 == 0:
            new = recent.since(seen_s)
            seen += new.time_s.tolist()
            seen_s = seen[-1]
    assert seen == list(range(int(seen_s) + 1))
    assert len(recent.since(seen_s + 1000)) == 0
    assert recent.since(50.5).time_s[0] == 51


def test_what_is_kept_is_bounded_for_fast_and_for_slow_meters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fsgreen.meters.core.readings.KEPT", 1000)
    monkeypatch.setattr("fsgreen.meters.core.readings.KEPT_CHUNKS", 20)
    fast, slow = Newest(), Newest()
    for nth in range(100):
        fast.add(chunk(100 * nth, 100))
        slow.add(chunk(nth, 1))
    assert fast.since(-np.inf).time_s.tolist() == list(range(9000, 10_000))
    assert slow.since(-np.inf).time_s.tolist() == list(range(80, 100))
    fast.add(chunk(10_000, 5000))
    assert len(fast.since(-np.inf)) == 5000
