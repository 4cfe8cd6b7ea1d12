"""Results of the engine that were kept as a file: what is compared, and what is refused."""

import json

import pytest
from latencies import engine_bucket

from fsgreen import cli
from fsgreen.errors import FsgreenError
from fsgreen.reduce.single_run import report_profile


def report(*latencies_ns, counted=True):
    """What the program writes of a run that did some reads."""
    buckets = [[*engine_bucket(ns), 1] for ns in latencies_ns]
    names = {"process": "p", "thread": "t", "flowop": "f", "operation": "read"}
    flowop = {**names, "counted": counted, "latency": {"buckets": buckets}}
    return {"schema": 2, "runs": [{"name": "run 1", "measure": {"flowops": [flowop]}}]}


def written(folder, value, name="a.json"):
    file = folder / name
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    return file


def test_two_results_of_the_engine_are_compared(tmp_path, capsys):
    """`fsgreen latency`: a factor of four is +2, and two runs are no proof."""
    slow = written(tmp_path, report(4000, 4100, 4200), "slow.json")
    fast = written(tmp_path, report(1000, 1025, 1050), "fast.json")
    assert cli.main(["latency", str(slow), str(fast)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[1].split() == ["read", "3", "3", "2.00", "+2.00"]
    assert "cannot tell a difference from noise" in shown[-1]


def test_what_is_no_work_is_not_in_the_profile(tmp_path):
    """A limit's waiting is no latency of the file system."""
    file = written(tmp_path, report(10**9, counted=False))
    with pytest.raises(FsgreenError, match="did no operation that counts"):
        report_profile(file)


@pytest.mark.parametrize(
    "garbage",
    [
        "",
        "{",
        "[]",
        "{}",
        "null",
        '{"runs": 3}',
        '{"runs": [7]}',
        '{"runs": [{"measure": {}}]}',
        '{"runs": [{"measure": {"flowops": [{"counted": true}]}}]}',
        json.dumps(report(5)).replace("[5, 6, 1]", "[5]"),
        json.dumps(report(5)).replace("[5, 6, 1]", '["x", "y", "z"]'),
        json.dumps(report(5)).replace("[5, 6, 1]", "[5, 6, NaN]"),
        json.dumps(report(5)).replace("[5, 6, 1]", "[1000, 2000, 1]"),
        json.dumps(report(5)).replace("[5, 6, 1]", f"[5, 6, 1{'0' * 400}]"),
        json.dumps(report(5)).replace('"read"', "null"),
        "[" * 100_000,
        {"runs": []},
        {"runs": report(5)["runs"] * 2},
    ],
)
def test_garbage_is_refused_with_the_next_step(tmp_path, garbage, capsys):
    """No crash, and above all no table of wrong numbers."""
    file = written(tmp_path, garbage)
    with pytest.raises(FsgreenError) as caught:
        report_profile(file)
    assert caught.value.where == str(file)
    assert caught.value.next_step
    assert cli.main(["latency", str(file), str(file)]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_a_missing_or_binary_file_is_refused(tmp_path):
    """A mistyped name is the usual mistake."""
    binary = tmp_path / "b.json"
    binary.write_bytes(b"\xff\xfe\x00")
    for file in (tmp_path / "none.json", binary, tmp_path):
        with pytest.raises(FsgreenError, match="no results of fsgreen-wml"):
            report_profile(file)
