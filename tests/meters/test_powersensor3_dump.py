import numpy as np
import pytest
from fast_meters import FUZZ, energy_j
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.errors import FsgreenError
from fsgreen.meters.powersensor3.dump import DumpSettings, read_dump

ENTRY = {
    "name": "ssd",
    "driver": "powersensor3-dump",
    "gain_error": 0.01,
    "constant_error_w": 0.5,
    "range_w": 165.0,
    "source": "bench",
}
STEP_A = 3.3 / 1023 / 0.12


def fields(values, absolute):
    """Numbers as C++ prints them: six significant digits, or six decimals once it was told so."""
    return " ".join(f"{value:.6f}" if absolute else f"{value:g}" for value in values)


def dump(numbers, *, pairs=1, absolute=False, rate_hz=20000, drift_ppm=0.0, began_s=0.0, at=None):
    """A dump of these samples; the host reads them in bursts of 20."""
    numbers = np.asarray(numbers)
    taken_s = began_s + numbers / rate_hz / (1 + drift_ppm * 1e-6)
    read_s = np.repeat(taken_s[19::20], 20)
    read_s = np.concatenate((read_s, np.repeat(taken_s[-1], len(numbers) - len(read_s))))
    names = "".join(f" current{n} voltage{n} power{n}" for n in range(pairs))
    lines = [f"marker time dt_micro device_timestamp{names} power_total"]
    texts = [
        fields(
            [*[level * STEP_A, 12.0, level * STEP_A * 12] * pairs, level * STEP_A * 12 * pairs],
            absolute,
        )
        for level in (37, 38, 39)
    ]
    stamps = (numbers * 1e6 / rate_hz).astype(int) % 1024
    before_s = began_s
    for nth, (stamp, time_s) in enumerate(zip(stamps, read_s, strict=True)):
        mark = (at or {}).get(nth, "S")
        dt = int(1e6 * (time_s - before_s))
        lines.append(f"{mark} {fields([time_s], absolute)} {dt} {stamp} {texts[nth % 3]}")
        before_s = time_s
    return ("\n".join(lines) + "\n").encode("latin-1")


def read(data, **entry):
    return read_dump(data, DumpSettings.of(ENTRY | entry))


GOOD = dump(range(2000))


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("pairs", [1, 4])
def test_dump_is_read(pairs, absolute):
    began_s = 1.7e9 if absolute else 3.0
    imported = read(dump(range(2000), pairs=pairs, absolute=absolute, began_s=began_s))
    readings = imported.readings
    assert len(readings) == 2000
    assert not readings.flags
    assert readings.power_w.mean() == pytest.approx(38 * STEP_A * 12 * pairs, rel=1e-4)
    assert (readings.voltage_v is not None) == (pairs == 1)
    assert np.diff(readings.time_s) == pytest.approx(5e-5, rel=0.01)
    assert readings.time_s[0] == pytest.approx(1.7e9 if absolute else 0.0, abs=2e-3)
    assert imported.info.rate_hz == 20000
    assert imported.info.resolution_w == pytest.approx(STEP_A * 12 * pairs, rel=1e-3)


def test_times_stay_even_where_the_text_has_only_centiseconds():
    """After 1000 s, six digits are 10 ms: 200 samples share a time."""
    readings = read(dump(range(4000), began_s=5000.0)).readings
    assert not readings.flags
    assert np.diff(readings.time_s) == pytest.approx(5e-5, rel=1e-3)


def test_drift_is_fitted_and_told():
    imported = read(dump(range(240_000), drift_ppm=100.0))
    assert not imported.readings.flags
    assert imported.readings.time_s[-1] == pytest.approx(239_999 / 20000 / 1.0001, abs=1e-3)
    (told,) = (sentence for sentence in imported.decisions if "ppm" in sentence)
    assert int(told.split()[-2]) == pytest.approx(-100, abs=3)


@pytest.mark.parametrize("missing", [1, 20, 500, 512, 30000])
def test_lost_samples_are_flagged_and_their_time_is_kept(missing):
    numbers = [*range(3000), *range(3000 + missing, 8000 + missing)]
    readings = read(dump(numbers)).readings
    assert set(readings.flags.values()) <= {"lost", "inconsistent"}
    assert readings.flags
    span_s = (8000 + missing - 1) / 20000
    assert readings.time_s[-1] - readings.time_s[0] == pytest.approx(span_s, abs=2.5e-3)


def test_markers_are_told_with_their_times():
    decisions = read(dump(range(2000), at={100: "A", 500: "\xe9"})).decisions
    assert "marker A at 0.005000 s" in decisions
    assert "marker \xe9 at 0.025000 s" in decisions


def line_of(data, nth):
    return data.split(b"\n")[nth + 1]


@pytest.mark.parametrize(
    ("change", "flag"),
    [
        (lambda line: line.rsplit(b" ", 1)[0], "bad-count"),
        (lambda line: line + b" 1", "bad-count"),
        (lambda line: line.replace(b"12 ", b"nan ", 1), "bad-number"),
        (lambda line: line.replace(b"12 ", b"1.2.3 ", 1), "bad-number"),
        (lambda line: line.replace(b"12 ", b"-inf ", 1), "bad-number"),
        (lambda line: line.replace(b"12 ", b"\0 ", 1), "bad-number"),
        (lambda line: b"", "bad-count"),
        (lambda line: line.replace(b"12 ", b"13 ", 1), "inconsistent"),
        (lambda line: line.rsplit(b" ", 1)[0] + b" 6", "inconsistent"),
        (lambda line: line.replace(b"S 0", b"S 1", 1), "inconsistent"),
    ],
)
def test_broken_line_is_flagged_and_costs_no_other(change, flag):
    line = line_of(GOOD, 700)
    readings = read(GOOD.replace(line + b"\n", change(line) + b"\n", 1)).readings
    assert len(readings) == 2000
    assert readings.flags[700] == flag
    assert readings.flags.keys() <= {700, 701}
    assert np.isnan(readings.power_w).sum() == (flag != "inconsistent")
    assert (np.diff(readings.time_s) > 0).all()


def test_negative_power_is_flagged_beyond_the_constant_error():
    lines = [line.split(b" ") for line in GOOD.split(b"\n")]
    for words in lines[1:-1]:
        words[5] = b"-12"
        words[6] = words[7] = b"-" + words[6]
    assert set(read(b"\n".join(map(b" ".join, lines))).readings.flags.values()) == {"negative"}


def test_steady_current_does_not_tell_its_step_and_the_setting_does():
    lines = GOOD.split(b"\n")
    steady = [words for words in lines[1:-1] if words.split(b" ")[4] == b"0.994624"]
    assert len(steady) > 600
    one = [b" ".join([*row.split(b" ")[:4], *steady[0].split(b" ")[4:]]) for row in lines[1:-1]]
    data = b"\n".join([lines[0], *one, b""])
    with pytest.raises(FsgreenError, match="never changes"):
        read(data)
    assert read(data, resolution_w=0.3).info.resolution_w == 0.3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not the header"),
        (b"hello\n1 2 3\n", "not the header"),
        (b"marker time dt_micro device_timestamp power_total\n", "not the header"),
        (GOOD.split(b"\n")[0] + b"\n", "no samples"),
        (b"\n".join(GOOD.split(b"\n")[:2]) + b"\n", "fewer than two samples"),
        (GOOD.replace(b"device_timestamp", b"time_stamp"), "not the header"),
    ],
)
def test_file_that_is_no_dump_is_refused(data, message):
    with pytest.raises(FsgreenError, match=message):
        read(data)


def test_stamps_that_fit_no_stream_are_refused():
    rng = np.random.default_rng(3)
    rows = [row.split(b" ") for row in GOOD.split(b"\n")[1:-1]]
    for row in rows:
        row[3] = b"%d" % rng.integers(0, 1024)
    with pytest.raises(FsgreenError, match="the stamps"):
        read(b"\n".join([GOOD.split(b"\n")[0], *map(b" ".join, rows), b""]))


SHORT = dump(range(12))
HEAD_B = SHORT.index(b"\n") + 1


def test_every_truncation_is_refused_or_flagged():
    whole = read(SHORT).readings
    for size in range(len(SHORT)):
        try:
            readings = read(SHORT[:size], resolution_w=0.3).readings
        except FsgreenError:
            continue
        cut = SHORT[size - 1 : size] != b"\n"
        assert bool(readings.flags) == cut
        lines = len(readings) - cut
        assert readings.power_w[:lines] == pytest.approx(whole.power_w[:lines])


@FUZZ
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data):
    for text in (data, SHORT[:HEAD_B] + data):
        try:
            read(text, resolution_w=0.3)
        except FsgreenError:
            continue


TRUTH_J = energy_j(read(GOOD).readings)


@FUZZ
@given(
    st.integers(HEAD_B, len(GOOD) - 1),
    st.integers(0, 100),
    st.sampled_from([b"", b"7", b" ", b"\n"]),
)
def test_corrupted_dump_has_the_true_energy_or_a_flag(place, length, instead):
    data = GOOD[:place] + instead + GOOD[place + length :]
    try:
        readings = read(data).readings
    except FsgreenError:
        return
    if not readings.flags:
        assert energy_j(readings) == pytest.approx(TRUTH_J, rel=0.01)


def test_sensors_that_stand_still_while_their_time_goes_on_are_flagged():
    """Else a hung device counts as a load, here of 199 samples at one level."""
    lines = GOOD.split(b"\n")
    stuck = lines[1000].split(b" ")[4:]
    for nth in range(1001, 1200):
        lines[nth] = b" ".join([*lines[nth].split(b" ")[:4], *stuck])
    flags = read(b"\n".join(lines)).readings.flags
    assert flags == dict.fromkeys(range(1000, 1199), "frozen")
