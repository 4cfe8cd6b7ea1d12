import json
import random
from dataclasses import astuple, replace

import numpy as np
import pytest
from fast_meters import FUZZ, arriving, block, energy_j, parsed
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.errors import FsgreenError
from fsgreen.meters.blocks.description import BlocksSettings, description
from fsgreen.meters.blocks.emulator import RAIL_5V
from fsgreen.meters.blocks.format import Channel
from fsgreen.meters.blocks.parser import HELD_BLOCKS, BlockParser
from fsgreen.meters.core.base import Chunk

RATE_HZ = 1e4
ENTRY = {"name": "ssd", "driver": "blocks", "listen": "1", "source": "bench"}
ACCURACY = {"gain_error": 0.01, "constant_error_w": 0.05}


def info_of(one, **entry):
    return description(one, BlocksSettings.of(ENTRY | ACCURACY | entry))


INFO = info_of(block())


def read(chunks, info=INFO):
    return parsed(BlockParser(info), chunks)


def stream(count, **changed):
    return [block(first=nth * 100, **changed) for nth in range(count)]


def test_stream_is_read():
    readings = read(arriving(stream(300)))
    assert len(readings) == 30_000
    assert not readings.flags
    assert readings.current_a == pytest.approx(0.5)
    assert readings.voltage_v == pytest.approx(5.0)
    assert readings.power_w == pytest.approx(2.5)
    assert np.diff(readings.time_s) == pytest.approx(1 / RATE_HZ)
    assert readings.time_s[0] == pytest.approx(50.0, abs=1 / RATE_HZ)


def test_blocks_that_are_sent_once_a_second_are_placed_by_their_age():
    """A second of blocks in one chunk: each was taken when its t0 says, not when it came."""
    blocks = [replace(one, sent_ns=(one.first // 10_000 + 1) * 10**9) for one in stream(500)]
    chunks = [
        Chunk(50 + second + 1, b"".join(one.packed() for one in blocks[100 * second :][:100]))
        for second in range(5)
    ]
    readings = read(chunks)
    assert not readings.flags
    assert readings.time_s == pytest.approx(50 + np.arange(50_000) / RATE_HZ, abs=2e-4)


def test_calibration_is_applied_before_power_is_taken():
    info = info_of(block(), calibration=["5V A 1.1 -0.02"], calibration_source="bench")
    readings = read(arriving(stream(3)), info)
    assert readings.current_a == pytest.approx(0.53)
    assert readings.power_w == pytest.approx(0.53 * 5)


def test_current_without_voltage_is_at_the_nominal_one():
    channel = (RAIL_5V[0],)
    blocks = [replace(b, channels=channel, samples=b.samples[:, :1].copy()) for b in stream(3)]
    info = info_of(blocks[0], volts=4.9)
    readings = read(arriving(blocks), info)
    assert readings.power_w == pytest.approx(0.5 * 4.9)
    assert readings.voltage_v is None
    assert info.range_w == pytest.approx(2.095 * 4.9)


def test_pairs_and_watts_add_up():
    channels = (*RAIL_5V, Channel("12V", "W", 0.01, 0.0, 0, 4095))
    blocks = [
        replace(b, channels=channels, samples=np.column_stack((b.samples, np.full(100, 300))))
        for b in stream(3)
    ]
    readings = read(arriving(blocks), info_of(blocks[0]))
    assert readings.power_w == pytest.approx(5.5)
    assert readings.current_a is None


@pytest.mark.parametrize("missing", [1, 5, HELD_BLOCKS + 9])
def test_missing_blocks_are_flagged_and_leave_a_gap_of_their_length(missing):
    blocks = stream(100)
    readings = read(arriving(blocks[:40] + blocks[40 + missing :]))
    assert len(readings) == 100 * (100 - missing)
    assert readings.flags == {4000: "lost"}
    assert readings.time_s[4000] - readings.time_s[3999] == pytest.approx(
        (100 * missing + 1) / RATE_HZ
    )


def test_blocks_that_come_twice_count_once():
    blocks = stream(60)
    readings = read(arriving(blocks[:30] + blocks[10:30] + blocks[25:]))
    assert len(readings) == 6000
    assert not readings.flags


def test_overtaken_blocks_are_put_in_order():
    blocks = stream(100)
    mixed = blocks[:1]
    for start in range(1, 100, 10):
        mixed += random.Random(start).sample(
            blocks[start : start + 10], len(blocks[start : start + 10])
        )
    readings = read(arriving(mixed))
    assert len(readings) == 10_000
    assert not readings.flags
    assert (np.diff(readings.time_s) > 0).all()


def test_block_that_comes_too_late_is_told():
    blocks = stream(100)
    readings = read(arriving([*blocks[:40], *blocks[41:80], blocks[40], *blocks[80:]]))
    assert len(readings) == 9900
    assert readings.flags == {4000: "lost", 7900: "out-of-order"}
    assert (np.diff(readings.time_s) > 0).all()


def test_sequence_that_starts_anew_at_its_end_is_no_loss():
    blocks = [replace(b, sequence=(0xFFFFFFF0 + n) % (1 << 32)) for n, b in enumerate(stream(40))]
    assert not read(arriving(blocks)).flags


def test_samples_that_the_sender_threw_away_are_lost():
    blocks = stream(20) + [
        replace(block(first=nth * 100), sequence=nth - 10) for nth in range(30, 60)
    ]
    readings = read(arriving(blocks))
    assert readings.flags == {2000: "lost"}
    assert readings.time_s[2000] - readings.time_s[1999] == pytest.approx(1001 / RATE_HZ)


def test_samples_lost_before_they_were_counted_are_found_by_t0():
    blocks = stream(50)
    later = [
        replace(b, t0_ns=b.t0_ns + 3 * 10**8, sent_ns=b.sent_ns + 3 * 10**8)
        for b in stream(100)[50:]
    ]
    readings = read(arriving(blocks + later))
    assert readings.flags == {5000: "lost"}
    assert readings.time_s[-1] == pytest.approx(50.3 + 9999 / RATE_HZ, abs=1e-3)


@pytest.mark.parametrize("step_s", [-100, 100])
def test_step_of_the_senders_clock_moves_no_time_and_is_told(step_s):
    blocks = stream(100)
    chunks = arriving(blocks)
    step_ns = 10**9 * step_s
    far = 10**12
    stepped = [
        replace(
            b,
            t0_ns=b.t0_ns + far + step_ns * (nth >= 50),
            sent_ns=b.sent_ns + far + step_ns * (nth >= 50),
        )
        for nth, b in enumerate(blocks)
    ]
    readings = read([replace(c, data=b.packed()) for c, b in zip(chunks, stepped, strict=True)])
    assert readings.flags == {5000: "inconsistent"}
    assert np.diff(readings.time_s) == pytest.approx(1 / RATE_HZ)


def test_wrong_rate_is_told_by_t0():
    blocks = [
        replace(b, t0_ns=round(b.t0_ns * 1.01), sent_ns=round(b.sent_ns * 1.01))
        for b in stream(900)
    ]
    flags = read(arriving(blocks)).flags
    assert "lost" in flags.values()


@pytest.mark.parametrize(("pace", "flag"), [(1.01, "lost"), (0.99, "inconsistent")])
def test_wrong_rate_is_told_by_arrival_where_t0_only_counts(pace, flag):
    blocks = stream(3000)
    chunks = [Chunk(50 + (nth + 1) * 0.01 * pace, one.packed()) for nth, one in enumerate(blocks)]
    readings = read(chunks)
    assert flag in readings.flags.values()
    assert (np.diff(readings.time_s) > 0).all()


def test_block_of_impossible_age_is_told():
    blocks = [
        replace(b, sent_ns=b.sent_ns + (10**12 if nth == 20 else 0))
        for nth, b in enumerate(stream(40))
    ]
    readings = read([replace(c, time_s=50 + nth * 0.01) for nth, c in enumerate(arriving(blocks))])
    assert readings.flags == {2000: "inconsistent"}


@pytest.mark.parametrize("drift_ppm", [-100, 100])
def test_drift_of_the_sender_is_followed(drift_ppm):
    scale = 1 / (1 + drift_ppm * 1e-6)
    chunks = [Chunk(50 + c.time_s * scale - 50 * scale, c.data) for c in arriving(stream(6000))]
    readings = read(chunks)
    assert not readings.flags
    assert readings.time_s[-1] == pytest.approx(50 + 59.9999 * scale, abs=0.5 / RATE_HZ)


def test_sender_that_starts_anew_goes_on_after_a_loss():
    again = [replace(b, stream=8) for b in stream(30)]
    chunks = arriving(stream(50)) + arriving(again, first_s=53.0)
    readings = read(chunks)
    assert readings.flags == {5000: "lost"}
    assert readings.time_s[5000] == pytest.approx(53.0, abs=1e-3)
    late = read([*chunks, *arriving(stream(51)[50:], first_s=53.0)])
    assert len(late) == len(readings)


def test_times_rise_where_two_streams_overlap():
    again = [replace(b, stream=8) for b in stream(30)]
    readings = read(arriving(stream(50)) + arriving(again, first_s=50.2))
    assert (np.diff(readings.time_s) > 0).all()


@pytest.mark.parametrize(
    "changed",
    [
        {"serial": "hall-2"},
        {"rate_hz": 9999.0},
        {"modelled": True},
        {"channels": (replace(RAIL_5V[0], gain=0.002), RAIL_5V[1])},
        {"channels": RAIL_5V[:1]},
    ],
)
def test_another_sensor_or_scale_has_no_value(changed):
    blocks = stream(20)
    for nth in range(10, 20):
        other = replace(blocks[nth], **changed)
        blocks[nth] = replace(other, samples=other.samples[:, : len(other.channels)].copy())
    readings = read(arriving(blocks))
    assert np.isnan(readings.power_w[1000:]).all()
    assert readings.flags == dict.fromkeys(range(1000, 2000), "inconsistent")


@pytest.mark.parametrize(
    ("current_a", "flag"), [(3.0, "clipped"), (-3.0, "clipped|negative"), (-0.2, "negative")]
)
def test_sample_at_the_converters_end_is_flagged(current_a, flag):
    readings = read(arriving(stream(2, current_a=current_a)))
    assert set(readings.flags.values()) == {flag}
    assert len(readings.flags) == 200


def test_every_truncation_gives_the_whole_blocks_before_it():
    data = b"".join(one.packed() for one in stream(2))
    for size in range(0, len(data) + 1, 7):
        assert len(read([Chunk(50.0, data[:size])])) == 100 * (size // (len(data) // 2))


PIECES = [one.packed() for one in stream(4)]
noise = st.one_of(
    st.binary(max_size=60),
    st.sampled_from([*PIECES, PIECES[0][:100], b"FSGB\x01\x02", block(stream=8).packed()]),
    st.builds(
        lambda first, t0_ns, sequence: block(
            first, 3, t0_ns=t0_ns, sent_ns=(1 << 64) - 1, sequence=sequence
        ).packed(),
        st.integers(0, 1 << 53),
        st.integers(0, (1 << 64) - 1),
        st.integers(0, (1 << 32) - 1),
    ),
)


@FUZZ
@given(st.lists(st.tuples(st.floats(0, 1e6), noise), max_size=12))
def test_any_bytes_at_any_time_are_survived_and_times_rise(pieces):
    readings = read([Chunk(time_s, data) for time_s, data in sorted(pieces)])
    assert np.isfinite(readings.time_s).all()
    assert (np.diff(readings.time_s) > 0).all()
    assert np.isfinite(readings.power_w).all()


PULSES = stream(100, current_a=lambda time_s: 0.3 + (time_s * 5 % 2 >= 1))
PULSED = b"".join(one.packed() for one in PULSES)
BLOCK_B = len(PULSED) // 100
TRUTH = read(arriving(PULSES))


@FUZZ
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["drop", "twice", "swap", "cut", "flip"]),
            st.integers(0, 98),
            st.integers(0, BLOCK_B - 1),
        ),
        max_size=4,
    )
)
def test_corrupted_stream_has_the_true_energy_or_a_flag(faults):
    pieces = [one.packed() for one in PULSES]
    for what, nth, place in faults:
        piece = pieces[nth]
        match what:
            case "drop":
                pieces[nth] = b""
            case "twice":
                pieces[nth] = piece * 2
            case "swap":
                pieces[nth : nth + 2] = pieces[nth : nth + 2][::-1]
            case "cut":
                pieces[nth] = piece[:place]
            case "flip" if piece:
                place %= len(piece)
                pieces[nth] = piece[:place] + bytes([piece[place] ^ 4]) + piece[place + 1 :]
    chunks = [Chunk(50 + (nth + 1) * 0.01, piece) for nth, piece in enumerate(pieces)]
    readings = read(chunks)
    if readings.flags:
        return
    part = slice(len(TRUTH) - len(readings), None)
    if faults and readings.time_s[0] < 50.005:
        part = slice(0, len(readings))
    expected_j = float(np.trapezoid(TRUTH.power_w[part], TRUTH.time_s[part]))
    assert energy_j(readings) == pytest.approx(expected_j, rel=0.01)


def test_description_refuses_what_it_cannot_make_power_of():
    amperes, volts = RAIL_5V
    with pytest.raises(FsgreenError, match="neither amperes nor watts"):
        info_of(replace(block(), channels=(volts,)))
    with pytest.raises(FsgreenError, match="two channels of one name"):
        info_of(replace(block(), channels=(amperes, volts, volts)))
    with pytest.raises(FsgreenError, match="without its voltage"):
        info_of(replace(block(), channels=(amperes, replace(volts, name="12V"))))


def test_description_survives_json():
    kept = json.loads(json.dumps(dict(INFO.options)))
    assert kept == dict(INFO.options)
    assert kept["channels"] == [list(astuple(channel)) for channel in RAIL_5V]


def test_count_that_leaps_ahead_of_the_time_moves_no_later_time():
    ahead = [replace(one, first=one.first + (1 << 50), stream=7) for one in stream(60)[30:]]
    readings = read(arriving(stream(30) + ahead))
    assert set(readings.flags[3000].split("|")) == {"lost", "inconsistent"}
    assert len(readings.flags) == 1
    assert np.diff(readings.time_s) == pytest.approx(1 / RATE_HZ)
