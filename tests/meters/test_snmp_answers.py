import math
from dataclasses import replace
from itertools import accumulate, count

import pytest
from asked import FUZZ, mutated, read
from hypothesis import given
from hypothesis import strategies as st
from traces import INFO

from fsgreen.meters.core.base import Chunk
from fsgreen.meters.snmp.driver import DRIVER, UPTIME

POWER, ENERGY, VOLTAGE, CURRENT = (f"1.3.6.1.4.1.1718.4.1.8.3.1.{n}.1.1.5" for n in (7, 14, 6, 3))
OBJECTS = {
    "power": [POWER, 1.0],
    "energy": [ENERGY, 1.0],
    "voltage": [VOLTAGE, 0.1],
    "current": [CURRENT, 0.01],
}
INFO_SNMP = replace(INFO, driver="snmp", range_w=3680.0, options={"objects": OBJECTS, "bits": 32})
INFO_COUNTER = replace(INFO_SNMP, options={"objects": {"energy": [ENERGY, 0.001]}, "bits": 32})


def answer(power=97, energy=41573, voltage=2301, current=44, uptime=500):
    lines = {UPTIME: uptime, POWER: power, ENERGY: energy, VOLTAGE: voltage, CURRENT: current}
    return "".join(
        f"{oid} = {value}\n" if isinstance(value, str) else f"{oid} = Integer32: {value}\n"
        for oid, value in lines.items()
    ).encode()


def one(data):
    (reading,) = read(DRIVER, INFO_SNMP, data)
    return reading


def test_counts_are_read_in_their_units():
    reading = one(answer())
    assert (reading.power_w, reading.energy_wh) == (97.0, 41573.0)
    assert reading.voltage_v == pytest.approx(230.1)
    assert reading.current_a == pytest.approx(0.44)
    assert reading.quality == "ok"


@pytest.mark.parametrize(
    ("value", "flag"),
    [
        ("NoSuchInstance: No Such Instance currently exists at this OID", "missing"),
        ("NoSuchObject: No Such Object currently exists at this OID", "missing"),
        ("Null: ", "missing"),
        ("Integer32: -1", "missing"),
        ("OctetString: n/a", "bad-number"),
        ("OctetString: 97 W", "bad-number"),
        ("OctetString: 0x6162", "bad-number"),
        ("Integer32: ", "bad-number"),
    ],
)
def test_object_without_a_number_is_flagged_and_is_no_power(value, flag):
    reading = one(answer(power=value))
    assert reading.quality == flag
    assert math.isnan(reading.power_w)
    assert reading.energy_wh == 41573.0


def test_number_in_a_text_is_a_number():
    assert one(answer(power="OctetString: 97.4")).power_w == 97.4


def test_negative_power_is_flagged():
    assert "negative" in one(answer(power=-5)).quality


def test_power_that_volts_and_amperes_do_not_make_is_inconsistent():
    assert one(answer(power=970)).quality == "inconsistent"
    assert one(answer(power=1)).quality == "inconsistent"


@pytest.mark.parametrize("size", range(len(answer())))
def test_answer_cut_at_any_byte_gives_the_whole_number_or_none(size):
    reading = one(answer()[:size])
    assert reading.power_w == 97.0 or math.isnan(reading.power_w)
    assert reading.quality != "ok"


def test_answers_that_repeat_until_the_unit_refreshes_are_stale():
    answers = [answer(uptime=n, energy=41573 + n // 3) for n in range(6)]
    qualities = [r.quality for r in read(DRIVER, INFO_SNMP, *answers)]
    assert qualities == ["ok", "stale", "stale", "ok", "stale", "stale"]


def test_counter_that_wraps_goes_on_rising():
    near = 2**32 - 1
    first, second, third = read(
        DRIVER, INFO_SNMP, answer(energy=near), answer(energy=0), answer(energy=1)
    )
    assert second.energy_wh - first.energy_wh == 1
    assert third.energy_wh - first.energy_wh == 2
    assert (second.quality, third.quality) == ("wrapped", "ok")


def test_counter_that_begins_anew_is_a_reset():
    """From 1000 Wh to the end of the counter is more than can have flowed in a second."""
    _, second, third = read(
        DRIVER, INFO_SNMP, answer(energy=1000), answer(energy=3), answer(energy=4)
    )
    assert (second.energy_wh, second.quality) == (3.0, "reset")
    assert (third.energy_wh, third.quality) == (4.0, "ok")


def test_counter_that_goes_back_with_the_agents_clock_is_a_reset_even_at_its_end():
    _, second = read(DRIVER, INFO_SNMP, answer(energy=2**32 - 1), answer(energy=0, uptime=3))
    assert second.quality == "reset"


@FUZZ
@given(
    st.lists(st.floats(0, 3670), min_size=2, max_size=40),
    st.sampled_from([16, 31, 32]),
    st.floats(0, 1),
)
def test_energy_of_any_load_within_the_range_survives_every_wrap(loads_w, bits, share):
    """The counter begins anywhere on its round; a question comes every 100 s, a count is 3.6 W."""
    info = replace(INFO_COUNTER, options={"objects": {"energy": [ENERGY, 0.1]}, "bits": bits})
    true_wh = [share * 2**bits / 10, *(load_w * 100 / 3600 for load_w in loads_w)]
    counts = [int(10 * energy_wh) % 2**bits for energy_wh in accumulate(true_wh)]
    parser = DRIVER.parser(info)
    answers = zip(count(0, 100), milliwatt_hours(*counts), strict=False)
    readings = [r for time_s, data in answers for r in parser.feed(Chunk(float(time_s), data))]
    assert not {flag for r in readings for flag in r.quality.split("|")} - {
        *("ok", "stale", "wrapped", "underflow")
    }
    counted_wh = readings[-1].energy_wh - readings[0].energy_wh
    assert abs(counted_wh - sum(true_wh[2:])) <= 0.1 + 1e-6


def milliwatt_hours(*counts, uptime=500):
    lines = (f"{UPTIME} = TimeTicks: {uptime}\n{ENERGY} = Counter32: {c}\n" for c in counts)
    return [line.encode() for line in lines]


def test_power_from_the_counter_is_the_mean_between_two_answers():
    first, second = read(DRIVER, INFO_COUNTER, *milliwatt_hours(1000, 1027, 1055))
    assert (first.time_s, second.time_s) == (2.0, 3.0)
    assert first.power_w == pytest.approx(27 * 3.6)
    assert second.power_w == pytest.approx(28 * 3.6)
    assert (first.quality, second.quality) == ("ok", "ok")


def test_power_from_the_counter_is_right_over_a_wrap_and_none_over_a_reset():
    end = 2**32
    readings = read(
        DRIVER, INFO_COUNTER, *milliwatt_hours(end - 20, 7), *milliwatt_hours(5, 32, uptime=1)
    )
    assert [r.quality for r in readings] == ["wrapped", "reset", "ok"]
    assert readings[0].power_w == pytest.approx(27 * 3.6)
    assert math.isnan(readings[1].power_w)
    assert readings[2].power_w == pytest.approx(27 * 3.6)


def test_counter_that_did_not_move_says_nothing_of_power():
    (reading,) = read(DRIVER, INFO_COUNTER, *milliwatt_hours(1000, 1000))
    assert reading.quality == "underflow"
    assert math.isnan(reading.power_w)


@FUZZ
@given(st.lists(st.binary(max_size=80) | mutated(answer()), max_size=6), st.booleans())
def test_no_bytes_raise_and_every_value_is_sound_or_flagged(answers, counter):
    info = INFO_COUNTER if counter else INFO_SNMP
    for reading in read(DRIVER, info, *answers):
        if not set(reading.quality.split("|")) - {"ok", "stale", "wrapped"}:
            assert 0 <= reading.power_w <= info.range_w
