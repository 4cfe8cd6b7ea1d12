import math
from dataclasses import replace
from datetime import datetime
from itertools import product

import pytest
from hobo_texts import (
    DATES,
    ENCODINGS,
    NEGATIVES,
    NUMBERS,
    Style,
    expected,
    read,
    recording,
    refused,
    values,
    write,
)
from hypothesis import given
from hypothesis import strategies as st
from importing import fuzzed

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
