import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from fast_meters import (
    ALL,
    FUZZ,
    POWERSENSOR3,
    RATE_HZ,
    chunks_of,
    energy_j,
    info_of,
    parsed,
    powersensor3_stream,
)
from hypothesis import example, given
from hypothesis import strategies as st

from fsgreen.meters.core.base import Chunk
from fsgreen.meters.powersensor3.emulator import DIVIDER, MLX10, record_of, stream_of
from fsgreen.meters.powersensor3.packets import (
    SAMPLE_B,
    PowerSensor3Parser,
    Sensor,
    interval_us,
    samples_of,
    values_of,
)

SECOND = powersensor3_stream(np.arange(20000))


def read(data, info=POWERSENSOR3, **how):
    return parsed(PowerSensor3Parser(info), chunks_of(data, **how))


def test_sample_is_read_as_the_firmware_writes_it():
    """The bits by hand: stamp 675, levels 0x155 at sensor 0, then 1, 2, ... with a marker at 0."""
    data = bytes.fromhex("fa63 8555 9001 a002 b003 c004 d005 e006 f007")
    samples, rest = samples_of(data)
    assert rest == b""
    assert [int(values_of(samples, place)[0]) for place in range(9)] == [
        675, 0x155, 1, 2, 3, 4, 5, 6, 7,
    ]  # fmt: skip


def test_settings_are_read_as_the_firmware_keeps_them():
    record = b"MLX10".ljust(16, b"\0") + b"12V".ljust(16, b"\0")
    record += bytes.fromhex("3333d33f 8fc2f53d 01")  # float32 1.65 and 0.12, little-endian
    sensor = Sensor.of(record)
    assert (sensor.kind, sensor.pair, sensor.in_use) == ("MLX10", "12V", True)
    assert (sensor.zero_v, sensor.sensitivity) == pytest.approx((1.65, 0.12))
    assert record_of(sensor) == record


def test_levels_become_amperes_and_volts_by_the_host_librarys_formula():
    values = replace(MLX10, zero_v=1.65, sensitivity=0.12).values()
    assert values[[0, 1023]] == pytest.approx([-13.75, 13.75])
    assert values[600] == pytest.approx((3.3 * 600 / 1023 - 1.65) / 0.12)
    inverted = replace(MLX10, sensitivity=-0.12).values()
    assert inverted[600] == pytest.approx(-values[600])


def test_second_of_steady_power_is_read():
    readings = read(SECOND)
    assert len(readings) == 20000
    assert not readings.flags
    assert readings.voltage_v == pytest.approx(12.0, abs=0.02)
    assert readings.current_a == pytest.approx(1.0, abs=0.014)
    assert readings.power_w == pytest.approx(readings.voltage_v * readings.current_a)
    assert np.diff(readings.time_s) == pytest.approx(1 / RATE_HZ, rel=1e-3)
    assert readings.time_s[-1] == pytest.approx(1001.0, abs=1e-4)


def test_pairs_add_up_and_one_out_of_use_counts_nothing():
    sensors = [*ALL[:2], *ALL[:2], replace(MLX10, in_use=False), replace(DIVIDER, in_use=False)]
    data = powersensor3_stream(np.arange(2000), sensors=sensors)
    readings = read(data, info_of(sensors))
    assert readings.power_w == pytest.approx(24.0, abs=0.4)
    assert readings.voltage_v is None
    assert readings.current_a is None


def test_interval_is_found_by_the_stamps_across_gaps():
    numbers = np.concatenate((np.arange(300), np.arange(400, 800)))
    samples, _ = samples_of(powersensor3_stream(numbers))
    assert interval_us(values_of(samples, 0)) == pytest.approx(50.0)
    assert math.isnan(interval_us(values_of(samples[:1], 0)))


def test_f401_at_17500_hz_is_read_evenly():
    stamps = np.arange(17500) * 1e6 // 17500
    levels = np.full((17500, 8), 512)
    data = stream_of(levels, stamps)
    parser = PowerSensor3Parser(replace(POWERSENSOR3, rate_hz=17500.0))
    readings = parser.feed(Chunk(1.0, data))
    assert not readings.flags
    assert np.diff(readings.time_s) == pytest.approx(1 / 17500)


@pytest.mark.parametrize("missing", [1, 2, 10, 20, 21, 100, 511, 512, 513, 4000])
def test_samples_lost_in_the_device_are_flagged_and_leave_a_gap_of_their_length(missing):
    """Losses of more than a turn of the stamp are measured by the arrival of what follows."""
    numbers = np.concatenate((np.arange(60000), np.arange(60000 + missing, 200000)))
    parser, parts = PowerSensor3Parser(POWERSENSOR3), []
    for start in range(0, len(numbers), 2000):
        some = numbers[start : start + 2000]
        parts.append(parser.feed(Chunk(7 + (some[-1] + 1) / RATE_HZ, powersensor3_stream(some))))
    flagged = [(nth, place) for nth, p in enumerate(parts) for place in p.flags]
    assert flagged
    assert all(part.flags[place] == "lost" for part in parts for place in part.flags)
    told = np.concatenate([part.time_s for part in parts])
    assert np.diff(told).min() > 0
    assert told[-1] == pytest.approx(7 + 200000 / RATE_HZ, abs=2e-3)
    gap_s = np.diff(told).max()
    assert gap_s == pytest.approx((missing + 1) / RATE_HZ, abs=1.1e-3)


def test_stall_of_the_host_is_a_gap_where_it_was():
    """The buffered samples come late and whole, then those after the loss; all in one chunk."""
    parser = PowerSensor3Parser(POWERSENSOR3)
    before = parser.feed(Chunk(1.0, powersensor3_stream(np.arange(2000))))
    numbers = np.concatenate((np.arange(2000, 2700), np.arange(22007, 24000)))
    after = parser.feed(Chunk(2.1, powersensor3_stream(numbers)))
    assert after.flags == {700: "lost"}
    assert after.time_s[0] - before.time_s[-1] == pytest.approx(1 / RATE_HZ)
    assert after.time_s[700] - after.time_s[699] == pytest.approx(19308 / RATE_HZ, abs=6e-4)


def test_late_chunk_without_loss_is_not_flagged():
    readings = read(
        powersensor3_stream(np.arange(60000)), delay_s=lambda nth: 0.05 if nth in (7, 12) else 0.0
    )
    assert not readings.flags
    assert np.diff(readings.time_s) == pytest.approx(1 / RATE_HZ, rel=1.1e-3)


@pytest.mark.parametrize("drift_ppm", [-100, 100])
def test_drift_of_the_device_is_followed(drift_ppm):
    scale = 1 / (1 + drift_ppm * 1e-6)
    parser, told = PowerSensor3Parser(POWERSENSOR3), []
    for start in range(0, 600_000, 2000):
        numbers = np.arange(start, start + 2000)
        readings = parser.feed(
            Chunk(5 + (start + 2000) / RATE_HZ * scale, powersensor3_stream(numbers))
        )
        assert not readings.flags
        told.append(float(readings.time_s[-1]))
    assert told[-1] == pytest.approx(5 + 600_000 / RATE_HZ * scale, abs=0.5 / RATE_HZ)


@pytest.mark.parametrize("jitter_us", [3, 8])
def test_jitter_of_the_stamps_changes_no_time(jitter_us):
    jitter = np.random.default_rng(2).integers(-jitter_us, jitter_us + 1, 20000)
    data = powersensor3_stream(np.arange(20000), jitter_us=jitter)
    readings = read(data)
    assert not readings.flags
    assert np.diff(readings.time_s) == pytest.approx(1 / RATE_HZ, rel=1e-6)


@pytest.mark.parametrize(
    ("current_a", "volts", "flag"),
    [
        (30.0, 12.0, "clipped"),
        (-30.0, 12.0, "clipped|negative"),
        (1.0, 100.0, "clipped"),
        (1.0, 0.0, "underflow"),
        (-1.0, 12.0, "negative"),
        (-0.03, 12.0, None),
    ],
)
def test_value_at_a_sensors_end_is_flagged(current_a, volts, flag):
    readings = read(powersensor3_stream(np.arange(40), current_a, volts=volts))
    assert set(readings.flags.values()) == ({flag} if flag else set())
    assert len(readings.flags) in (0, 40)


def test_sensor_7_at_its_top_looks_like_a_stop_mark_and_is_read():
    sensors = [*[replace(s, in_use=False) for s in ALL[:2]] * 3, MLX10, DIVIDER]
    data = powersensor3_stream(np.arange(2000), sensors=sensors, volts=100.0)
    assert data[16:18] == b"\xff\x3f"
    readings = read(data, info_of(sensors))
    assert len(readings) == 2000
    assert set(readings.flags.values()) == {"clipped"}


@pytest.mark.parametrize("noise", [b"\xff\x3f\xff\x3f", b"\0", b"\x7f" * 30, b"\xff" * 30, b"\xf0"])
def test_noise_between_samples_is_passed_over(noise):
    place = 700 * SAMPLE_B
    readings = read(SECOND[:place] + noise + SECOND[place:], size=len(SECOND) + len(noise))
    assert len(readings) == 20000
    assert not readings.flags


@pytest.mark.parametrize("place", range(SAMPLE_B))
def test_dropped_byte_costs_one_sample_and_the_next_tells(place):
    at = 700 * SAMPLE_B + place
    readings = read(SECOND[:at] + SECOND[at + 1 :], size=len(SECOND))
    assert len(readings) == 19999
    assert readings.flags == {700: "lost"}
    assert readings.time_s[700] - readings.time_s[699] == pytest.approx(2 / RATE_HZ)


def test_every_truncation_gives_the_whole_samples_before_it():
    stream = SECOND[: 3 * SAMPLE_B]
    for size in range(len(stream) + 1):
        readings = read(stream[:size], size=len(stream)) if size else []
        assert len(readings) == size // SAMPLE_B


noise = st.one_of(
    st.binary(max_size=60),
    st.sampled_from([SECOND[:SAMPLE_B], SECOND[: 5 * SAMPLE_B], b"\xff\x3f", b"\xf0\x40" * 20]),
)
times = st.floats(0, 1e6)


@FUZZ
@given(st.lists(st.tuples(times, noise), max_size=12))
@example([(1.0, b"\xf0\x40"), (1.0, b"\xf0\x40" * 40)])
def test_any_bytes_at_any_time_are_survived_and_times_rise(pieces):
    parser = PowerSensor3Parser(POWERSENSOR3)
    readings = parsed(parser, [Chunk(time_s, data) for time_s, data in pieces])
    assert np.isfinite(readings.power_w).all()
    assert (np.diff(readings.time_s) > 0).all()
    assert len(parser._held) < SAMPLE_B


@FUZZ
@given(st.lists(noise, max_size=8), st.lists(st.integers(0, 800), max_size=10))
def test_where_reads_are_cut_changes_no_value(pieces, cuts):
    data = b"".join(pieces)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    parser = PowerSensor3Parser(POWERSENSOR3)
    readings = parsed(parser, [Chunk(1.0, data[a:b]) for a, b in pairwise(edges)])
    assert readings.power_w == pytest.approx(
        parsed(PowerSensor3Parser(POWERSENSOR3), [Chunk(1.0, data)]).power_w
    )


STEPPED = powersensor3_stream(np.arange(20000), 0.5 + (np.arange(20000) // 4000 % 2))
TRUTH = read(STEPPED)


@FUZZ
@given(
    st.integers(0, len(STEPPED) - 1),
    st.integers(0, 2000),
    st.sampled_from([b"", b"\0", b"\xff", b"\xff\x3f", b"\xf5\x40" * 3, STEPPED[:90]]),
)
def test_corrupted_stream_has_the_true_energy_or_a_flag(place, length, instead):
    """Bytes are lost or replaced; a bit of a level that flips on the way, USB's own check finds."""
    data = STEPPED[:place] + instead + STEPPED[place + length :]
    readings = read(data)
    if readings.flags:
        return
    span_s = readings.time_s[-1] - readings.time_s[0]
    assert len(readings) == pytest.approx(span_s * RATE_HZ + 1, abs=1.1)
    part = slice(20000 - len(readings), None) if place == 0 else slice(0, len(readings))
    assert energy_j(readings) == pytest.approx(
        float(np.trapezoid(TRUTH.power_w[part], TRUTH.time_s[part])), rel=0.01, abs=0.01
    )
