"""Run tables of Experiment Runner: what they do not say is asked, and no cells are merged."""

import itertools
import re

import pytest
from damaged_files import fuzzed, read, told
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.errors import FsgreenError
from fsgreen.runs.experiment_runner import FORMAT
from fsgreen.runs.meanings import MEANINGS, meanings_of

MAPS = ("fs=file_system", "energy=energy_j", "runtime=duration_s")


def table(columns=("fs", "mode", "runtime", "energy", "avg_cpu"), repetitions=2, done="DONE"):
    """Two file systems and one mode, as the program writes it."""
    rows = []
    for repetition, (nth, fs) in itertools.product(range(repetitions), enumerate(("ext4", "xfs"))):
        values = {
            "fs": fs,
            "mode": "fast",
            "runtime": f"{10 + nth + repetition / 10}",
            "energy": f"{1000 + 100 * nth + 7 * repetition}",
            "avg_cpu": f"{20 + nth}",
        }
        cells = [f"run_{nth}_repetition_{repetition}", done, *(values[c] for c in columns)]
        rows.append(",".join(cells))
    return "\r\n".join([",".join(["__run_id", "__done", *columns]), *rows, ""]).encode()


def refused(data, *maps):
    with pytest.raises(FsgreenError) as caught:
        read(FORMAT, data, *maps)
    assert caught.value.next_step
    return str(caught.value)


def test_mapped_columns_are_read_and_others_are_kept_aside():
    runs = read(FORMAT, table(), *MAPS)
    assert [run.name for run in runs] == [
        *("run_0_repetition_0", "run_1_repetition_0"),
        *("run_0_repetition_1", "run_1_repetition_1"),
    ]
    assert runs[3].values == {"file_system": "xfs", "duration_s": 11.1, "energy_j": 1107.0}
    assert runs[3].aside == {"mode": "fast", "avg_cpu": "21"}


@pytest.mark.parametrize(
    ("column", "readings"),
    [
        ("energy", ("energy_j", "energy_kwh")),
        ("package_energy", ("energy_j", "energy_kwh")),
        ("joules", ("energy_j", "energy_uj")),
        ("runtime", ("duration_s", "duration_ms")),
        ("execution time", ("duration_s", "duration_ms")),
        ("Power", ("power_w", "power_mw")),
        ("throughput", ("throughput_ops_s", "bandwidth_mb_s")),
        ("MB/s", ("bandwidth_mb_s", "bandwidth_mib_s")),
        ("throughput (MB/s)", ("bandwidth_mb_s", "bandwidth_mib_s")),
        ("MiB/s", ("bandwidth_mib_s",)),
        ("bytes per second", ("bandwidth_b_s",)),
        ("Joules Per Second", ("power_w", "power_mw")),
        ("time/s", ("duration_s", "duration_ms")),
        ("energy/J", ("energy_j", "energy_kwh")),
        ("R/W latency", ("latency_p50_ms", "latency_p95_ms")),
    ],
)
def test_a_quantity_without_a_unit_is_refused_with_its_readings(column, readings):
    data = f"__run_id,__done,{column}\nrun_0_repetition_0,DONE,5\n".encode()
    message = refused(data)
    for reading in readings:
        assert reading in message
        assert f"--map '{column}={reading}'" in message


@pytest.mark.parametrize(
    "column",
    [
        *("Requests Per Second", "Transactions Per Second", "Queries Per Second", "Files/s"),
        *("req/sec", "ops_per_second", "throughput (requests/s)", "requests / s", "1/s"),
    ],
)
def test_a_rate_is_never_read_as_a_length(column):
    """25,000 requests a second are not 25,000 s, and more of them are no cost."""
    data = f"__run_id,__done,{column}\nrun_0_repetition_0,DONE,25000\n".encode()
    message = refused(data)
    assert f"--map '{column}=throughput_ops_s'" in message
    assert f"--map '{column}=aside'" in message
    assert "duration" not in message
    (run,) = read(FORMAT, data, f"{column}=throughput_ops_s")
    assert run.values == {"throughput_ops_s": 25_000.0}


@pytest.mark.parametrize(
    "column",
    [
        *("Requests Per Second Per Watt", "IOPS Per Watt", "Performance Per Watt", "ops/J"),
        *("MB/s Per Watt", "operations per joule", "Requests Per Second Per Megahertz"),
        *("GB/s", "Mbit/s", "Million Requests Per Second"),
    ],
)
def test_a_rate_for_which_there_is_no_meaning_is_kept_aside(column):
    """Work per energy is neither power nor a rate, and no meaning counts in thousands."""
    data = f"__run_id,__done,{column},energy_j\nrun_0_repetition_0,DONE,5,7\n".encode()
    (run,) = read(FORMAT, data)
    assert run.values == {"energy_j": 7.0}
    assert run.aside == {column: "5"}


@pytest.mark.parametrize("value", [1.2345678901234567e-4, 1e-4 + 2**-60, 9.876543210987654e-4])
def test_small_doubles_are_read_as_python_writes_them(value):
    """CodeCarbon gives the kWh of a short run with 20 decimals."""
    assert len(repr(value)) > 20
    data = f"__run_id,__done,energy\nrun_0_repetition_0,DONE,{value!r}\n".encode()
    (run,) = read(FORMAT, data, "energy=energy_kwh")
    assert run.values["energy_j"] == 3.6e6 * value


@given(st.floats(min_value=1e-99, max_value=1e15))
@fuzzed
def test_every_double_is_read_as_python_writes_it(value):
    data = f"__run_id,__done,energy_j\nrun_0_repetition_0,DONE,{value!r}\n".encode()
    assert read(FORMAT, data)[0].values["energy_j"] == value


def test_units_are_converted_as_stated():
    data = b"__run_id,__done,e,t,p\nrun_0_repetition_0,DONE,0.001,250,4000\n"
    (run,) = read(FORMAT, data, "e=energy_kwh", "t=duration_ms", "p=power_mw")
    assert run.values == pytest.approx({"energy_j": 3600, "duration_s": 0.25, "power_w": 4})


def test_names_that_state_their_unit_need_no_map():
    data = b"__run_id,__done,file_system,energy_j\nrun_0_repetition_0,DONE,xfs,5\n"
    assert read(FORMAT, data)[0].values == {"file_system": "xfs", "energy_j": 5.0}


def test_combinations_of_factors_are_not_merged_into_one_cell():
    """A factor that is kept aside would pool ext4 with xfs, and no number would show it."""
    message = refused(table(), "energy=energy_j", "runtime=duration_s")
    assert "combinations 0, 1 of this table would be one cell" in message
    assert "--map 'fs=option'" in message


def test_several_factors_may_be_one_level():
    runs = read(FORMAT, table(), "fs=option", "mode=option", "energy=aside", "runtime=duration_s")
    assert {run.values["option"] for run in runs} == {"ext4/fast", "xfs/fast"}


def test_two_columns_cannot_be_one_quantity():
    data = table(("fs", "runtime", "avg_cpu", "energy"))
    maps = ("fs=option", "runtime=duration_s", "avg_cpu=duration_ms", "energy=energy_j")
    assert "would both be duration_s" in refused(data, *maps)


def test_runs_still_to_do_are_left_out_and_told():
    data = table().replace(b"run_1_repetition_1,DONE", b"run_1_repetition_1,TODO")
    assert len(read(FORMAT, data, *MAPS)) == 3
    assert "still to do: run_1_repetition_1" in told(FORMAT, data, *MAPS)
    assert "no run of this table is done" in refused(table(done="TODO"), *MAPS)


def test_a_value_that_is_missing_is_told_and_another_that_is_no_number_refused():
    data = table().replace(b",1107,", b", ,")
    assert "run_1_repetition_1 has no energy_j" in told(FORMAT, data, *MAPS)
    for text in (b"1107 J", b"1,107", b"nan", b"inf", b"--", b"1_107", b"0x10", b"1" * 30):
        refused(table().replace(b",1107,", b"," + text + b","), *MAPS)


def test_a_table_of_before_repetitions_is_read_with_a_warning():
    data = table(repetitions=1).replace(b"_repetition_0", b"")
    assert len(read(FORMAT, data, *MAPS)) == 2
    assert "name no repetitions" in told(FORMAT, data, *MAPS)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"__done", b"done", "header lacks"),
        (b"avg_cpu", b"fs", "name twice"),
        (b"run_1_repetition_1,", b"run_0_repetition_1,", "there twice"),
        (b"run_1_repetition_1,", b"run_2_repetition_1,", "some are missing"),
        (b"run_1_repetition_1,", b"run 1,", "no runs that are TODO or DONE"),
        (b"repetition_1,DONE", b"repetition_1,MAYBE", "MAYBE"),
        (b",21\r\n", b"\r\n", "cells of the header"),
        (b"fast", b'"fast', "no CSV"),
    ],
)
def test_a_damaged_table_is_refused(old, new, message):
    assert message in refused(table().replace(old, new), *MAPS)


@pytest.mark.parametrize("text", ["fs", "=option", "fs=colour", "fs=optoin"])
def test_a_map_that_is_none_is_refused(text):
    with pytest.raises(FsgreenError) as caught:
        meanings_of([text])
    assert caught.value.next_step


def test_a_column_is_mapped_once_and_must_be_there():
    with pytest.raises(FsgreenError, match="no new meaning"):
        meanings_of(["fs=option", "fs=workload"])
    meanings = meanings_of(["filesystem=option"])
    with pytest.raises(FsgreenError, match="no file has a column 'filesystem'"):
        meanings.finish()


def test_every_meaning_is_documented():
    """The page names what can be written behind --map."""
    from fsgreen import paths

    page = (paths.root() / "docs" / "imports.md").read_text()
    assert [meaning for meaning in MEANINGS if f"`{meaning}`" not in page] == []


@given(st.binary(max_size=300))
@fuzzed
def test_arbitrary_bytes_are_refused(data):
    refused(data)


@given(st.text(alphabet='run_0repetition_1DONETODO,"\r\n. -', max_size=200))
@fuzzed
def test_arbitrary_rows_below_a_sound_header_never_crash(text):
    try:
        read(FORMAT, f"__run_id,__done,fs,energy_j\n{text}".encode())
    except FsgreenError as error:
        assert error.next_step


SOUND = table(repetitions=3)
RUNS = {run.name: run.values for run in read(FORMAT, SOUND, *MAPS)}


@given(st.data())
@fuzzed
def test_lost_or_doubled_cells_and_rows_never_give_a_run_the_values_of_another(data):
    """Less than two rows in one place; the format holds nothing to check digits against."""
    parts = re.split(rb"(?<=[,\n])", SOUND)
    start = data.draw(st.integers(0, len(parts)))
    end = data.draw(st.integers(start, min(len(parts), start + 2 * 7 - 1)))
    parts[start:end] = parts[start:end] * data.draw(st.sampled_from([0, 2]))
    try:
        runs = read(FORMAT, b"".join(parts), *MAPS)
    except FsgreenError as error:
        assert error.next_step
    else:
        assert {run.name: run.values for run in runs} == RUNS
