import math
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import product

import pytest
from hobo_texts import (
    DATES,
    ENCODINGS,
    NEGATIVES,
    NUMBERS,
    OFFSET_H,
    SERIES,
    Style,
    recording,
    write,
)
from hypothesis import given
from hypothesis import strategies as st
from importing import damaged, fuzzed, reader, silent_errors

from fsgreen.errors import FsgreenError
from fsgreen.meters.hoboware.driver import IMPORTER

read = reader(IMPORTER)

HEADERS = ("quoted", "plain", "bare")
STYLES = st.builds(
    Style,
    numbers=st.sampled_from(list(NUMBERS)),
    half_days=st.booleans(),
    two_columns=st.booleans(),
    fractions=st.booleans(),
    separator=st.sampled_from([",", ";", "\t"]),
    encoding=st.sampled_from(ENCODINGS),
    line_end=st.sampled_from(["\r\n", "\n", "\r"]),
    header=st.sampled_from(HEADERS),
    title=st.booleans(),
    numbered=st.booleans(),
    details=st.booleans(),
    events=st.booleans(),
)


def expected(rows):
    """(time, W, V, A, Wh) as written, rounded as the export rounds them."""
    zone = timezone(timedelta(hours=OFFSET_H))
    return [
        (
            when.replace(tzinfo=zone).timestamp(),
            *(round(values[n], SERIES[n][2]) for n in (2, 0, 1, 3)),
        )
        for when, values in rows
    ]


def values(imported):
    return [(r.time_s, r.power_w, r.voltage_v, r.current_a, r.energy_wh) for r in imported.readings]


def assert_reads_as_recorded(style, **options):
    rows = recording()
    imported = read(write(style, rows), **options)
    true = expected(rows)
    if style.header == "bare" and not style.details:
        true = [(row[0] - true[0][0], *row[1:]) for row in true]
    assert values(imported) == true
    assert not imported.readings.flags
    assert imported.info.rate_hz == 1.0
    assert imported.info.resolution_w == pytest.approx(0.1)
    assert imported.info.serial == ("10123456" if style.header != "plain" else "?")


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("numbers", NUMBERS)
def test_every_style_reads_as_the_same_recording(numbers, header):
    combinations = product(DATES, (",", ";", "\t"), ENCODINGS)
    for nth, ((order, year), separator, encoding) in enumerate(combinations):
        style = Style(
            numbers=numbers,
            header=header,
            order=order,
            year=year,
            separator=separator,
            encoding=encoding,
            half_days=nth % 2 == 0,
            two_columns=nth % 3 == 0,
            fractions=nth % 5 == 0,
            line_end="\r\n" if nth % 4 else "\n",
            title=nth % 7 != 0,
            numbered=nth % 2 == 1,
            details=nth % 5 == 1,
            events=nth % 3 != 1,
        )
        assert_reads_as_recorded(style)


@given(STYLES, st.sampled_from(list(DATES)))
@fuzzed
def test_any_mixture_of_export_settings_reads_as_the_same_recording(style, date):
    assert_reads_as_recorded(replace(style, order=date[0], year=date[1]))


@pytest.mark.parametrize("negatives", NEGATIVES)
@pytest.mark.parametrize("numbers", NUMBERS)
def test_negative_power_is_read_and_flagged_in_every_form(numbers, negatives):
    rows = recording()
    rows[5] = (rows[5][0], (120.0, 10.5, -1260.0, 0.9, 1260.0, -1.0))
    imported = read(write(Style(numbers=numbers, negatives=negatives, separator="\t"), rows))
    assert imported.readings[5].power_w == -1260.0
    assert "negative" in imported.readings[5].quality


def one_day(start=datetime(2010, 2, 1, 12)):
    return recording(start=start)


def power_only(texts, separator=";"):
    lines = [separator.join(("Date Time, GMT+00:00", "Active Power, W"))]
    lines += [f"01/13/10 12:00:{n:02d}{separator}{text}" for n, text in enumerate(texts)]
    return ("\n".join(lines) + "\n").encode()


def refused(data, **options):
    with pytest.raises(FsgreenError) as error:
        read(data, **options)
    assert error.value.next_step
    return str(error.value)


@pytest.mark.parametrize(
    ("style", "readings", "setting"),
    [
        (Style(order="DMY", year=4), ("1 February 2010", "2 January 2010"), 'dates = "DMY"'),
        (Style(order="MDY", year=4), ("1 February 2010", "2 January 2010"), 'dates = "MDY"'),
        (Style(order="YMD", year=2), ("10-02-01", "2 October 2001"), 'dates = "'),
    ],
)
def test_date_of_one_day_that_may_be_two_is_refused_with_both(style, readings, setting):
    message = refused(write(style, one_day()))
    assert all(reading in message for reading in readings)
    assert setting in message
    imported = read(write(style, one_day()), dates=style.order)
    assert values(imported) == expected(one_day())


def test_month_that_changes_in_one_step_decides_the_order_of_dates():
    rows = recording(start=datetime(2010, 2, 1, 23, 59, 55))
    for order in ("MDY", "DMY"):
        assert values(read(write(Style(order=order, year=4), rows))) == expected(rows)


def test_same_day_and_month_needs_no_setting():
    rows = one_day(datetime(2010, 3, 3, 12))
    assert values(read(write(Style(year=4), rows))) == expected(rows)


def test_setting_of_dates_that_contradicts_the_file_is_refused():
    assert "contradicts the file" in refused(write(Style()), dates="DMY")


def test_number_with_three_decimals_or_thousands_is_refused_with_both():
    message = refused(power_only(["1.234", "1.235", "1.236", "1.237"]))
    assert "1.234 may be 1.234 or 1234" in message
    assert 'numbers = "1,234.56"' in message
    data = power_only(["1.234", "1.235", "1.236", "1.237"])
    powers = {n: read(data, numbers=n).readings[0].power_w for n in ("1,234.56", "1.234,56")}
    assert powers == {"1,234.56": 1.234, "1.234,56": 1234.0}


def test_volts_and_amperes_decide_what_three_decimals_mean():
    lines = ["Date Time, GMT+00:00;Volts, V;Amps, A;Watts, W"]
    lines += [f"01/13/10 12:00:{n:02d};120.123;1.500;180.18{n}" for n in range(6)]
    data = ("\n".join(lines) + "\n").encode()
    assert read(data).readings[0].power_w == 180.18


def with_header(header, *rows):
    lines = [header, *(f"01/13/10 12:00:{n:02d},{row}" for n, row in enumerate(rows))]
    return ("\n".join(lines) + "\n").encode()


def test_extremes_are_never_power_and_an_average_is_where_nothing_else_is():
    extremes = '"Date Time, GMT+00:00","Max: Active Power, W","{} Power, W","Min: Active Power, W"'
    rows = ("99.5,50.5,1.5", "99.5,51.5,1.5", "99.5,52.5,1.5")
    for name in ("Active", "Avg: Active"):
        imported = read(with_header(extremes.format(name), *rows))
        assert imported.readings.power_w.tolist() == [50.5, 51.5, 52.5]
        assert any("Max: Active Power, W" in sentence for sentence in imported.decisions)
    alone = with_header('"Date Time, GMT+00:00","Max: Active Power, W"', "1.5", "1.5")
    assert "no HOBOware export" in refused(alone)


def test_serial_number_behind_a_comma_without_quotes_is_no_column():
    header = "Date Time,Active Power (W) LGR S/N: 77,  #78,End Of File LGR S/N: 77"
    imported = read(with_header(header, "1.5,", "2.5,", "3.5,Logged"))
    assert imported.readings.power_w.tolist() == [1.5, 2.5, 3.5]
    assert imported.info.serial == "77"


def test_decimals_that_a_spreadsheet_cut_are_told():
    rows = ["1.5", "2", "3.25", "4.5", "5", "6.125", "7", "8", "9.5", "10"]
    imported = read(with_header('"Date Time, GMT+00:00","Active Power, W"', *rows))
    assert imported.readings.power_w.tolist() == [float(row) for row in rows]
    assert any("spreadsheet" in sentence for sentence in imported.decisions)


def test_units_of_the_header_count_before_anything_is_decided():
    lines = ["Date Time, GMT+00:00;Volts, V;Amps, mA;Watts, kW"]
    lines += [f"01/13/10 12:00:{n:02d};120.123;150{n}.000;0.18{n}" for n in range(6)]
    imported = read(("\n".join(lines) + "\n").encode())
    assert imported.readings[1].power_w == pytest.approx(181)
    assert imported.readings[1].current_a == pytest.approx(1.501)
    assert imported.info.resolution_w == pytest.approx(1.0)
    assert not imported.readings.flags


def test_power_beyond_any_plug_decides_what_three_decimals_mean():
    data = power_only(["69.557", "68.313", "43.624"])
    assert read(data).readings[0].power_w == 69.557
    assert "69.557 may be 69.557 or 69557" in refused(data, range_w=100_000)


def test_blank_as_decimal_mark_or_thousands_is_refused_with_both():
    message = refused(power_only(["1 234", "1 235", "1 236", "1 237"]))
    assert "1 234 may be 1234 or 1.234" in message


def test_numbers_without_any_decimal_mark_are_refused_with_both():
    message = refused(power_only(["875", "912", "933", "871"]))
    assert "no number has a decimal mark" in message
    assert "875 may be 875, or 87.5" in message
    assert read(power_only(["875", "912"]), numbers="1,234.56").readings[0].power_w == 875.0


def test_setting_of_numbers_that_contradicts_the_file_is_refused():
    assert "contradicts the file" in refused(write(Style()), numbers="1.234,56")


def test_setting_of_the_separator_that_contradicts_the_file_is_refused():
    assert "contradicts the header" in refused(write(Style()), separator="tab")


def test_offset_that_contradicts_the_header_is_refused():
    assert "contradict each other" in refused(write(Style()), gmt_offset="+01:00")


def test_comma_as_separator_and_decimal_mark_at_once_is_refused():
    message = refused(write(Style()).replace(b".", b","))
    assert "cells of the header" in message


def test_a_table_of_another_program_does_not_become_an_onset_logger_by_its_header():
    """It would take on the accuracy of one, 0.5 %."""
    data = with_header("Date Time,Watts (W)", "1.5", "2.5", "3.5")
    assert "nothing in the file says that it is HOBOware's" in refused(data)
    assert read(data, gain_error=0.05).info.model == "?"


def test_offset_may_come_from_a_setting():
    data = write(Style(header="bare"))
    assert values(read(data, gmt_offset="-07:00")) == expected(recording())


def test_several_forms_of_negatives_are_refused():
    assert "several ways" in refused(power_only(["-1.5", "(1.5)", "2.5", "2.5"]))


def test_file_of_another_logger_is_refused_until_its_accuracy_is_given():
    data = write(Style(details=True)).replace(b"UX120-018 Plug Load", b"UX90-001 State")
    assert "another logger" in refused(data)
    assert read(data, gain_error=0.02).info.gain_error == 0.02


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"Active Power, W", b"Active Power", "no HOBOware export"),
        (b"Date Time, GMT-07:00", b"Date Time, GMT-7", "no offset from GMT"),
        (b"Date Time, GMT-07:00", b"When", "no HOBOware export"),
        (b"Apparent Power, VA", b"Other Power, W", "2 series may be the power"),
        (b"RMS Voltage, V (LGR S/N: 10123456", b"RMS Voltage, V (LGR S/N: 7", "several loggers"),
        (b"01/14/10 00:00:05,", b"01/14/10 00:00:09,", "times go back or stand still"),
        (b"0", b"x", "x"),
    ],
)
def test_file_that_cannot_be_trusted_is_refused_with_the_reason(old, new, message):
    assert message in refused(write(Style()).replace(old, new))


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xff\xfeD\0", b"\xef\xbb\xbf\xff", b"a,b\n1,2\n"])
def test_what_is_no_text_of_hoboware_is_refused(data):
    refused(data)


@pytest.mark.parametrize(
    ("old", "new", "flag"),
    [
        (b",267.5,", b",,", "missing"),
        (b",267.5,", b",26?.5,", "bad-number"),
        (b",267.5,", b",2675,", "bad-number"),
        (b",267.5,", b",67.5,", "inconsistent"),
        (b",267.5,", b",267.5", "bad-count"),
        (b"119.7,2.301", b"119.7,23.01", "bad-number"),
    ],
)
def test_damaged_row_is_kept_with_its_flag(old, new, flag):
    data = write(Style())
    assert old in data
    imported = read(data.replace(old, new, 1))
    assert flag in imported.readings[2].quality
    assert len(imported.readings) == 20
    assert any(flag in sentence for sentence in imported.decisions)


def test_missing_rows_are_flagged_and_doubled_ones_told():
    lines = write(Style()).splitlines(keepends=True)
    lost = read(b"".join(lines[:9] + lines[11:]))
    assert [r.quality for r in lost.readings if r.quality != "ok"] == ["lost"]
    doubled = read(b"".join(lines[:10] + lines[9:]))
    assert values(doubled) == expected(recording())
    assert any("repeat the row before" in sentence for sentence in doubled.decisions)


def test_events_and_details_are_told():
    decisions = " ".join(read(write(Style(details=True))).decisions)
    assert "1 rows that hold only the event 'Host Connected'" in decisions
    assert "details" in decisions


def test_energy_of_each_row_is_added_up_and_a_counter_is_kept():
    rows = recording()
    each = [(when, (*v[:3], v[2] / 3600, *v[4:])) for when, v in rows]
    summed = read(write(Style(), each))
    assert any("added up" in sentence for sentence in summed.decisions)
    total_wh = sum(round(v[3], 2) for _, v in each)
    assert summed.readings[-1].energy_wh == pytest.approx(total_wh)
    neither = [(when, (*v[:3], 7.0, *v[4:])) for when, v in rows]
    left_out = read(write(Style(), neither))
    assert math.isnan(left_out.readings[-1].energy_wh)
    assert any("left out" in sentence and "energy" in sentence for sentence in left_out.decisions)


def test_high_currents_have_the_accuracy_of_high_currents():
    rows = [(when, (120.0, 14.5, 1740.0, v[3], 1740.0, 1.0)) for when, v in recording()]
    assert read(write(Style(), rows)).info.gain_error == 0.01
    assert read(write(Style())).info.gain_error == 0.005


def test_power_beyond_the_range_is_flagged():
    flags = read(write(Style()), range_w=1000).readings.flags
    assert set(flags.values()) == {"over-range"}
    assert sorted(flags) == [n for n, (_, v) in enumerate(recording()) if v[2] > 1000]


def test_day_at_one_hertz_is_read_whole():
    rows = recording(86_400, datetime(2010, 1, 13))
    imported = read(write(Style(numbers="1.234,56", separator=";"), rows))
    assert len(imported.readings) == 86_400
    assert not imported.readings.flags
    assert imported.readings[-1].time_s == expected(rows[-1:])[0][0]
    assert imported.readings.power_w.sum() == pytest.approx(sum(v[2] for _, v in rows))


SMALL = write(Style(numbered=False, title=False), recording(6))


def test_file_cut_at_any_byte_is_refused_or_a_flagged_beginning():
    sound = read(SMALL)
    for end in range(len(SMALL)):
        assert not silent_errors(read, SMALL[:end], sound)


@given(st.binary(max_size=300))
@fuzzed
def test_arbitrary_bytes_are_refused(data):
    with pytest.raises(FsgreenError):
        read(data)


HEAD = b"Date Time, GMT+00:00;Active Power, W;Volts, V\n"


@given(st.text(alphabet='0123456789/:;,.- ()\n"AMP', max_size=200))
@fuzzed
def test_arbitrary_rows_below_a_sound_header_never_crash(text):
    try:
        read(HEAD + text.encode())
    except FsgreenError as error:
        assert error.next_step


@pytest.mark.parametrize("separator", [",", ";"])
@given(data=st.data())
@fuzzed
def test_damage_is_refused_or_flagged_never_another_number(separator, data):
    style = Style(numbers="1.234,56" if separator == ";" else "1,234.56", separator=separator)
    rows = recording(12)
    sound = read(write(style, rows))
    hurt = data.draw(damaged(write(style, rows)))
    assert not silent_errors(read, hurt, sound)


def test_a_last_line_that_was_cut_inside_its_stamp_marks_the_one_before():
    """The end of the line is known to lack, so the file is known to be cut."""
    text = write(Style())
    end = text.rindex(b"01/14/10") + 4
    flags = read(text[:end]).readings.flags
    assert list(flags.values()) == ["cut"]


@pytest.mark.parametrize("first", [30, 60])
def test_readings_that_froze_for_less_than_ten_rows_are_marked(first):
    """A logger that hangs repeats whole rows; 66 J were read as 58 J, and nothing said so."""
    lines = write(Style(events=False)).splitlines(keepends=True)
    rows = write(Style(events=False), recording(120)).splitlines(keepends=True)
    frozen = rows[first].split(b",", 2)[2]
    rows[first + 1 : first + 7] = [
        b",".join([*row.split(b",", 2)[:2], frozen]) for row in rows[first + 1 : first + 7]
    ]
    flags = read(b"".join(rows)).readings.flags
    assert {place for place, flag in flags.items() if "frozen" in flag} == set(
        range(first - 1, first + 5)
    )
    assert not read(b"".join(lines)).readings.flags


@pytest.mark.parametrize("lost", [3, 17, 53])
def test_no_number_of_lost_decimal_points_is_too_many_to_be_marked(lost):
    """53 of 1,780 were too many for a check that was switched off by more than a hundredth."""
    rows = write(Style(events=False, separator=";"), recording(1780)).splitlines(keepends=True)
    hurt = range(20, 20 + 31 * lost, 31)
    for place in hurt:
        cells = rows[place].split(b";")
        cells[4] = cells[4].replace(b".", b"")
        rows[place] = b";".join(cells)
    flags = read(b"".join(rows)).readings.flags
    assert sorted(flags) == [place - 2 for place in hurt]
    assert set(flags.values()) <= {"bad-number", "inconsistent"}


def test_a_decimal_point_lost_after_a_spreadsheet_saved_the_file_is_marked():
    """It drops zeros at the end, so that decimals vary; the number is ten times its neighbours."""
    powers = [f"{80 + nth % 13 + nth / 10 % 1:.1f}".removesuffix(".0") for nth in range(100)]
    head = '"Date Time, GMT+00:00","Active Power, W"'
    stamped = [f"01/13/10 12:{n // 60:02d}:{n % 60:02d},{{}}" for n in range(100)]
    sound = "\n".join([head, *(row.format(p) for row, p in zip(stamped, powers, strict=True)), ""])
    assert not read(sound.encode()).readings.flags
    powers[37] = powers[37].replace(".", "")
    hurt = "\n".join([head, *(row.format(p) for row, p in zip(stamped, powers, strict=True)), ""])
    assert read(hurt.encode()).readings.flags == {37: "bad-number"}
