"""From the engine's histograms to log2 buckets: exact sums, and what is refused."""

import pandas as pd
import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st
from latencies import engine_bucket

from fsgreen import design, reduce, trial


def histogram(latencies_ns, operation="read"):
    rows = [(operation, *engine_bucket(ns), 1) for ns in latencies_ns]
    return pd.DataFrame(rows, columns=["operation", "lower_ns", "upper_ns", "work_ops"])


def counts(profile):
    return dict(zip(profile["bucket"], profile["work_ops"], strict=True))


@given(st.lists(st.integers(1, 2**42), min_size=1))
def test_no_operation_changes_its_octave(latencies_ns):
    """Each latency is in the bucket of its own logarithm, as if it had been put there at once."""
    found = counts(reduce.log2_profile(histogram(latencies_ns)))
    octaves = [ns.bit_length() - 1 for ns in latencies_ns]
    assert found == {octave: octaves.count(octave) for octave in octaves}


def test_no_time_at_all_is_in_the_first_bucket():
    """A clock that did not move has no logarithm."""
    assert counts(reduce.log2_profile(histogram([0, 1]))) == {0: 2}


def test_flowops_and_threads_of_one_operation_are_added():
    """The web server opens in ten places; it is one operation."""
    both = pd.concat([histogram([100, 5000]), histogram([100]), histogram([7], "open")])
    profile = reduce.log2_profile(both)
    assert profile["operation"].tolist() == ["open", "read", "read"]
    assert profile["work_ops"].tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    "row", [(1000, 2000, 1), (64, 64, 1), (-2, -1, 1), (64, 66, -1), (float("nan"), 66, 1)]
)
def test_a_bucket_that_does_not_fit_is_refused(row):
    """Operations that may belong to either side of a power of two cannot be counted."""
    table = pd.DataFrame(
        [("read", *row)], columns=["operation", "lower_ns", "upper_ns", "work_ops"]
    )
    with pytest.raises(ValueError, match="not a bucket inside one of log2"):
        reduce.log2_profile(table)


def test_a_campaign_gives_its_unlimited_trials(tmp_path, monkeypatch):
    """A cell that was held to a load waits on purpose: its latencies are another question."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    cells = synthetic.cells()
    limited = design.Cell(workload="webserver", file_system="xfs", load_ops_s=100.0)
    folder = synthetic.write_raw("small", synthetic.make_plan([*cells, limited]))
    for entry in list((folder / "trials").iterdir()):
        replace_latency(entry, histogram([1500] * 9 + [10**6]))
    profiles = reduce.trial_profiles("small")
    trials = profiles.groupby(["workload", "file_system", "option", "block"])["work_ops"].sum()
    assert trials.index.to_frame()["file_system"].tolist() == ["ext3", "ext3", "xfs", "xfs"]
    assert trials.tolist() == [10] * 4
    assert set(profiles["bucket"]) == {10, 19}


def replace_latency(folder, table):
    """Give a whole trial another histogram, with its hash."""
    writer = trial.TrialWriter(folder.parent.parent, folder.name)
    record = trial.read_trial(folder).record
    for file in folder.iterdir():
        if file.name != "trial.json":
            file.rename(writer.folder / file.name)
    (folder / "trial.json").unlink()
    folder.rmdir()
    writer.write_table("latency", table)
    writer.keep(record)
