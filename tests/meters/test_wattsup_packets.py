import math
from contextlib import closing
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from traces import INFO
from wattsup_texts import COLUMNS, HEADER, VERSION, record

from fsgreen.meters.core.base import Chunk
from fsgreen.meters.wattsup.memory import WattsUpMemory
from fsgreen.meters.wattsup.packets import PacketReader, WattsUpParser
from tests.emulated import Emulator
from tests.traces import parse

GOOD = (HEADER + record()).encode()


def read(*texts, info=INFO):
    """Readings of texts that arrive one a second, from second 1."""
    chunks = [
        Chunk(float(second), text if isinstance(text, bytes) else text.encode("latin-1"))
        for second, text in enumerate(texts, 1)
    ]
    return parse(chunks, info)


def values(readings):
    return [
        (r.power_w, r.voltage_v, r.current_a, r.energy_wh, r.quality.replace("|retimed", ""))
        for r in readings
        if not math.isnan(r.power_w)
    ]


def test_record_is_read_in_its_units():
    (reading,) = read(HEADER, record())
    assert reading.time_s == 2.0
    assert reading.power_w == pytest.approx(234.5)
    assert reading.voltage_v == pytest.approx(120.1)
    assert reading.current_a == pytest.approx(2.013)
    assert reading.energy_wh == pytest.approx(67.8)
    assert reading.quality == "ok"


@given(st.permutations(COLUMNS.split(",")))
def test_columns_are_found_by_name_in_any_order(names):
    columns = ",".join(names)
    (reading,) = read(f"#h,-,18,{columns};", record(columns))
    assert values([reading]) == values(read(HEADER, record()))


@pytest.mark.parametrize(
    ("text", "quality"),
    [
        (record().replace(",600,", ","), "bad-count"),
        (record().replace(",600,", ",600,0,"), "bad-count"),
        (record().replace("d,-,18", "d,-,17"), "bad-count"),
        (record().replace("2345", "23x5"), "bad-number"),
        (record().replace("2345", "2_345"), "bad-number"),
        (record().replace("2345", " 2345"), "bad-number"),
        (record().replace("2345", "²345"), "bad-number"),
        (record().replace("2345", ""), "bad-number"),
        (record().replace(",600,", ",6?0,"), "bad-number"),
        (record()[:30], "cut"),
        ("#d;", "bad-count"),
    ],
)
def test_unreadable_record_is_flagged_and_has_no_value(text, quality):
    first, second = read(HEADER, text + record())
    assert (first.quality.split("|")[0], second.quality.split("|")[0]) == (quality, "ok")
    assert math.isnan(first.power_w)
    assert math.isnan(first.energy_wh)


def test_record_before_any_header_is_not_guessed():
    (reading,) = read(record())
    assert reading.quality == "no-header"
    assert math.isnan(reading.power_w)


@pytest.mark.parametrize(
    ("changed", "quality"),
    [
        ({"W": "_"}, "missing"),
        ({"W": "-10"}, "negative|inconsistent"),
        ({"W": "-1", "V": "_", "A": "_", "VA": "_"}, "negative"),
        ({"A": "-2", "VA": "_"}, "negative"),
        ({"W": "20000", "A": "17170", "VA": "20621"}, "over-range"),
        ({"PC": "4"}, "power-cycled"),
        ({"W": "234"}, "inconsistent"),
        ({"A": "213"}, "inconsistent"),
    ],
)
def test_suspect_value_is_kept_and_flagged(changed, quality):
    (reading,) = read(HEADER, record(**changed), info=replace(INFO, power_cycles=3))
    assert reading.quality == quality


def test_fields_that_are_not_logged_are_no_flaw():
    (reading,) = read(HEADER, record(V="_", A="_", WH="_", VA="_", PF="_", PC="_"))
    assert reading.quality == "ok"
    assert math.isnan(reading.voltage_v)
    assert math.isnan(reading.energy_wh)


def test_ten_per_cent_between_apparent_power_and_v_times_i_is_sound():
    (reading,) = read(HEADER, record(VA="2200"))
    assert reading.quality == "ok"


def test_first_record_cut_at_its_head_is_passed_over():
    assert len(read(HEADER, record()[25:], record())) == 1


def test_several_records_in_one_read_are_set_back_and_marked():
    readings = read(HEADER, record(), "", "", record() * 3)
    assert [r.time_s for r in readings] == [2.0, 3.0, 4.0, 5.0]
    assert [r.quality for r in readings] == ["ok", "retimed", "retimed", "ok"]


def test_records_without_room_between_keep_their_arrival_time():
    """Two at once right after another: rule 13 has to see it, nothing is invented."""
    assert [r.time_s for r in read(HEADER, record(), record() * 2)] == [2.0, 3.0, 3.0]


def test_power_cycles_are_known_after_a_reading():
    parser = WattsUpParser(INFO)
    parser.feed(Chunk(0.0, GOOD))
    assert parser.power_cycles == 3


def test_packets_after_the_one_a_caller_stops_at_are_kept():
    reader = PacketReader()
    assert next(reader.feed((VERSION + HEADER).encode())).command == "v"
    assert [packet.command for packet in reader.feed(b"#d,-,0;")] == ["h", "d"]


def test_endless_packet_does_not_grow_and_the_next_is_read():
    readings = read(HEADER, b"#d," + b"1," * 5000, record())
    assert [r.quality for r in readings] == ["cut", "ok"]


noise = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([b"#", b";", b"#d", b"#d,-,18,1,2;", b"\0", HEADER.encode(), GOOD]),
    st.sampled_from([VERSION.encode(), record().encode(), record(W="_").encode()]),
)


@given(st.lists(noise, max_size=12))
@example([b"#" * 2000])
@example([b"#h,-,1,W;", b"#d,-,1,-;"])
@example([b"#h,-,2,W,W;", b"#d,-,2,1,2;"])
def test_any_bytes_are_survived_and_what_is_sound_has_a_value(pieces):
    for reading in read(*pieces):
        sound = reading.quality in ("ok", "retimed")
        assert not sound or (math.isfinite(reading.power_w) and reading.power_w >= 0)


@given(st.lists(noise, max_size=8), st.lists(st.integers(0, 600), max_size=10))
def test_where_reads_are_cut_does_not_change_a_value(pieces, cuts):
    data = b"".join(pieces)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    parts = [data[a:b] for a, b in pairwise(edges)]
    assert [_timeless(r) for r in read(*parts)] == [_timeless(r) for r in read(data)]


@given(st.lists(st.integers(0, len(GOOD)), max_size=30), st.sampled_from([b"\0", b"\r", b"\n"]))
def test_nul_and_line_ends_anywhere_change_nothing(places, byte):
    data = bytearray(GOOD)
    for place in sorted(places, reverse=True):
        data[place:place] = byte
    assert values(read(bytes(data))) == values(read(GOOD))


@given(
    st.integers(0, len(GOOD) - 1),
    st.integers(20, 17000),
    st.integers(50, 100),
    st.sampled_from([b"", b"#", b";", b",", b"x", b"\xff"]),
)
def test_lost_or_broken_byte_never_gives_a_silently_wrong_power(place, deciwatts, factor, instead):
    apparent = round(deciwatts * 100 / factor)
    text = HEADER + record(
        W=str(deciwatts),
        A=str(round(apparent / 10 / 120.1 * 1000)),
        VA=str(apparent),
        PF=str(factor),
    )
    data = text.encode()
    place = min(place, len(data) - 1)
    for reading in read(data[:place] + instead + data[place + 1 :]):
        if reading.quality in ("ok", "retimed"):
            slack_w = 0.1 * deciwatts / 10 + 0.3 + 0.01 * apparent / 10
            slack_w += 0.01 * apparent / 10 / 2 + 0.1
            assert reading.power_w == pytest.approx(deciwatts / 10, abs=slack_w)


def _timeless(reading):
    return (
        repr(replace(reading, time_s=0.0, quality="")),
        reading.quality.replace("|retimed", "").replace("retimed", "ok"),
    )


def test_a_header_that_names_a_column_twice_explains_nothing():
    """A spoiled letter makes VA an A: a current that is none must not be believed."""
    text = HEADER.replace("Hz,VA", "Hz,A") + record()
    (reading,) = parse([Chunk(0.0, text.encode())], INFO)
    assert reading.quality == "no-header"


@pytest.mark.parametrize("power", [3, 17, 42])
def test_a_small_load_at_which_no_current_is_sensed_is_sound(power):
    """A disk that sleeps: real meters show 0 A, a power factor of 1 and the watts as VA."""
    (reading,) = read(HEADER, record(W=str(power), VA=str(power), A="0", PF="100"))
    assert (reading.power_w, reading.current_a, reading.quality) == (power / 10, 0.0, "ok")
    (lost,) = read(HEADER, record(A="0"))
    assert lost.quality == "inconsistent"


def test_the_emulator_senses_no_current_below_five_watts():
    for power_w, senses in ((0.4, False), (4.9, False), (7.0, True)):
        with Emulator(lambda: 0.0) as emulator:
            emulator.memory_w = [power_w]
            with closing(WattsUpMemory(emulator.port)) as memory:
                info, chunks = memory.describe(), memory.download()
        (reading,) = parse(chunks, info)
        assert (reading.current_a > 0, reading.quality) == (senses, "ok")
