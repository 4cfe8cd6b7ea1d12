"""From raw folders to tables: what is right in, and what must not come in."""

import json
import math
import pickle
import shutil
from pathlib import Path

import pandas as pd
import pytest
import synthetic

from fsgreen import executors, paths, reduce
from fsgreen.design import columns
from fsgreen.errors import FsgreenError
from fsgreen.reduce.latency import quantiles_s
from fsgreen.reduce.rows import finishes_of
from fsgreen.trial import Trial


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """A small whole campaign: two file systems, two blocks."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    return synthetic.write_raw("small", synthetic.make_plan())


def test_a_trial_of_known_work_and_power(raw):
    """100 operations and 250 J a second are 0.4 ops/J; joules are those of the meters."""
    reduce.write("small")
    trials = reduce.read_table("small", "trials")
    assert len(trials) == 4
    row = trials.iloc[0]
    assert row["throughput_ops_s"] == pytest.approx(100)
    assert row["energy_j"] == pytest.approx(2500)
    assert row["energy_disk_j"] == pytest.approx(100)
    assert row["efficiency_ops_j"] == pytest.approx(0.4)
    assert row["bandwidth_b_s"] == pytest.approx(409600)
    assert row["energy_above_idle_j"] == pytest.approx(0)
    assert row["cpu_system_percent"] == pytest.approx(25)
    assert row["flush_duration_s"] == pytest.approx(1)
    assert row["error_gain_j"] == pytest.approx(37.5)
    assert row["steady"] == "flat"
    assert row["steady_power"] == "flat"
    assert row["latency_p50_s"] == pytest.approx(2e-6)
    assert row["latency_p99_s"] == pytest.approx(4e-6)


def test_a_workload_has_its_own_processor_time_beside_that_of_the_machine(tmp_path, monkeypatch):
    """The machine's has that of other programs, too. What was not recorded is not 0."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    plan = synthetic.make_plan()
    folder = synthetic.write_raw("small", plan)
    shutil.rmtree(folder / "trials")
    known, unknown = {"cost": {"user_s": 6.0, "system_s": 1.5}}, {}
    for planned in plan.trials:
        work = {"work_ops": 1000, "duration_s": 10.0, **(known if planned.block == 1 else unknown)}
        synthetic.write_trial(folder, "small", plan, planned, workload=work)
    reduce.write("small")
    found = reduce.read_table("small", "trials").groupby("block")["workload_cpu_s"].unique()
    assert found[1].tolist() == [7.5]
    assert pd.isna(found[2]).all()


def test_a_guest_has_no_shares_of_the_processors_below_it(tmp_path, monkeypatch):
    """The host may wait for other disks than the guest does, and work while the guest rests."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    synthetic.write_raw("guest", synthetic.make_plan(), kind="vm")
    reduce.write("guest")
    trials = reduce.read_table("guest", "trials")
    assert trials.filter(regex="^cpu_.*_percent$").isna().all(axis=None)
    assert trials.iloc[0]["throughput_ops_s"] == pytest.approx(100)


def test_work_that_was_done_to_its_end_needs_no_steady_state(raw):
    """Eight readers of a file each end one by one: their level changes, and their time is whole."""
    for file in raw.glob("trials/*/trial.json"):
        record = json.loads(file.read_text())
        record["workload"]["finished"] = True
        file.write_text(json.dumps(record))
    reduce.write("small")
    trials = reduce.read_table("small", "trials")
    assert {*trials["steady"], *trials["steady_power"]} == {"whole"}


def test_the_state_of_a_trial_is_read_from_its_own_counters(raw):
    """Without it, page cache passes for disk: no claim could ask what answered (rule 45)."""
    reduce.write("small")
    row = reduce.read_table("small", "trials").iloc[0]
    assert row["device_read_percent"] == pytest.approx(25)
    assert row["device_request_s"] == pytest.approx(0.5 / 100)
    assert row["device_busy_percent"] == pytest.approx(50), "half of each second"
    assert math.isnan(row["device_write_percent"]), "nothing was written"
    assert {*columns.STATE} <= {*row.index}


def test_a_trial_that_was_set_aside_after_a_look_has_a_row_of_its_own(raw):
    """It does not count, and is not lost (rule 48)."""
    aside = raw / "discarded"
    aside.mkdir()
    [chosen, *_] = sorted((raw / "trials").iterdir())
    shutil.copytree(chosen, aside / chosen.name)
    reduce.write("small")
    counted = reduce.read_table("small", "trials")
    found = reduce.discarded_trials("small")
    assert len(counted) == 4
    assert found["trial"].tolist() == [chosen.name]
    assert found["work_ops"].iloc[0] == counted.set_index("trial").loc[chosen.name, "work_ops"]
    (aside / chosen.name / "ops.parquet").write_bytes(b"other")
    with pytest.raises(FsgreenError, match=r"ops\.parquet is not the file that was recorded"):
        reduce.discarded_trials("small")


def test_series_starts_with_the_measured_phase(raw):
    """Ten seconds a trial, the first ending one second after the start."""
    reduce.write("small")
    series = reduce.read_table("small", "series")
    one = series[series["trial"] == series["trial"].iloc[0]]
    assert one["time_s"].tolist() == list(range(1, 11))
    assert one["power_w"].tolist() == [250] * 10


def test_a_trial_in_windows_is_the_sum_of_them(tmp_path, monkeypatch):
    """What others did between them, and the power of it, would be taken for its own."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    windows = [(10, 12), (14, 15), (17, 19)]
    plan = synthetic.make_plan()
    folder = synthetic.write_raw("small", plan)
    names = tuple(planned.trial for planned in plan.trials if planned.block == 1)
    shutil.rmtree(folder / "trials")
    for planned in plan.trials:
        work = {"work_ops": 500, "duration_s": 5.0, "cost": {"user_s": 0.5, "system_s": 1.5}}
        beside = {"trials": names, "order": [1, 2, 1]}
        synthetic.write_trial(
            folder, "small", plan, planned, windows=windows, workload=work, beside=beside
        )
    reduce.write("small")
    row = reduce.read_table("small", "trials").iloc[0]
    assert row["duration_s"] == 5
    assert row["throughput_ops_s"] == pytest.approx(100)
    assert row["energy_j"] == pytest.approx(5 * 250)
    assert row["device_read_b"] == pytest.approx(5 * 1024 * 100)
    assert row["flush_duration_s"] == pytest.approx(3)
    assert (row["windows_count"], row["workload_cpu_s"]) == (3, 2.0)
    series = reduce.read_table("small", "series")
    one = series[series["trial"] == row["trial"]]
    assert one["time_s"].tolist() == [2, 5, 9]
    assert one["power_w"].tolist() == [250] * 3
    assert one["throughput_ops_s"].tolist() == [100] * 3
    assert one["order"].tolist() == [1, 2, 1]
    assert one["duration_s"].tolist() == [2, 1, 2]
    assert one["cpu_work_s"].tolist() == pytest.approx([1, 0.5, 1])
    assert one["cpu_steal_percent"].tolist() == [0] * 3
    assert one["core_clock_hz"].isna().all(), "no counter of cycles"
    assert reduce.read_table("small", "power_over_time").empty


def test_latency_is_merged_over_trials_before_quantiles(raw):
    """2 trials x 1000 operations of one flowop are one row of 2000."""
    reduce.write("small")
    latency = reduce.read_table("small", "latency")
    assert latency["work_ops"].tolist() == [2000, 2000]
    assert latency["latency_p95_s"].tolist() == pytest.approx([4e-6] * 2)


def test_same_traces_same_bytes(raw):
    """A second run changes nothing in version control."""
    reduce.write("small")
    first = [file.read_bytes() for file in sorted(paths.results("small").glob("*.csv"))]
    reduce.write("small")
    assert first == [file.read_bytes() for file in sorted(paths.results("small").glob("*.csv"))]


def test_several_processes_give_the_same_bytes(raw, monkeypatch):
    """How many cores a machine has must not be seen in its results."""
    tables = [paths.results("small") / f"{name}.csv" for name in ("trials", "series", "latency")]
    reduce.write("small")
    alone = [file.read_bytes() for file in tables]
    for file in tables:
        file.unlink()
    monkeypatch.setattr(executors, "WORTH_A_PROCESS", 1)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    reduce.write("small")
    assert alone == [file.read_bytes() for file in tables]


def test_an_error_comes_whole_out_of_another_process():
    """A damaged trial is told in the same words, whoever reduced it."""
    error = FsgreenError("it is not whole", where="trial", next_step="mv trial ELSEWHERE")
    told = pickle.loads(pickle.dumps(error))
    assert (str(told), vars(told)) == (str(error), vars(error))


def test_a_changed_raw_file_is_found(raw):
    """Rule 22: one flipped byte in a trace stops the analysis and names the trial."""
    file = next(raw.glob("trials/*/power.parquet"))
    file.write_bytes(file.read_bytes()[:-1] + b"\x00")
    with pytest.raises(FsgreenError, match=r"power\.parquet is not the file") as caught:
        reduce.write("small")
    assert caught.value.where == str(file.parent)
    assert caught.value.next_step


def test_a_foreign_folder_is_named(raw):
    """A folder that someone dropped among the trials must not be skipped silently."""
    (raw / "trials" / "notes").mkdir()
    with pytest.raises(FsgreenError, match="not a whole trial"):
        reduce.write("small")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"plan_hash": "other"}, "another plan"),
        ({"cell": {"workload": "oltp"}}, "not that of the plan"),
        ({"boundary": "wall"}, "rule 19"),
        ({"machine": {"kernel": "Linux 7"}}, "rule 9"),
        ({"workload": {"work_ops": 1, "duration_s": 10.0}}, "not whole"),
    ],
)
def test_what_differs_is_never_pooled(raw, changes, message):
    """Another plan, cell, boundary or machine in one trial refuses the whole reduction."""
    plan = synthetic.make_plan(blocks=2)
    last = plan.trials[-1]
    folder = raw / "trials" / last.trial
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    synthetic.write_trial(raw, "small", plan, last, **changes)
    with pytest.raises(FsgreenError, match=message) as caught:
        reduce.write("small")
    assert caught.value.next_step


def test_no_trial_yet(raw):
    """An empty campaign says which command measures."""
    for folder in (raw / "trials").iterdir():
        folder.rename(raw / f"{folder.name}.away")
    with pytest.raises(FsgreenError, match="no whole trial yet"):
        reduce.write("small")


def test_no_campaign(tmp_path, monkeypatch):
    """An unknown campaign says how to get one."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    with pytest.raises(FsgreenError, match="unknown campaign 'nothing'"):
        reduce.write("nothing")
    with pytest.raises(FsgreenError, match="unknown campaign 'nothing'"):
        reduce.read_table("nothing", "trials")


def test_a_reader_that_finished_in_the_warm_up_is_the_first_of_them():
    """The whole campaign could not be reduced for it."""
    cell = {"readers": 3, "workload": "sequential-readers"}
    kind = {"process": "p", "thread": "t", "work_ops": [1, 1]}
    threads = [{**kind, "ended_s": [2.0, None]}, {**kind, "ended_s": [1.0]}]
    work = {"duration_s": 2.0, "work_ops": 3, "threads": threads}
    found = finishes_of(Trial(Path("one"), synthetic.record(cell=cell, workload=work)))
    assert found["rank"].tolist() == [1, 2, 3]
    assert found["ended_s"].tolist() == pytest.approx([math.nan, 1.0, 2.0], nan_ok=True)


def test_quantiles_count_operations_not_buckets():
    """90 % of operations in the first bucket: the median is there whatever the bucket count."""
    histogram = pd.DataFrame({"upper_ns": [10**9, 2 * 10**9, 10**9], "work_ops": [50, 10, 40]})
    assert quantiles_s(histogram, [0.5, 0.9, 0.91, 1.0]) == [1, 1, 2, 2]
    empty = quantiles_s(histogram.iloc[:0], [0.5])
    assert empty[0] != empty[0]
