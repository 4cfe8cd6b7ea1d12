"""Filebench's summaries of 1.4.9 and 1.5, and what it prints that is no result."""

import pytest
from damaged_files import OUTPUTS, damaged, fuzzed, read, told, wrong_numbers
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.errors import FsgreenError
from fsgreen.runs.filebench import FORMAT

ONE = (OUTPUTS / "filebench_1.txt").read_bytes()
OTHER = (OUTPUTS / "filebench_2.txt").read_bytes()
PSRUN = (OUTPUTS / "filebench_psrun.txt").read_bytes()
STOPPED = (OUTPUTS / "filebench_stopped_early.txt").read_bytes()

OLD = b"""\
Filebench Version 1.4.9
 4711: 0.000: Allocated 170MB of shared memory
 4711: 0.010: Varmail Version 2.1 personality successfully loaded
 4711: 1.500: Running...
 4711: 61.500: Run took 60 seconds...
 4711: 61.501: Per-Operation Breakdown
closefile4           1000ops       17ops/s   0.0mb/s      0.0ms/op        4us/op-cpu
readfile4            1000ops       17ops/s   3.5mb/s      0.1ms/op       20us/op-cpu
 4711: 61.501: IO Summary: 120000 ops, 2000.000 ops/s, (308/308 r/w),   3.5mb/s,    120us cpu/op,\
   9.9ms latency
 4711: 61.501: Shutting down processes
"""


def refused(data):
    with pytest.raises(FsgreenError) as caught:
        read(FORMAT, data)
    assert caught.value.next_step
    return str(caught.value)


def test_the_summary_of_1_5_is_read():
    """mb is 2**20 bytes; the length is operations over their rate, and the lines agree."""
    (run,) = read(FORMAT, ONE)
    line = next(line for line in ONE.decode().splitlines() if "IO Summary" in line)
    words = line.split()
    assert run.values["workload"] == "Small Version 1.0"
    assert run.values["work_ops"] == int(words[3])
    assert run.values["duration_s"] == pytest.approx(int(words[3]) / float(words[5]))
    assert run.values["duration_s"] == pytest.approx(3, abs=0.1)
    assert run.values["bandwidth_b_s"] == 2**20 * float(words[9].removesuffix("mb/s"))


def test_the_summary_of_1_4_9_is_read():
    (run,) = read(FORMAT, OLD)
    assert run.values == {
        "workload": "Varmail Version 2.1",
        "duration_s": 60.0,
        "work_ops": 120_000,
        "bandwidth_b_s": 3.5 * 2**20,
    }


def test_outputs_appended_to_each_other_are_runs_of_their_own():
    one, other = read(FORMAT, ONE + OTHER)
    assert one.values == read(FORMAT, ONE)[0].values
    assert other.values == read(FORMAT, OTHER)[0].values


def test_snapshots_of_psrun_are_not_taken_for_runs():
    message = refused(PSRUN)
    assert "runs after each other on the same files" in message
    assert "psrun" in message


def test_a_run_that_stopped_early_is_refused():
    assert "Run stopped early" in refused(STOPPED)


def test_a_lost_digit_is_seen_by_the_lines_around():
    assert "by its lines" in refused(OLD.replace(b"120000 ops", b"12000 ops"))
    slower = OLD.replace(b"2000.000", b"200.000").replace(b"308/308", b"30/30")
    assert "by its lines" in refused(slower)
    assert "the operations move" in refused(OLD.replace(b"3.5mb/s,", b"35.0mb/s,"))


def test_without_lines_around_it_a_summary_is_read_and_this_is_told():
    summary = b"\n".join(line for line in OLD.splitlines() if b"IO Summary" in line)
    assert read(FORMAT, summary)[0].values["work_ops"] == 120_000
    assert "cannot be checked" in told(FORMAT, summary)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"Filebench Version 1.5-alpha3\n",
        b"0.1: IO Summary: many ops\n",
        OLD.replace(b"120000 ops", b"-5 ops"),
        OLD.replace(b"120000 ops", b"0 ops"),
        OLD.replace(b"(308/308 r/w)", b"(30800/308 r/w)"),
        OLD.replace(b"3.5mb/s,", b"nanmb/s,"),
    ],
)
def test_what_is_no_summary_is_refused(data):
    refused(data)


@given(st.binary(max_size=300))
@fuzzed
def test_arbitrary_bytes_are_refused(data):
    refused(data)


@given(st.text(alphabet="0123456789.: IOSumaryops/rdwmbIO,()\n", max_size=200))
@fuzzed
def test_arbitrary_lines_after_a_banner_never_crash(text):
    try:
        read(FORMAT, f"Filebench Version 1.5\n{text}".encode())
    except FsgreenError as error:
        assert error.next_step


@pytest.mark.parametrize("sound", [ONE, OLD, ONE + OTHER], ids=["1.5", "1.4.9", "two"])
def test_damage_never_makes_another_number(sound):
    runs = read(FORMAT, sound)

    @given(damaged(sound))
    @fuzzed
    def check(data):
        assert wrong_numbers(FORMAT, data, runs, within=0.1) == []

    check()
