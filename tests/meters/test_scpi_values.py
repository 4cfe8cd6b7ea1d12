import math
from dataclasses import replace

import pytest
from asked import FUZZ, mutated, read
from hypothesis import given
from hypothesis import strategies as st
from traces import INFO

from fsgreen.meters.scpi.driver import DRIVER

INFO_SCPI = replace(
    INFO,
    driver="scpi",
    range_w=600.0,
    options={
        "items": ["P", "U", "I", "WH", "URANGE", "IRANGE"],
        "ranges": {"URANGE": 300.0, "IRANGE": 2.0},
    },
)
SOUND = b"97.30E+00,230.12E+00,0.4451E+00,12.345E-03,300.0E+00,2.000E+00\n"


def one(answer, info=INFO_SCPI):
    (reading,) = read(DRIVER, info, answer)
    return reading


def test_answer_is_read_by_the_items_asked_for():
    reading = one(SOUND)
    assert (reading.power_w, reading.voltage_v, reading.current_a) == (97.3, 230.12, 0.4451)
    assert reading.energy_wh == pytest.approx(0.012345)
    assert reading.quality == "ok"


@pytest.mark.parametrize(
    ("cell", "flag"),
    [
        ("9.9E+37", "over-range"),
        ("-9.9E+37", "over-range"),
        ("9.90000E37", "over-range"),
        ("INF", "over-range"),
        ("-INF", "over-range"),
        ("---OL---", "over-range"),
        ("9.91E+37", "missing"),
        ("NAN", "missing"),
        ("nan", "missing"),
        ("----", "missing"),
        ("", "bad-number"),
        ("97,30", "bad-count"),
        ("97.3W", "bad-number"),
        ("0x61", "bad-number"),
        ("1_0", "bad-number"),
        ("1E999", "bad-number"),
    ],
)
def test_sentinel_is_flagged_and_is_no_power(cell, flag):
    reading = one(SOUND.replace(b"97.30E+00", cell.encode()))
    assert reading.quality == flag
    assert math.isnan(reading.power_w)


def test_overflow_of_another_quantity_marks_the_reading():
    reading = one(SOUND.replace(b"0.4451E+00", b"INF"))
    assert (reading.power_w, reading.quality) == (97.3, "over-range")


@pytest.mark.parametrize("size", range(len(SOUND)))
def test_answer_cut_at_any_byte_gives_no_number(size):
    reading = one(SOUND[:size])
    assert reading.quality == "cut"
    assert math.isnan(reading.power_w)


def test_range_that_moved_is_inconsistent():
    assert one(SOUND.replace(b"2.000E+00", b"5.000E+00")).quality == "inconsistent"


def test_power_in_another_unit_is_inconsistent():
    assert one(SOUND.replace(b"97.30E+00", b"97.30E-03")).quality == "inconsistent"
    assert one(SOUND.replace(b"97.30E+00", b"197.3E+00")).quality == "inconsistent"


def test_watt_hours_that_go_back_are_a_reset():
    later, back = SOUND.replace(b"12.3", b"13.3"), SOUND.replace(b"12.3", b"0.1")
    qualities = [r.quality for r in read(DRIVER, INFO_SCPI, SOUND, later, back, later)]
    assert qualities == ["ok", "ok", "reset", "ok"]


def test_repeated_answer_is_stale():
    assert [r.quality for r in read(DRIVER, INFO_SCPI, SOUND, SOUND)] == ["ok", "stale"]


@FUZZ
@given(st.lists(st.binary(max_size=80) | mutated(SOUND), max_size=6))
def test_no_bytes_raise_and_every_value_is_sound_or_flagged(answers):
    for reading in read(DRIVER, INFO_SCPI, *answers):
        if reading.quality in ("ok", "stale"):
            assert 0 <= reading.power_w <= INFO_SCPI.range_w
