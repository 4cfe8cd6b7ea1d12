"""No corruption of a meter's bytes may give a wrong energy in silence.

A Watts Up on a known load speaks, its bytes or itself are spoiled, and the real parser reads what
is left: the energy of a phase is then within its error budget, or the trace is flagged or refused.
"""

from __future__ import annotations

import os
from dataclasses import astuple, replace

import pytest
from faults import LENGTH_S, Load, Meter, faults, loads
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from traces import INFO, parse, whole_budget, whole_energy_j

from fsgreen import trace
from fsgreen.errors import FsgreenError
from fsgreen.meters import power_table
from fsgreen.meters.core.base import Chunk

METER = replace(INFO, power_cycles=3)
IDEAL = replace(METER, gain_error=0.0, constant_error_w=0.0)
"""What the meter of these tests is: it averages and rounds, and nothing else."""

EXAMPLES = max(20, round(10 * float(os.environ.get("FSGREEN_FUZZ_S", "2"))))

fraction = st.floats(0.0, 1.0)


def verdict(chunks, phase, truth_j, info):
    """Return "flagged", "refused" or "right" for the energy of a phase; fail where it is wrong.

    The search is for the worst case, with every term at its limit at once: their sum. How rarely
    that happens is what `total_j` says, and tested elsewhere.
    """
    readings = power_table({"system": parse(chunks, METER)})
    start_s, end_s = phase
    if trace.check_trace(readings, start_s, end_s, METER.rate_hz, info=METER):
        return "flagged"
    try:
        energy_j = whole_energy_j(readings, start_s, end_s)
    except FsgreenError:
        return "refused"
    budget = whole_budget(readings, start_s, end_s, info)
    limit_j = sum(astuple(budget)) * (1 + 1e-9)
    assert abs(energy_j - truth_j) <= limit_j, (energy_j, truth_j, budget)
    return "right"


def truth_j(load, phase):
    return float(load.energy_j(phase[1]) - load.energy_j(phase[0]))


@st.composite
def phases(draw):
    return 12 + draw(fraction), 40 + 15 * draw(fraction)


@settings(max_examples=EXAMPLES)
@given(loads(), fraction, phases())
def test_sound_stream_is_right(load, first_s, phase):
    chunks = Meter().records(load, first_s)
    assert verdict(chunks, phase, truth_j(load, phase), IDEAL) == "right"


@settings(max_examples=10 * EXAMPLES)
@given(loads(), fraction, phases(), st.lists(faults(), min_size=1, max_size=4))
def test_spoiled_bytes(load, first_s, phase, spoiled):
    chunks = Meter().records(load, first_s)
    for fault in spoiled:
        chunks = fault(chunks)
    verdict(chunks, phase, truth_j(load, phase), IDEAL)


@settings(max_examples=3 * EXAMPLES)
@given(loads(), fraction, phases(), st.integers(1, 50), st.integers(0, 80), st.integers(0, 9))
def test_digit_that_changed(load, first_s, phase, nth, byte, digit):
    """A tenth of one reading is what W may differ from VA times PF: the whole budget covers it."""
    chunks = Meter().records(load, first_s)
    data = chunks[nth].data
    if data[byte : byte + 1].isdigit():
        data = data[:byte] + str(digit).encode() + data[byte + 1 :]
    chunks[nth] = replace(chunks[nth], data=data)
    verdict(chunks, phase, truth_j(load, phase), METER)


def test_stream_cut_at_every_byte_of_a_record():
    load = Load((-10.0, 30.0), (120.0, 260.0))
    chunks = Meter().records(load, 0.4)
    for byte in range(len(chunks[40].data)):
        cut = [*chunks[:40], replace(chunks[40], data=chunks[40].data[:byte])]
        assert verdict(cut, (12.0, 55.0), 0.0, IDEAL) in ("flagged", "refused")
        lost = [*cut, *chunks[41:]]
        complete = byte >= len(chunks[40].data.rstrip())
        expected = "right" if complete else "flagged"
        assert verdict(lost, (12.0, 55.0), truth_j(load, (12.0, 55.0)), IDEAL) == expected


@settings(max_examples=EXAMPLES)
@given(loads(), fraction, phases(), st.integers(13, 35), st.integers(1, 4))
def test_nuls_splits_and_late_reads_cost_no_joule(load, first_s, phase, nth, held):
    """What the parser mends must be mended wholly: the meter's own errors cover none of it."""
    chunks = Meter().records(load, first_s)
    late = chunks[nth : nth + held]
    joined = Chunk(late[-1].time_s, b"\0".join(chunk.data for chunk in late))
    parts = [replace(joined, data=joined.data[:33]), replace(joined, data=joined.data[33:])]
    chunks = [*chunks[:nth], *parts, *chunks[nth + held :]]
    assert verdict(chunks, phase, truth_j(load, phase), IDEAL) == "right"


@settings(max_examples=EXAMPLES)
@given(loads(), fraction, phases(), st.integers(1, LENGTH_S))
def test_interval_that_doubles_when_the_memory_is_full(load, first_s, phase, at):
    chunks = Meter(doubles_at=at).records(load, first_s)
    found = verdict(chunks, phase, truth_j(load, phase), IDEAL)
    if first_s + at < phase[1] - 1:
        assert found == "flagged"


@settings(max_examples=EXAMPLES)
@given(loads(), fraction, phases(), st.integers(1, LENGTH_S))
def test_meter_that_lost_power(load, first_s, phase, at):
    chunks = Meter(cycles_at=at).records(load, first_s)
    found = verdict(chunks, phase, truth_j(load, phase), IDEAL)
    if first_s + at < phase[1]:
        assert found == "flagged"


@settings(max_examples=EXAMPLES)
@given(loads(), fraction, phases(), st.integers(14, 38))
def test_counter_that_is_reset(load, first_s, phase, at):
    assume(load.energy_j(at) - load.energy_j(0) > 720)
    chunks = Meter(resets_at=at).records(load, first_s)
    assert verdict(chunks, phase, truth_j(load, phase), IDEAL) == "flagged"


STEP_UP = Load((-10.0, 12.3), (60.0, 260.0))
seen = st.one_of(st.floats(-30, -0.21), st.floats(0.21, 30))


@settings(max_examples=3 * EXAMPLES)
@given(loads(), fraction, phases(), fraction, seen)
@example(STEP_UP, 0.5, (12.125, 40.0), 1e-4, -0.5)
@example(STEP_UP, 0.5, (12.125, 40.0), 0.999, -0.5)
@example(STEP_UP, 0.2, (12.125, 40.0), 1e-4, -1.7)
@example(STEP_UP, 0.9, (12.125, 40.0), 0.999, -4.7)
def test_step_of_the_hosts_clock_inside_a_phase(load, first_s, phase, place, by_s):
    """The edges of the phase are read from the same clock, so that they move with it.

    Below a fifth of an interval rule 13 takes a step for jitter; it then moves that much power.
    """
    at_s = phase[0] + place * (phase[1] - phase[0])
    assume(phase[0] < at_s < phase[1])

    def read(moment_s):
        return moment_s + (by_s if moment_s > at_s else 0.0)

    assume(read(phase[1]) > phase[0])
    chunks = [replace(c, time_s=read(c.time_s)) for c in Meter().records(load, first_s)]
    found = verdict(chunks, (phase[0], read(phase[1])), truth_j(load, phase), IDEAL)
    assert found in ("flagged", "refused")


@settings(max_examples=EXAMPLES)
@given(loads(), fraction, phases(), st.integers(14, 24), st.integers(8, 15))
def test_meter_that_repeats_its_last_record(load, first_s, phase, at, count):
    """Where its counter can tell: 0.1 Wh pass in less than seven seconds at 60 W."""
    chunks = Meter(sticks=(at, count)).records(load, first_s)
    assert verdict(chunks, phase, truth_j(load, phase), METER) == "flagged"


@pytest.mark.parametrize("memory", ["#n,-,1,0;\r\n", "#n,-,3,0,1,0;#l,-,2,0,1;\r\n"])
def test_meter_that_stops_when_its_memory_is_full(memory):
    load = Load((-10.0,), (200.0,))
    chunks = Meter().records(load, 0.0)[:50]
    chunks.append(Chunk(50.0, memory.encode()))
    assert verdict(chunks, (12.0, 55.0), 0.0, METER) == "flagged"
