"""fio's JSON: its units, its groups of jobs, and what it writes that is no result."""

import json

import pytest
from damaged_files import OUTPUTS, damaged, fuzzed, read, told, wrong_numbers
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.errors import FsgreenError
from fsgreen.runs import import_runs
from fsgreen.runs.fio import FORMAT
from fsgreen.runs.meanings import meanings_of

RANDREAD = (OUTPUTS / "fio_randread.json").read_bytes()
MIXED = (OUTPUTS / "fio_mixed_plus.json").read_bytes()
GROUPS = (OUTPUTS / "fio_two_groups.json").read_bytes()
BOTH = (OUTPUTS / "fio_normal_and_json.txt").read_bytes()
STATUS = (OUTPUTS / "fio_status_interval.txt").read_bytes()


def document(data):
    text = data.decode()
    return json.JSONDecoder().raw_decode(text, text.index("\n{") + 1 if text[0] != "{" else 0)[0]


def changed(data, change):
    """A document after a change of its first job."""
    found = document(data)
    change(found["jobs"][0])
    return json.dumps(found, indent=1).encode()


def refused(data):
    with pytest.raises(FsgreenError) as caught:
        read(FORMAT, data)
    assert caught.value.next_step
    return str(caught.value)


def test_work_time_and_bytes_are_in_their_units():
    """runtime is in ms, clat in ns; notes before the document are no part of it."""
    assert RANDREAD.startswith(b"note: ")
    (run,) = read(FORMAT, RANDREAD)
    part = document(RANDREAD)["jobs"][0]["read"]
    assert run.values["workload"] == "randread"
    assert run.values["duration_s"] == part["runtime"] / 1000 == pytest.approx(2, abs=0.1)
    assert run.values["work_ops"] == part["total_ios"]
    assert run.values["work_ops"] / run.values["duration_s"] == pytest.approx(part["iops"])
    assert run.values["bandwidth_b_s"] == pytest.approx(part["bw_bytes"], rel=1e-6)
    assert run.values["bandwidth_b_s"] == pytest.approx(1024 * part["bw"], rel=1e-4)
    assert run.values["latency_p99_s"] == part["clat_ns"]["percentile"]["99.000000"] / 1e9
    assert "2 lines before the JSON" in told(FORMAT, RANDREAD)


def test_jobs_of_one_name_and_other_options_are_other_workloads(tmp_path):
    """4 KiB and 16 KiB would else be one cell, and their mean the result of neither."""

    def run(name, shared, **options):
        found = document(RANDREAD)
        found["global options"] = shared
        found["jobs"][0]["job options"] = {"name": "randread", **options}
        file = tmp_path / name
        file.write_text(json.dumps(found, indent=1))
        return file

    files = [
        run("1.json", {"bs": "4k"}, directory="/mnt/a"),
        run("2.json", {}, bs="16k", directory="/mnt/b"),
        run("3.json", {}),
    ]
    found = import_runs(files, meanings_of([]))
    names = ["randread (bs 4k)", "randread (bs 16k)", "randread (bs 4k)"]
    assert list(found.runs["workload"]) == names
    assert "whose bs differs: 16k, 4k." in " ".join(found.sources[0]["decisions"])


def test_both_directions_count_and_their_percentiles_are_not_merged():
    """json+ adds buckets, which change nothing."""
    assert b'"bins"' in MIXED
    (run,) = read(FORMAT, MIXED)
    job = document(MIXED)["jobs"][0]
    assert run.values["work_ops"] == job["read"]["total_ios"] + job["write"]["total_ios"]
    assert not any(key.startswith("latency") for key in run.values)
    assert "cannot be merged" in told(FORMAT, MIXED)


def test_jobs_of_other_groups_ran_at_other_times():
    """A stonewall makes two runs, which must not be added."""
    runs = read(FORMAT, GROUPS)
    assert [run.values["workload"] for run in runs] == ["rd", "wr"]
    assert all(run.values["duration_s"] == pytest.approx(1, abs=0.1) for run in runs)


def test_jobs_of_one_group_ran_at_the_same_time():
    found = document(GROUPS)
    found["jobs"][1]["groupid"] = 0
    (run,) = read(FORMAT, json.dumps(found).encode())
    each = [job[way]["total_ios"] for job in found["jobs"] for way in ("read", "write")]
    assert run.values["work_ops"] == sum(each)
    assert run.values["duration_s"] == max(
        job[way]["runtime"] / 1000 for job in found["jobs"] for way in ("read", "write")
    )
    assert run.values["workload"] == "rd+wr"


def test_readable_text_around_the_document_is_left_out():
    (run,) = read(FORMAT, BOTH)
    assert run.values["workload"] == "w"
    assert "lines after the JSON were left out" in told(FORMAT, BOTH)


def test_snapshots_of_one_run_are_not_taken_for_runs():
    message = refused(STATUS)
    assert "runs after each other" in message
    assert "--status-interval" in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda job: job.update(error=5), "met errors in randread"),
        (lambda job: job.update(total_err=3, first_error=5), "met errors in randread"),
        (lambda job: job["read"].update(total_ios=job["read"]["total_ios"] * 10), "contradict"),
        (lambda job: job["read"].update(runtime=20), "known to one"),
        (lambda job: job["read"].update(runtime=20_010), "contradict"),
        (lambda job: job["read"].update(io_bytes=-1), "contradict"),
        (lambda job: job["read"].update(total_ios=float(job["read"]["total_ios"])), "contradict"),
        (lambda job: job["read"].pop("bw_bytes"), "no output of fio"),
        (lambda job: job.pop("write"), "no output of fio"),
        (lambda job: job.update(mixed=job["read"]), "unified_rw_reporting"),
        (lambda job: job.update(read=job["write"]), "did no I/O"),
    ],
)
def test_numbers_that_contradict_each_other_are_refused(change, message):
    assert message in refused(changed(RANDREAD, change))


def test_percentiles_that_lack_some_are_left_out():
    """Where a line was lost, a percentile may have got the value of the next."""
    data = changed(RANDREAD, lambda job: job["read"]["clat_ns"]["percentile"].pop("99.500000"))
    (run,) = read(FORMAT, data)
    assert not any(key.startswith("latency") for key in run.values)
    assert "percentiles are left out" in told(FORMAT, data)


def in_one_bucket(least_ns, most_ns):
    """Latencies that fio counts in one bucket: all percentiles are its middle (stat.c)."""
    width_ns = 1 << (most_ns.bit_length() - 7)
    assert least_ns // width_ns == most_ns // width_ns
    middle_ns = most_ns // width_ns * width_ns + width_ns // 2

    def change(job):
        latency = job["read"]["clat_ns"]
        latency |= {"min": least_ns, "max": most_ns, "mean": (least_ns + most_ns) / 2}
        latency["percentile"] = dict.fromkeys(latency["percentile"], middle_ns)

    return change, middle_ns


@pytest.mark.parametrize(
    ("least_ns", "most_ns"), [(1_007_000, 1_007_500), (1_000_000, 1_000_100), (2**20 - 1,) * 2]
)
def test_even_latencies_whose_percentiles_lie_outside_of_them_are_read(least_ns, most_ns):
    """A percentile is the middle of a bucket: the least one may be below the minimum."""
    change, middle_ns = in_one_bucket(least_ns, most_ns)
    assert not least_ns <= middle_ns <= most_ns
    (run,) = read(FORMAT, changed(RANDREAD, change))
    assert run.values["latency_p50_s"] == run.values["latency_p99_s"] == middle_ns / 1e9


@pytest.mark.parametrize(
    "wrong", [{"95.000000": 1}, {"99.990000": 10**15}, {"1.000000": 1}], ids=str
)
def test_percentiles_that_contradict_each_other_are_left_out_and_the_run_is_read(wrong):
    """Its rates do not rest on them."""
    data = changed(RANDREAD, lambda job: job["read"]["clat_ns"]["percentile"].update(wrong))
    (run,) = read(FORMAT, data)
    (sound,) = read(FORMAT, RANDREAD)
    kept = {name: value for name, value in sound.values.items() if "latency" not in name}
    assert run.values == kept
    assert "randread: percentiles are left out; they do not rise" in told(FORMAT, data)


def test_operations_that_were_cut_short_or_dropped_are_told():
    data = changed(RANDREAD, lambda job: job["read"].update(short_ios=7, drop_ios=2))
    assert read(FORMAT, data)[0].values == read(FORMAT, RANDREAD)[0].values
    sentences = told(FORMAT, data)
    assert "randread: 7 I/Os came back short (short_ios)." in sentences
    assert "randread: 2 I/Os were dropped (drop_ios)." in sentences
    assert "short_ios" not in told(FORMAT, RANDREAD)


def test_operations_without_an_error_among_those_that_may_fail_are_read():
    """continue_on_error alone is no error."""
    data = changed(RANDREAD, lambda job: job.update(total_err=0, first_error=0))
    assert read(FORMAT, data)[0].values == read(FORMAT, RANDREAD)[0].values


def test_the_output_of_a_client_is_refused_by_name():
    """fio --client writes its machines where the jobs of one would be."""
    found = document(RANDREAD)
    found["client_stats"] = [job | {"hostname": "one", "port": 8765} for job in found.pop("jobs")]
    message = refused(json.dumps(found).encode())
    assert "fio --client" in message
    assert "run fio on the machine itself" in message


def test_fio_2_is_refused_for_its_units():
    found = document(RANDREAD) | {"fio version": "fio-2.2.10"}
    assert "fio-2.2.10, which wrote other units" in refused(json.dumps(found).encode())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"{}",
        b"[]",
        b"note\n",
        b'{"fio version": 3}',
        b'{"fio version": "fio-3.1", "jobs": []}',
        b'{"fio version": "fio-3.1", "jobs": [5]}',
        b'{"fio version": "fio-3.1", "jobs": 5}',
        b"{" * 100_000,
        b'{"a":' * 100_000,
        b'{"fio version": "fio-3.1", "jobs": [{"groupid": NaN}]}',
    ],
)
def test_what_is_no_output_of_fio_is_refused(data):
    refused(data)


@given(st.binary(max_size=300))
@fuzzed
def test_arbitrary_bytes_are_refused(data):
    refused(data)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "jobs",
                        "read",
                        "write",
                        "trim",
                        "groupid",
                        "error",
                        "jobname",
                        "total_ios",
                        "runtime",
                        "clat_ns",
                        "percentile",
                    ]
                ),
                inner,
                max_size=5,
            )
        ),
    )
)
@fuzzed
def test_arbitrary_documents_are_refused(value):
    refused(json.dumps({"fio version": "fio-3.1", "jobs": value}).encode())


@pytest.mark.parametrize("sound", [RANDREAD, MIXED, GROUPS], ids=["randread", "mixed", "groups"])
def test_damage_never_makes_another_number(sound):
    runs = read(FORMAT, sound)

    @given(damaged(sound))
    @fuzzed
    def check(data):
        assert wrong_numbers(FORMAT, data, runs) == []

    check()
