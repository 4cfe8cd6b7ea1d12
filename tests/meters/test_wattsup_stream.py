"""Bytes of a Watts Up that another program kept: no time is in them, and none is invented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wattsup_texts import HEADER, VERSION, record

from fsgreen.errors import FsgreenError
from fsgreen.meters.wattsup.stream import IMPORTER

POWERS = ["2345", "2346", "2340", "2350"]
RECORDS = "".join(record(W=power) for power in POWERS)


def read(text, **options):
    data = text if isinstance(text, bytes) else text.encode("latin-1")
    return IMPORTER.read(data, IMPORTER.settings.of({**options, "name": "log", "driver": "x"}))


def test_a_stream_has_a_record_a_second():
    readings = read(VERSION + HEADER + RECORDS).readings
    assert readings.power_w.tolist() == [234.5, 234.6, 234.0, 235.0]
    assert readings.time_s.tolist() == [0, 1, 2, 3]
    assert not readings.flags


def test_a_dump_of_the_memory_says_its_interval():
    text = HEADER + "#n,-,3,0,10,4;" + RECORDS + "#l,-,2,0,10;"
    assert read(text).readings.time_s.tolist() == [0, 10, 20, 30]
    assert read(text, interval_s=5.0).readings.time_s.tolist() == [0, 5, 10, 15]


def test_records_without_a_header_are_not_guessed():
    with pytest.raises(FsgreenError, match="before a header") as caught:
        read(RECORDS)
    assert "standard_columns" in caught.value.next_step
    assert read(RECORDS, standard_columns=True).readings.power_w[0] == 234.5


def test_records_before_a_header_cost_none_of_those_behind_it():
    """As of a program that begins to log before it asks for the names."""
    readings = read(RECORDS + HEADER + RECORDS).readings
    assert readings.flags == dict.fromkeys(range(4), "no-header")
    assert readings.power_w[4:].tolist() == [234.5, 234.6, 234.0, 235.0]


def test_a_stream_that_was_cut_says_so_and_keeps_the_places_of_the_others():
    text = HEADER + RECORDS
    assert read(text[:-9]).readings.flags == {2: "cut"}
    hurt = read(text.replace(record(W=POWERS[1]), record(W=POWERS[1])[:20]))
    assert hurt.readings.flags == {1: "cut"}
    assert hurt.readings.time_s.tolist() == [0, 1, 2, 3]


def steady(count):
    """Records of a load with a noise of some counts."""
    return [record(W=str(2345 + 7 * n % 11), WH=str(678 + n // 15)) for n in range(count)]


def test_a_logger_that_hung_is_flagged_and_a_load_that_is_steady_is_not():
    """Else a record that a hung program wrote again and again counts as work."""
    records = steady(100)
    assert not read(HEADER + "".join(records)).readings.flags
    hung = records[:50] + 8 * [records[49]] + records[58:]
    assert read(HEADER + "".join(hung)).readings.flags == dict.fromkeys(range(50, 58), "frozen")
    flat = [record() for _ in range(100)]
    assert not read(HEADER + "".join(flat)).readings.flags


@given(st.binary(max_size=200))
def test_arbitrary_bytes_never_crash(data):
    for text in (data, HEADER.encode() + RECORDS.encode() + data):
        try:
            read(text)
        except FsgreenError as error:
            assert error.next_step


@pytest.mark.parametrize(
    ("between", "flags"), [(";\r\nd", {2: "lost"}), (",d", {1: "bad-count", 2: "lost"})]
)
def test_glued_records_stand_for_as_many_as_they_were(between, flags):
    """Else every later one would be early by an interval, and the energy too small by one."""
    both = "".join(record(W=power) for power in POWERS[1:3])
    glued = read(HEADER + RECORDS.replace(both, both.replace(";\r\n#d", between, 1)))
    assert glued.readings.time_s.tolist() == [0, 1, 3]
    assert glued.readings.flags == flags
    assert any("1 record cannot be read: glued" in decision for decision in glued.decisions)
