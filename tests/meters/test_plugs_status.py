"""What plugs answer, from answers as their users have published them."""

import json
import math
from dataclasses import replace

import pytest
from asked import FUZZ, mutated, read
from hypothesis import given
from hypothesis import strategies as st
from traces import INFO

from fsgreen.meters.plugs import shelly, tasmota

GEN2 = (
    b'{"id":0,"source":"WS_in","output":true,"apower":4.1,"voltage":242.5,"current":0.033,'
    b'"aenergy":{"total":18.015},"temperature":{"tC":30.3,"tF":86.5}}'
)
GEN1 = (
    b'{"relays":[{"ison":true,"overpower":false}],"meters":[{"power":23.5,"overpower":0.0,'
    b'"is_valid":true,"timestamp":1663863464,"counters":[23.1,22.9,23.0],"total":12345}]}'
)
STATUS8 = (
    b'{"StatusSNS":{"Time":"2020-06-29T22:22:24","ENERGY":{"TotalStartTime":"2020-06-24T09:25:29",'
    b'"Total":41.573,"Yesterday":6.147,"Today":8.286,"Power":21,"ApparentPower":22,'
    b'"ReactivePower":7,"Factor":0.96,"Voltage":230,"Current":0.094}}}\n{"POWER":"ON"}'
)
SHELLY1 = replace(INFO, driver="shelly", range_w=2500.0, options={"generation": 1, "channel": 0})
SHELLY2 = replace(INFO, driver="shelly", range_w=2500.0, options={"generation": 2, "channel": 0})
TASMOTA = replace(INFO, driver="tasmota", range_w=3680.0, options={"relay": 1})
PLUGS = pytest.mark.parametrize(
    ("driver", "info", "sound", "power"),
    [
        (shelly.DRIVER, SHELLY1, GEN1, b'"power":23.5'),
        (shelly.DRIVER, SHELLY2, GEN2, b'"apower":4.1'),
        (tasmota.DRIVER, TASMOTA, STATUS8, b'"Power":21'),
    ],
    ids=["shelly1", "shelly2", "tasmota"],
)


def one(driver, info, answer):
    (reading,) = read(driver, info, answer)
    return reading


def test_shelly_of_the_second_generation_is_read_in_its_units():
    reading = one(shelly.DRIVER, SHELLY2, GEN2)
    assert (reading.power_w, reading.voltage_v, reading.current_a) == (4.1, 242.5, 0.033)
    assert (reading.energy_wh, reading.quality) == (18.015, "ok")


def test_shelly_of_the_first_generation_counts_watt_minutes():
    reading = one(shelly.DRIVER, SHELLY1, GEN1)
    assert (reading.power_w, reading.quality) == (23.5, "ok")
    assert reading.energy_wh == pytest.approx(12345 / 60)
    assert math.isnan(reading.voltage_v)


def test_tasmota_counts_kilowatt_hours():
    reading = one(tasmota.DRIVER, TASMOTA, STATUS8)
    assert (reading.power_w, reading.voltage_v, reading.current_a) == (21.0, 230.0, 0.094)
    assert reading.energy_wh == pytest.approx(41573)
    assert reading.quality == "ok"


@PLUGS
@pytest.mark.parametrize(
    ("value", "flag"),
    [
        (b"null", "missing"),
        (b'"21 W"', "bad-number"),
        (b"true", "bad-number"),
        (b"{}", "bad-number"),
        (b"NaN", "bad-number"),
        (b"Infinity", "bad-number"),
        (b"1e400", "bad-number"),
        (b"1" + b"0" * 400, "bad-number"),
        (b"1" + b"0" * 5000, "cut"),
        (b"0", "underflow"),
        (b"0.0", "underflow"),
    ],
)
def test_power_that_is_none_is_flagged(driver, info, sound, power, value, flag):
    key = power.partition(b":")[0]
    reading = one(driver, info, sound.replace(power, key + b":" + value))
    assert flag in reading.quality.split("|")
    assert math.isnan(reading.power_w)


@PLUGS
def test_negative_power_and_power_over_the_range_are_flagged(driver, info, sound, power):
    key = power.partition(b":")[0]
    assert "negative" in one(driver, info, sound.replace(power, key + b":-21")).quality
    assert "over-range" in one(driver, info, sound.replace(power, key + b":99999")).quality


@pytest.mark.parametrize(
    ("driver", "info", "answer"),
    [
        (shelly.DRIVER, SHELLY1, GEN1.replace(b'"ison":true', b'"ison":false')),
        (shelly.DRIVER, SHELLY2, GEN2.replace(b'"output":true', b'"output":false')),
        (tasmota.DRIVER, TASMOTA, STATUS8.replace(b'"ON"', b'"OFF"')),
    ],
)
def test_plug_that_is_off_does_not_measure_nothing(driver, info, answer):
    """Its 0 W is what it was built to say, not what it saw: power may come another way."""
    for power in (b"23.5", b"4.1", b"21"):
        reading = one(driver, info, answer.replace(power, b"0", 1))
        assert reading.quality == "switched-off"
        assert math.isnan(reading.power_w)


@PLUGS
def test_answer_cut_at_any_byte_gives_the_whole_value_or_none(driver, info, sound, power):
    whole = one(driver, info, sound).power_w
    for size in range(len(sound)):
        reading = one(driver, info, sound[:size])
        assert "cut" in reading.quality
        assert reading.power_w == whole or math.isnan(reading.power_w)


def test_meter_that_calls_itself_invalid_or_broken_is_missing():
    invalid = GEN1.replace(b'"is_valid":true', b'"is_valid":false')
    broken = GEN2.replace(b'"id":0', b'"errors":["power_meter_failure"]')
    for info, answer in ((SHELLY1, invalid), (SHELLY2, broken)):
        reading = one(shelly.DRIVER, info, answer)
        assert reading.quality == "missing"
        assert math.isnan(reading.power_w)


def test_power_in_kilowatts_is_inconsistent_where_volts_and_amperes_are_given():
    two = GEN2.replace(b'"apower":4.1', b'"apower":0.0041')
    assert one(shelly.DRIVER, SHELLY2, two).quality == "inconsistent"
    tas = STATUS8.replace(b'"Power":21', b'"Power":0.021')
    assert one(tasmota.DRIVER, TASMOTA, tas).quality == "inconsistent"


def test_power_that_the_power_factor_contradicts_is_inconsistent():
    tas = STATUS8.replace(b'"Factor":0.96', b'"Factor":0.30')
    assert one(tasmota.DRIVER, TASMOTA, tas).quality == "inconsistent"


@PLUGS
def test_counter_that_goes_back_is_a_reset(driver, info, sound, power):
    status, _, switch = sound.partition(b"\n")
    document = json.loads(status)
    inner = document.get("StatusSNS", {}).get("ENERGY") or document.get("aenergy")
    total = inner or document["meters"][0]
    total["Total" if "Total" in total else "total"] = 0.5
    back = json.dumps(document).encode() + (b"\n" + switch if switch else b"")
    assert [r.quality for r in read(driver, info, sound, back)] == ["ok", "reset"]


@PLUGS
def test_plug_that_repeats_itself_is_stale(driver, info, sound, power):
    assert [r.quality for r in read(driver, info, sound, sound)] == ["ok", "stale"]


def test_second_channel_of_a_tasmota_has_values_of_its_own():
    text = STATUS8.replace(b'"Power":21', b'"Power":[5,21]')
    text = text.replace(b'"Current":0.094', b'"Current":[0.02,0.094]')
    text = text.replace(b'"Factor":0.96', b'"Factor":[0.9,0.96]').replace(b"POWER", b"POWER2")
    reading = one(tasmota.DRIVER, replace(TASMOTA, options={"relay": 2}), text)
    assert (reading.power_w, reading.current_a, reading.quality) == (21.0, 0.094, "ok")
    assert math.isnan(reading.energy_wh), "the total is that of both channels"


@pytest.mark.parametrize("depth", [100_000])
def test_endless_nesting_is_no_json(depth):
    assert "cut" in one(shelly.DRIVER, SHELLY2, b"[" * depth).quality


@PLUGS
def test_no_bytes_raise_and_every_value_is_sound_or_flagged(driver, info, sound, power):
    @FUZZ
    @given(st.lists(st.binary(max_size=60) | mutated(sound), max_size=5))
    def fuzzed(answers):
        for reading in read(driver, info, *answers):
            if not set(reading.quality.split("|")) - {"ok", "stale"}:
                assert 0 < reading.power_w <= info.range_w

    fuzzed()


KEYS = (
    *("apower", "voltage", "current", "aenergy", "total", "output", "errors"),
    *("meters", "relays", "power", "ison", "is_valid", "StatusSNS", "ENERGY", "Power", "Total"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@FUZZ
@given(JSON)
def test_no_json_raises(document):
    answer = json.dumps(document).encode()
    for driver, info in (
        (shelly.DRIVER, SHELLY1),
        (shelly.DRIVER, SHELLY2),
        (tasmota.DRIVER, TASMOTA),
    ):
        reading = one(driver, info, answer)
        assert reading.power_w == reading.power_w or reading.quality != "ok"
