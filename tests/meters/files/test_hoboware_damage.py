"""Damage to an export of HOBOware: it is refused or flagged, and never becomes another number."""

import pytest
from hobo_texts import Style, expected, read, recording, refused, values, write
from hypothesis import given
from hypothesis import strategies as st
from importing import damaged, fuzzed, silent_errors

from fsgreen.errors import FsgreenError


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
