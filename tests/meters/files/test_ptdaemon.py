import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from importing import damaged, fuzzed, reader, silent_errors

from fsgreen.errors import FsgreenError
from fsgreen.meters.ptdaemon import IMPORTER

read = reader(IMPORTER)

START = datetime(2021, 1, 22, 15, 5, 14, 313000)
MARK = "2021-01-22_15-05-02_loadgen_ranging"


def recording(rows=10, start=START):
    """(time, W, V, A, PF) a little more than once a second."""
    made = []
    for nth in range(rows):
        watts, volts, factor = 22.97 + 11.3 * (nth % 4), 227.37, 0.4944
        amps = watts / factor / volts
        made.append((start + timedelta(milliseconds=1004 * nth), watts, volts, amps, factor))
    return made


def line(when, watts, volts, amps, factor, mark=MARK, dates="%m-%d-%Y", tail=""):
    stamp = when.strftime(f"{dates} %H:%M:%S.%f")[:-3]
    return (
        f"Time,{stamp},Watts,{watts:.6f},Volts,{volts:.6f},Amps,{amps:.6f},"
        f"PF,{factor:.6f},Mark,{mark}{tail}\n"
    )


def log(rows=None, **form):
    return "".join(line(*row, **form) for row in rows or recording()).encode()


def refused(data, **options):
    with pytest.raises(FsgreenError) as error:
        read(data, **options)
    assert error.value.next_step
    return str(error.value)


@pytest.mark.parametrize("dates", ["%m-%d-%Y", "%d-%m-%Y"])
def test_log_is_read_whichever_way_its_dates_are(dates):
    imported = read(log(dates=dates), gmt_offset="+00:00")
    for reading, (when, watts, volts, amps, _) in zip(imported.readings, recording(), strict=True):
        assert reading.time_s == pytest.approx(when.replace(tzinfo=UTC).timestamp(), abs=1e-6)
        assert reading.power_w == pytest.approx(watts, abs=1e-6)
        assert reading.voltage_v == pytest.approx(volts, abs=1e-6)
        assert reading.current_a == pytest.approx(amps, abs=1e-6)
        assert reading.quality == "ok"
    assert imported.info.rate_hz == pytest.approx(1 / 1.004, rel=1e-5)
    assert imported.info.resolution_w == 0.01


def test_the_interval_is_that_of_the_log_and_not_a_rounded_one():
    """An analyzer that updates each 0.25 s is read at 4 Hz, and not at 3.8 or 4.2."""
    rows = [(START + timedelta(seconds=0.125 * n), *row[1:]) for n, row in enumerate(recording())]
    assert read(log(rows)).info.rate_hz == pytest.approx(8.0, rel=1e-3)


def test_without_an_offset_times_count_from_the_first_row():
    imported = read(log())
    assert imported.readings[0].time_s == 0.0
    assert any("does not say its offset" in sentence for sentence in imported.decisions)


def test_date_that_may_be_two_is_decided_by_its_mark_or_refused():
    rows = recording(start=datetime(2021, 2, 1, 12))
    message = refused(log(rows, mark="x", dates="%d-%m-%Y"))
    assert "2 January 2021" in message
    assert "1 February 2021" in message
    marked = read(log(rows, mark="2021-02-01_a", dates="%d-%m-%Y"), gmt_offset="+00:00")
    assert marked.readings[0].time_s == datetime(2021, 2, 1, 12, tzinfo=UTC).timestamp()
    told = read(log(rows, mark="x", dates="%d-%m-%Y"), dates="DMY", gmt_offset="+00:00")
    assert told.readings[0].time_s == marked.readings[0].time_s
    assert "contradicts the file" in refused(log(rows, mark="2021-02-01_a"), dates="DMY")


def test_messages_are_left_out_and_told():
    text = (
        b"Time,11-07-2020 17:49:06.145,NOTICE,Analyzer identity response of 32 bytes: YOKOGAWA\n"
        b"Buffer was 1.000E+00;1;300.0E+00;1\n"
    )
    imported = read(text + log())
    assert len(imported.readings) == 10
    assert any("2 lines are no readings" in sentence for sentence in imported.decisions)


def test_one_measurement_of_several_is_chosen_by_its_mark():
    first, second = (
        log(mark="ranging"),
        log(recording(start=START + timedelta(hours=1)), mark="run"),
    )
    both = read(first + second)
    assert [n for n, r in enumerate(both.readings) if "lost" in r.quality] == [10]
    assert any("several measurements" in sentence for sentence in both.decisions)
    assert len(read(first + second, mark="run").readings) == 10
    assert "no reading has the mark" in refused(first + second, mark="idle")


CHANNELS = (
    ",Ch1,Watts,91.060000,Volts,120.950000,Amps,0.832100,PF,0.938900"
    ",Ch2,Watts,90.970000,Volts,120.830000,Amps,0.802000,PF,0.938800"
)
ANALYZERS = (
    ",Analyzer1,Time,01-22-2021 15:05:14.313,Watts,91.060000,Volts,1.0,Amps,1.0,PF,1.0,Mark,x"
    ",Analyzer2,Time,01-22-2021 15:05:14.313,Watts,90.970000,Volts,1.0,Amps,1.0,PF,1.0,Mark,x"
)


@pytest.mark.parametrize("tail", [CHANNELS, ANALYZERS])
@pytest.mark.parametrize(("watts", "quality"), [(182.03, "ok"), (282.03, "inconsistent")])
def test_sum_of_channels_is_checked(tail, watts, quality):
    rows = [(when, watts, -1, -1, -1) for when, *_ in recording()]
    imported = read(log(rows, tail=tail))
    assert {r.quality for r in imported.readings} == {quality}
    assert math.isnan(imported.readings[0].voltage_v)
    assert imported.readings[0].power_w == watts


@pytest.mark.parametrize(
    ("old", "new", "flag"),
    [
        (b"34.270000", b"-1.000000", "missing"),
        (b"34.270000", b"nan", "missing"),
        (b"34.270000", b"3427.0000", "bad-number"),
        (b"34.270000", b"34.27?000", "bad-number"),
        (b"34.270000", b"4.270000", "inconsistent"),
        (b"Watts,34.270000,Volts", b"Watts,34.270000,Vots", "bad-count"),
    ],
)
def test_damaged_reading_is_kept_with_its_flag(old, new, flag):
    imported = read(log().replace(old, new, 1))
    assert flag in imported.readings[1].quality
    assert len(imported.readings) == 10


def test_power_beyond_the_range_is_flagged_where_a_range_is_given():
    assert not read(log()).readings.flags
    assert set(read(log(), range_w=40).readings.flags.values()) == {"over-range"}


@pytest.mark.parametrize("data", [b"", b"Time,01-22-2021 15:05:14.313,ERROR,Bad\n", b"{}\n"])
def test_what_is_no_log_is_refused(data):
    refused(data)


def test_times_that_go_back_are_refused():
    assert "times go back" in refused(log() + log())


SMALL = log(recording(6))


def test_log_cut_at_any_byte_is_refused_or_a_flagged_beginning():
    read = reader(IMPORTER, gmt_offset="+00:00")
    sound = read(SMALL)
    for end in range(len(SMALL)):
        assert not silent_errors(read, SMALL[:end], sound)


@given(st.binary(max_size=300))
@fuzzed
def test_arbitrary_bytes_are_refused(data):
    refused(data)


@given(st.data())
@fuzzed
def test_damage_is_refused_or_flagged_never_another_number(data):
    rows = log(recording(12))
    read = reader(IMPORTER, gmt_offset="+00:00")
    assert not silent_errors(read, data.draw(damaged(rows)), read(rows))


def test_an_analyzer_that_did_not_answer_leaves_a_file_readable():
    """Its lines hold -2 and the time of the last answer; hours of sound readings were refused."""
    lines = log().splitlines(keepends=True)
    empty = line(START, -2, -2, -2, -2).encode()
    found = read(b"".join([*lines[:4], empty, empty, *lines[6:]]))
    assert len(found.readings) == 8
    assert found.readings.flags == {4: "lost"}
    assert any("without an answer" in sentence for sentence in found.decisions)
    timed = read(b"".join([*lines[:4], lines[4].replace(b"22.97", b"-2.00"), *lines[5:]]))
    assert "missing" in timed.readings.flags[4]


def test_a_channel_that_lacks_now_and_then_is_not_left_out_of_the_sum_unseen():
    whole = [(when, 182.03, -1, -1, -1) for when, *_ in recording()]
    off = CHANNELS.replace("90.970000", "-1.000000")
    texts = [line(*row, tail=CHANNELS) for row in whole]
    texts[3] = line(whole[3][0], 91.06, -1, -1, -1, tail=off)
    assert read("".join(texts).encode()).readings.flags == {3: "missing"}
    always = [line(when, 91.06, -1, -1, -1, tail=off) for when, *_ in whole]
    assert "missing" not in read("".join(always).encode()).readings.flags.values()


def test_a_last_line_that_was_cut_inside_its_stamp_marks_the_one_before():
    text = log()
    end = text.rindex(b"Time,") + 20
    assert read(text[:end]).readings.flags == {8: "cut"}
