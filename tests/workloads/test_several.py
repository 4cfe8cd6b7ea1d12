"""Workloads of a study's own in Python, and several that run at once."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fsgreen import workloads
from fsgreen.errors import FsgreenError
from fsgreen.trial import Phase, ThreadWork, WorkSummary
from fsgreen.workloads import Outcome, Workload, WorkloadFailed
from fsgreen.workloads.base import LATENCY_COLUMNS

SEED = 7


class Counting:
    """A driver: counts to its number of operations, or fails."""

    def __init__(
        self,
        name: str,
        scale: float,
        levels: dict[str, Any],
        ops: int = 10,
        fail: bool = False,
        ends: bool = False,
    ) -> None:
        self.name = name
        self.size_b = 100
        self._ops, self._fail, self._levels = ops, fail, levels
        self._finished = True if ends else None

    def text_sha256(self) -> str:
        return f"{self._ops:064d}"

    def check(self) -> None:
        """Accept everything."""

    def prepare(self, directory: Path, seed: int) -> dict[str, Any]:
        (directory / "made").write_text(str(seed))
        return {"files_count": 1}

    def run(
        self,
        directory: Path,
        seed: int,
        warmup_s: float,
        measure_s: float,
        load_ops_s: float | None = None,
        stop: threading.Event | None = None,
    ) -> Outcome:
        assert (directory / "made").read_text() == str(seed)
        assert stop is not None
        if self._fail:
            raise WorkloadFailed("it broke")
        begin_s = time.monotonic()
        cut = stop.wait(measure_s)
        end_s = time.monotonic()
        phases = [Phase("warmup", begin_s, begin_s), Phase("measure", begin_s, end_s)]
        ops = {"time_s": [end_s], "duration_s": [end_s - begin_s], "work_ops": [self._ops]}
        bucket = ("p", "t", "count", "read", 1024, 2048, self._ops)
        summary = WorkSummary(
            end_s - begin_s,
            self._ops,
            read_b=512 * self._ops,
            threads=(ThreadWork("p", "t", (self._ops,)),),
            finished=self._finished,
            partial=cut,
            variables=self._levels,
        )
        latency = pd.DataFrame([bucket], columns=list(LATENCY_COLUMNS))
        table = pd.DataFrame(ops).assign(read_b=512 * self._ops, write_b=0)
        return Outcome(phases, table, latency, summary)


def nothing(name: str, scale: float, levels: dict[str, Any]) -> object:
    """A driver that makes no workload."""
    return object()


HERE = "tests.workloads.test_several"
DECLARED: dict[str, dict[str, Any]] = {
    "few": {"driver": f"{HERE}:Counting"},
    "many": {"driver": f"{HERE}:Counting", "options": {"ops": 30}},
    "broken": {"driver": f"{HERE}:Counting", "options": {"fail": True}},
    "ended": {"driver": f"{HERE}:Counting", "options": {"ends": True}},
    "done": {"driver": f"{HERE}:Counting", "options": {"ends": True}},
    "all": {"together": ["ended", "done"]},
    "some": {"together": ["ended", "few"]},
    "both": {"together": ["few", "many"]},
    "doomed": {"together": ["many", "broken"]},
    "itself": {"together": ["itself", "few"]},
    "twice": {"together": ["few", "few"]},
    "none": {"driver": f"{HERE}:nothing"},
    "gone": {"driver": "no_such_module:Thing"},
    "options": {"driver": f"{HERE}:Counting", "options": {"tables": 3}},
    "webserver": {"command": ["true"]},
}


def load(name: str) -> Workload:
    return workloads.load_workload(name, 1.0, {"tables": 2}, DECLARED)


def test_a_driver_gets_its_name_levels_and_options(tmp_path: Path) -> None:
    workload = load("many")
    workload.prepare(tmp_path, SEED)
    outcome = workload.run(tmp_path, SEED, 0.0, 0.1, None, threading.Event())
    assert (workload.name, outcome.summary.work_ops) == ("many", 30)
    assert outcome.summary.variables == {"tables": 2}


def test_workloads_that_run_at_once_are_added_up_and_told_apart(tmp_path: Path) -> None:
    """Their energy is of one interval, which holds the work of all."""
    workload = load("both")
    workload.check()
    assert workload.size_b == 200
    workload.prepare(tmp_path, SEED)
    outcome = workload.run(tmp_path, SEED, 0.0, 0.3)
    warmup, measure = outcome.phases
    assert warmup.end_s == measure.start_s
    summary = outcome.summary
    assert (summary.work_ops, summary.read_b, summary.partial) == (40, 512 * 40, False)
    assert summary.duration_s == pytest.approx(measure.duration_s)
    assert outcome.ops["work_ops"].tolist() == [40]
    assert outcome.ops["time_s"].iloc[-1] == pytest.approx(measure.end_s)
    assert set(outcome.latency["process"]) == {"few/p", "many/p"}
    assert [kind.process for kind in summary.threads] == ["few/p", "many/p"]
    assert summary.variables == {"few": {"tables": 2}, "many": {"tables": 2}}


@pytest.mark.parametrize(("name", "finished"), [("all", True), ("some", None), ("both", None)])
def test_work_has_an_end_where_that_of_all_has(
    name: str, finished: bool | None, tmp_path: Path
) -> None:
    """Beside work without an end, the rate changes once the other is done (rule 24)."""
    workload = load(name)
    workload.prepare(tmp_path, SEED)
    assert workload.run(tmp_path, SEED, 0.0, 0.1).summary.finished is finished


def test_where_one_fails_the_others_are_stopped(tmp_path: Path) -> None:
    """They would go on for the length of the trial, for nothing."""
    workload = load("doomed")
    workload.prepare(tmp_path, SEED)
    with pytest.raises(WorkloadFailed, match="it broke"):
        workload.run(tmp_path, SEED, 0.0, 1e6)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("itself", "unknown workload 'itself'"),
        ("twice", "each of them one time"),
        ("none", "makes no workload: it lacks check, prepare, run, size_b, text_sha256"),
        ("gone", "cannot be imported: No module named 'no_such_module'"),
        ("options", "cannot be called: .* unexpected keyword argument 'tables'"),
        ("webserver", "a workload 'webserver' comes with fsgreen already"),
        ("manny", "unknown workload 'manny', did you mean many"),
    ],
)
def test_a_declaration_that_cannot_run_says_why(name: str, said: str) -> None:
    with pytest.raises(FsgreenError, match=said) as caught:
        load(name)
    assert caught.value.what
