"""The memory is all that there is of a run without a computer: it must come whole, and stay."""

import itertools
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest
import traces
from hypothesis import given
from hypothesis import strategies as st
from wattsup_texts import HEADER, VERSION, dialogue, record

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Chunk
from fsgreen.meters.core.registry import parser_of
from fsgreen.meters.wattsup import driver as wattsup_driver
from fsgreen.meters.wattsup.memory import MemoryState, WattsUpMemory
from fsgreen.meters.wattsup.packets import MemoryParser
from tests.emulated import Emulator

STATE = (
    ("#S,R,0;", "#s,-,3,0,10,1;"),
    ("#N,R,0;", "#n,-,1,1023;"),
    ("#O,R,0;", "#o,-,1,2;"),
)
OPENING = (("#V,R,0;", VERSION), *STATE)
POWERS_W = [100.0, 250.5, 0.1, 180.0]
INFO = replace(traces.INFO, rate_hz=0.1, options={"memory": True})


def download(*powers, count=None, end="#l,-,2,0,10;"):
    records = "".join(record(W=str(round(power * 10))) for power in powers)
    return f"#n,-,3,0,10,{len(powers) if count is None else count};{records}{end}"


@contextmanager
def emulated(*powers_w, interval_s=10):
    with Emulator(lambda: 0.0) as emulator:
        emulator.memory_w, emulator.memory_interval_s = list(powers_w), interval_s
        with closing(WattsUpMemory(emulator.port)) as memory:
            yield emulator, memory


def parsed(*chunks):
    parser = parser_of(INFO)
    return [reading for chunk in chunks for reading in parser.feed(chunk)]


def test_opening_sends_nothing_that_stops_or_clears_a_log():
    with dialogue(*OPENING, *STATE) as port, closing(WattsUpMemory(port)) as memory:
        state = memory.state()
        assert memory.describe().rate_hz == 0.1
    assert state == MemoryState(10, 1023, "halves it and doubles the interval")


def test_download_gives_every_record_at_its_time_and_keeps_the_memory():
    with emulated(*POWERS_W) as (emulator, memory):
        chunks = memory.download()
        readings = parsed(*chunks)
        assert emulator.memory_w == POWERS_W
        assert "cut" not in {reading.quality for reading in readings}
    assert [reading.power_w for reading in readings] == POWERS_W
    steps_s = [b.time_s - a.time_s for a, b in itertools.pairwise(readings)]
    assert steps_s == pytest.approx([10, 10, 10])
    assert readings[-1].time_s <= chunks[-1].time_s


@pytest.mark.parametrize(
    "answer", [download(1.0, 2.0, count=3), download(1.0, 2.0, end=""), download(1.0)[:60]]
)
def test_a_download_that_breaks_off_is_refused_and_parsed_again_is_marked(monkeypatch, answer):
    script = (*OPENING, ("#H,R,0;", HEADER), ("#D,R,0;", answer))
    with (
        dialogue(*script) as port,
        closing(WattsUpMemory(port)) as memory,
        pytest.raises(FsgreenError, match=r"broke off: \d of \d"),
    ):
        monkeypatch.setattr(wattsup_driver, "REPLY_S", 1.0)
        memory.download()
    readings = parsed(Chunk(5.0, (HEADER + answer).encode()))
    assert all(reading.quality == "cut" for reading in readings)
    assert all(reading.power_w != reading.power_w for reading in readings)


def test_a_new_log_is_refused_while_the_memory_holds_unread_records():
    with emulated(*POWERS_W) as (emulator, memory):
        with pytest.raises(FsgreenError, match="4 records"):
            memory.log_anew(60)
        assert emulator.memory_w == POWERS_W
        memory.log_anew(60, erase=True)
        assert (emulator.memory_w, memory.state().interval_s) == ([], 60)
        memory.log_anew(30)


def test_records_that_came_after_the_download_are_not_cleared():
    """At one a second the meter goes on while its memory is read."""
    with emulated(*POWERS_W) as (emulator, memory):
        downloaded_count = len(parsed(*memory.download()))
        emulator.memory_w.append(7.0)
        with pytest.raises(FsgreenError, match="5 records, of which 4 were downloaded"):
            memory.log_anew(60, downloaded_count=downloaded_count)
        assert len(emulator.memory_w) == 5
        memory.log_anew(60, downloaded_count=5)
        assert emulator.memory_w == []


def test_a_download_with_a_damaged_record_is_refused():
    """The meter still has it: a second download would bring it."""
    damaged = download(1.0, 2.0, 3.0).replace("1237;", "37;", 1)
    damaged = damaged.replace("#d,-,18,", "#d,-,18,,", 1)
    script = (*OPENING, ("#H,R,0;", HEADER), ("#D,R,0;", damaged))
    with (
        dialogue(*script) as port,
        closing(WattsUpMemory(port)) as memory,
        pytest.raises(FsgreenError, match="broke off: 2 of 3"),
    ):
        memory.download()


def test_a_meter_without_an_interval_can_be_given_one():
    """The command that says so must not refuse to do it."""
    with emulated(interval_s=0) as (_, memory):
        assert memory.state().interval_s == 0
        with pytest.raises(FsgreenError, match="no fixed interval"):
            memory.describe()
        with pytest.raises(FsgreenError, match="no interval of a log"):
            memory.log_anew(0)
        memory.log_anew(60)
        assert memory.state().interval_s == 60


def test_an_interval_of_the_meter_that_is_no_number_is_refused():
    script = (OPENING[0], ("#S,R,0;", "#s,-,3,0,x,1;"))
    with dialogue(*script) as port, pytest.raises(FsgreenError, match="no count"):
        WattsUpMemory(port)


@given(st.binary(max_size=300))
def test_any_bytes_are_parsed_without_an_error_or_a_made_up_power(data):
    for reading in parsed(Chunk(1.0, HEADER.encode()), Chunk(2.0, data)):
        assert reading.quality != "ok" or reading.power_w == reading.power_w


@given(st.integers(0, len(download(*POWERS_W)) - 1))
def test_a_download_cut_anywhere_gives_no_reading_or_marked_ones(place):
    text = HEADER + download(*POWERS_W)
    kept = text[: len(HEADER) + place]
    readings = MemoryParser(INFO).feed(Chunk(1.0, kept.encode()))
    assert all(reading.quality == "cut" for reading in readings)
