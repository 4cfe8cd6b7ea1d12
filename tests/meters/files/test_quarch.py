import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from importing import damaged, fuzzed, reader, silent_errors

from fsgreen.errors import FsgreenError
from fsgreen.meters.files.energies import energy_of, sound_spans
from fsgreen.meters.quarch import table as quarch_table
from fsgreen.meters.quarch.driver import IMPORTER

read = reader(IMPORTER, gain_error=0.01)

HEADER = (
    "Time uS,5V voltage mV,5V current mA,5V power uW,"
    "12V voltage mV,12V current mA,12V power uW,Tot uW"
)


def recording(rows=12, step=100):
    """Integers as QIS writes them: time, then volts, amperes and power of two rails, and both."""
    made = []
    for nth in range(rows):
        five_ma, twelve_ma = 700 + 53 * (nth % 7), 310 + 41 * (nth % 5)
        five_uw, twelve_uw = 5021 * five_ma, 12043 * twelve_ma
        made.append(
            [nth * step, 5021, five_ma, five_uw, 12043, twelve_ma, twelve_uw, five_uw + twelve_uw]
        )
    return made


def csv(rows=None, header=HEADER, separator=",", line_end="\n"):
    lines = [header.replace(",", separator)]
    lines += [separator.join(map(str, row)) for row in (recording() if rows is None else rows)]
    return "".join(line + line_end for line in lines).encode()


def without(*names):
    """The recording without some columns."""
    header = HEADER.split(",")
    kept = [n for n, name in enumerate(header) if name not in names]
    return csv([[row[n] for n in kept] for row in recording()], ",".join(header[n] for n in kept))


def refused(data, **options):
    with pytest.raises(FsgreenError) as error:
        read(data, **options)
    assert error.value.next_step
    return str(error.value)


def powers(imported):
    assert not imported.readings.flags
    return imported.readings.power_w.tolist()


TOTAL_W = [row[7] / 1e6 for row in recording()]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_total_power_is_read_with_any_separator(separator, line_end):
    imported = read(csv(separator=separator, line_end=line_end))
    assert powers(imported) == pytest.approx(TOTAL_W)
    assert imported.readings.time_s.tolist() == pytest.approx([1e-4 * n for n in range(12)])
    assert imported.info.rate_hz == pytest.approx(10_000)
    assert imported.info.boundary == "dc-rail"


@pytest.mark.parametrize(
    "header",
    [
        HEADER.replace("Time uS", "Time us").replace("Tot uW", "Total power uW"),
        ",".join(f'"{cell}"' for cell in HEADER.split(",")),
    ],
)
def test_other_headers_of_quarch_are_read(header):
    assert powers(read(csv(header=header))) == pytest.approx(TOTAL_W)


def test_units_are_those_of_the_header():
    rows = [[n, 5.021, 1.5, 7.5315] for n in range(5)]
    imported = read(csv(rows, "Time uS,5V voltage V,5V current A,5V power W"))
    assert powers(imported) == [7.5315] * 5
    assert imported.readings[1].time_s == 1e-6
    assert (imported.readings[0].voltage_v, imported.readings[0].current_a) == (5.021, 1.5)


def test_a_value_that_lost_its_point_is_part_of_no_energy():
    """A rail of 7.5 W for 100 us was 7.5 kW in the energy, and the lower limit below nothing."""
    rows = [[100 * n, 5.021, 1.5 + n / 100, round(5.021 * (1.5 + n / 100), 4)] for n in range(20)]
    rows[12][3] = int(1e4 * rows[12][3])
    imported = read(csv(rows, "Time uS,5V voltage V,5V current A,5V power W"))
    said = energy_of(imported)
    assert math.isnan(said.energy_j)
    assert "marked inconsistent" in said.flaws[0].detail and "0.0012 s" in said.flaws[0].detail
    assert any("marked inconsistent: Time uS 1200." in told for told in imported.decisions)
    begin_s, end_s = max(sound_spans(imported), key=lambda span: span[1] - span[0])
    part = energy_of(imported, (begin_s, end_s))
    assert part.energy_j == pytest.approx(7.7 * 1e-3, rel=0.03)
    assert part.budget.total_j < part.energy_j and not part.flaws


def test_power_is_summed_over_rails_where_there_is_no_total():
    assert powers(read(without("Tot uW"))) == pytest.approx(TOTAL_W)


def test_power_is_volts_times_amperes_where_there_is_no_power():
    imported = read(without("Tot uW", "5V power uW", "12V power uW"))
    assert powers(imported) == pytest.approx(TOTAL_W)
    assert any("product of volts and amperes" in sentence for sentence in imported.decisions)


def test_one_rail_is_chosen_with_its_volts_and_amperes():
    imported = read(csv(), rails=["5V"])
    assert powers(imported) == pytest.approx([row[3] / 1e6 for row in recording()])
    assert imported.readings[0].voltage_v == pytest.approx(5.021)
    assert imported.readings[0].current_a == pytest.approx(0.7)
    assert "no power of a rail 3V3" in refused(csv(), rails=["3V3"])


AC = (
    "Time uS,L1 current mA,L1 voltage mV,L1_PInst VA mVA,"
    "L1_PAct power mW,L1_PF PF% %,L1V_Freq Freq Hz,Tot_PAct power mW"
)


def test_active_power_of_an_ac_module_is_read_and_blanks_are_missing():
    rows = [[0, -7, 23295, -163, "", "", "", ""]]
    rows += [[125 * n, -7, 23295, -163, 3390, 29, 50, 3390] for n in range(1, 8)]
    imported = read(csv(rows, AC))
    assert imported.info.boundary == "wall"
    assert imported.readings.power_w[1:].tolist() == [3.39] * 7
    assert imported.readings.flags == {0: "missing"}


def test_ac_module_without_active_power_is_refused():
    assert "no active power" in refused(
        csv([[125 * n, -7, 23295] for n in range(5)], "Time uS,L1 current mA,L1 voltage mV")
    )


@pytest.mark.parametrize(
    ("row", "flag"),
    [
        ([300, 5021, 859, 4313039, 12043, 433, "x", 9527658], "bad-number"),
        ([300, 5021, 859, 4313039, 12043, 433, 5214619], "bad-count"),
        ([300, 5021, 859, 4313039, 12043, 433, 5214619, ""], "missing"),
        ([300, 5021, 859, 4313039, 12043, 433, 5214619, 952765], "inconsistent"),
        ([300, 5021, 859, 431303, 12043, 433, 5214619, 5645922], "inconsistent"),
        ([300, 5021, 859, -4313039, 12043, 433, 0, -4313039], "negative"),
    ],
)
def test_damaged_row_is_kept_with_its_flag(row, flag):
    rows = recording()
    rows[3] = row
    imported = read(csv(rows))
    assert flag in imported.readings[3].quality
    assert [n for n in imported.readings.flags if n != 3] == []


def test_missing_rows_are_flagged_and_doubled_ones_told():
    rows = recording()
    lost = read(csv(rows[:4] + rows[6:]))
    assert lost.readings.flags == {4: "lost"}
    doubled = read(csv(rows[:5] + rows[4:]))
    assert powers(doubled) == pytest.approx(TOTAL_W)
    assert any("repeat the row before" in sentence for sentence in doubled.decisions)


def test_overrun_makes_the_reading_after_it_or_the_last_one_invalid():
    lines = csv().splitlines(keepends=True)
    middle = read(b"".join([*lines[:5], b"Overrun\n", *lines[5:]]))
    assert middle.readings.flags == {4: "lost"}
    end = read(b"".join([*lines, b"Overrun\n"]))
    assert end.readings.flags == {11: "lost"}


def test_warnings_and_statistics_at_the_end_are_left_out_and_told():
    text = b"Warning: Max file size exceeded before end of stream.\n"
    assert any("Max file size" in sentence for sentence in read(csv() + text).decisions)
    imported = read(csv() + b"\n\nSTATISTICS\nMAX,1,2,3,4,5,6,7\n")
    assert powers(imported) == pytest.approx(TOTAL_W)


def test_a_last_line_that_was_cut_inside_its_time_marks_the_one_before():
    """Its time was read as an earlier one, and the whole file refused: times go back."""
    imported = read(csv() + b"12")
    assert imported.readings.flags == {11: "cut"}
    assert imported.readings.power_w.tolist() == pytest.approx(TOTAL_W)


@pytest.mark.parametrize("block_b", [1, 64, 1 << 21])
def test_blocks_make_no_difference(monkeypatch, block_b):
    monkeypatch.setattr(quarch_table, "BLOCK_B", block_b)
    rows = recording(40)
    rows[20][3] = "x"
    imported = read(csv(rows) + b"4000,5021,7")
    flags = imported.readings.flags
    assert flags == {20: "bad-number", 40: "cut"} or flags == {
        20: "bad-number|inconsistent",
        40: "cut",
    }
    assert len(imported.readings) == 41


def test_many_rows_are_read_in_columns():
    nth = np.arange(300_000)
    body = "\n".join(map("{},{}".format, (10 * nth).tolist(), (1_000_000 + nth).tolist()))
    imported = read(f"Time uS,Tot uW\n{body}\n".encode())
    assert imported.readings.power_w.sum() == pytest.approx((1_000_000.0 + nth).sum() / 1e6)
    assert not imported.readings.flags


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"Time uS\n",
        b"Time uS,Tot uW\n",
        b"Time uS,Tot uW\n0,1\n",
        b"When,Tot uW\n0,1\n1,1\n",
        b"Time uS,5V current mA\n0,1\n1,1\n",
        b"Time uS,5V power mA\n0,1\n1,1\n",
        b"Time mS,Tot uW\n0,1\n1,1\n",
        b"Time uS,Tot uW,fan\n0,1,1\n1,1,1\n",
        b"Time uS,Tot uW,Tot uW\n0,1,1\n1,1,1\n",
        b"Time uS,Tot uW\n1,1\n0,1\n",
        b"Time uS,Tot uW\n0,1\n1,1\n5,1\n99,1\n100,1\n900,1\n2000,1\n",
    ],
)
def test_what_cannot_be_trusted_is_refused(data):
    refused(data)


def test_accuracy_is_never_guessed():
    with pytest.raises(FsgreenError, match="gain_error"):
        reader(IMPORTER)(csv())


SMALL = csv(recording(6))


def test_file_cut_at_any_byte_is_refused_or_a_flagged_beginning():
    sound = read(SMALL)
    for end in range(len(SMALL)):
        assert not silent_errors(read, SMALL[:end], sound)


@given(st.binary(max_size=300))
@fuzzed
def test_arbitrary_bytes_are_refused(data):
    refused(data)


@given(st.text(alphabet="0123456789,.-\n\r e", max_size=200))
@fuzzed
def test_arbitrary_rows_below_a_sound_header_never_crash(text):
    try:
        read(f"Time uS,5V power uW\n{text}".encode())
    except FsgreenError as error:
        assert error.next_step


@given(st.data())
@fuzzed
def test_damage_is_refused_or_flagged_never_another_number(data):
    rows = csv()
    # The total is rounded by itself: it agrees with its rails to a few of its last digits.
    assert not silent_errors(read, data.draw(damaged(rows)), read(rows), within_w=3e-6)


def test_nothing_measured_is_nan_not_zero():
    rows = [[100 * n, ""] for n in range(5)]
    imported = read(csv(rows, "Time uS,Tot uW"))
    assert all(math.isnan(r.power_w) and r.quality == "missing" for r in imported.readings)


def test_zeros_behind_each_number_are_no_resolution():
    """A module that resolves milliwatts, exported in microwatts, has no resolution of 1e-6 W."""
    rows = [[100 * n, 1000 * (1234 + 7 * n)] for n in range(20)]
    assert read(csv(rows, "Time uS,Tot uW")).info.resolution_w == pytest.approx(1e-3)
