"""Trials that take turns: each whole, with its own windows, and none at the cost of another."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from fsgreen import campaign, design, paths, reduce, testbeds, trial
from fsgreen.campaign import drive, fitting, windows
from fsgreen.errors import FsgreenError, TrialFailed
from fsgreen.trial import Phase, WorkSummary
from fsgreen.workloads import Outcome, Turn, WorkloadFailed
from tests.campaign.conftest import QUICK_PHASES, ScriptedWorkload, directory, plan_of
from tests.patience import TRIES

pytestmark = pytest.mark.slow

Behaviour = Callable[[float | None, int], None]

OPS = 10


class ScriptedTurns:
    """Work of so many operations a turn; `behave` is called with the number of the turn."""

    def __init__(self, behave: Callable[[int], None]) -> None:
        self._behave, self._turns = behave, 0

    def turn(self, length_s: float) -> Turn:
        start_s = time.monotonic()
        time.sleep(length_s)
        self._turns += 1
        self._behave(self._turns)
        return Turn(start_s, time.monotonic(), OPS, 0, 0)

    def outcome(self, done: Sequence[Turn]) -> Outcome:
        phases = [Phase("measure", turn.start_s, turn.end_s) for turn in done]
        count = len(done)
        ops = pd.DataFrame(
            {
                "time_s": [phase.end_s for phase in phases],
                "duration_s": [phase.duration_s for phase in phases],
                **{"work_ops": [OPS] * count, "read_b": [0] * count, "write_b": [0] * count},
            }
        )
        latency = {"process": "p", "thread": "t", "flowop": "f", "operation": "read"}
        buckets = {"lower_ns": [1000], "upper_ns": [1100], "work_ops": [OPS * count]}
        duration_s = sum(phase.duration_s for phase in phases)
        summary = WorkSummary(duration_s=duration_s, work_ops=OPS * count)
        return Outcome(phases, ops, pd.DataFrame({**latency, **buckets}), summary)


class TurningWorkload(ScriptedWorkload):
    """A scripted workload that can take turns; the load tells its runs apart."""

    def __init__(self, name: str, behave: Behaviour) -> None:
        super().__init__(name, lambda summary: None)
        self._behaves = behave

    @contextmanager
    def turns(
        self, directory: Path, seed: int, warmup_s: float, load_ops_s: float | None = None
    ) -> Iterator[ScriptedTurns]:
        yield ScriptedTurns(lambda nth: self._behaves(load_ops_s, nth))


@pytest.fixture
def turning(monkeypatch: pytest.MonkeyPatch) -> Callable[[Behaviour], None]:
    """Return a function that sets how the scripted workload behaves in its turns."""

    def behave(behaviour: Behaviour) -> None:
        monkeypatch.setattr(
            fitting, "load_workload", lambda name, *_: TurningWorkload(name, behaviour)
        )

    behave(lambda load_ops_s, nth: None)
    return behave


@pytest.fixture
def beds() -> Iterator[list[testbeds.Testbed]]:
    """Yield two testbeds, each on a folder of its own."""
    with ExitStack() as stack:
        yield [stack.enter_context(directory()) for _ in range(2)]


@pytest.fixture
def plan(beds: list[testbeds.Testbed], quick: None) -> design.Plan:
    """Return a plan of one block, with two cells of one workload in two windows each."""
    whole = plan_of(beds[0], QUICK_PHASES)
    profile = replace(
        whole.profile,
        windows=design.Windows(count=2, length_s=1.0, ready=2),
        measure_s=2.0,
        scale={"webserver": 0.005},
    )
    cell = whole.trials[0].cell.but(workload="webserver")
    loads = enumerate((None, 200.0), start=1)
    trials = tuple(
        design.PlannedTrial(f"b01-{nth:03d}-{loaded.label}", 1, nth, 7, loaded)
        for nth, loaded in ((nth, cell.but(load_ops_s=load)) for nth, load in loads)
    )
    return replace(whole, profile=profile, trials=trials, baseline=trials[0].cell)


def measured(
    plan: design.Plan, beds: list[testbeds.Testbed], name: str = "demo"
) -> list[trial.Trial]:
    campaign.run(plan, name, testbed=beds[0], beside=beds[1:])
    return trial.list_trials(campaign.Campaign(name).folder)


def measured_together(
    plan: design.Plan, beds: list[testbeds.Testbed]
) -> tuple[str, list[trial.Trial]]:
    """Measure until no busy machine spoils one of two, which is then measured again alone."""
    for nth in range(TRIES):
        found = measured(plan, beds, f"demo-{nth}")
        if all(one.record.beside and len(one.record.beside.trials) == 2 for one in found):
            return f"demo-{nth}", found
    raise AssertionError(f"the machine was busy in each of {TRIES} campaigns")


@pytest.mark.skipif(
    paths.program("fsgreen-wml") is None, reason="the engine is not installed: ./run engine"
)
@pytest.mark.usefixtures("patient")
def test_trials_that_take_turns_are_each_whole_and_never_work_at_once(
    data: Path, beds: list[testbeds.Testbed], plan: design.Plan
) -> None:
    name, found = measured_together(plan, beds)
    assert [one.name for one in found] == [planned.trial for planned in plan.trials]
    for one in found:
        one.verify()
        record = one.record
        assert record.beside is not None
        assert len(record.measured) == len(record.flushes) == len(record.beside.order) == 2
        assert record.work.work_ops > 0
        assert record.work.duration_s == pytest.approx(record.measured_s)
        assert one.table("ops")["work_ops"].sum() == record.work.work_ops
        for energy in record.energy.values():
            assert energy.duration_s == pytest.approx(record.measured_s)
    spans = sorted(phase.span_s for one in found for phase in one.record.measured)
    assert all(before[1] <= later[0] for before, later in pairwise(spans))
    orders = [one.record.beside.order for one in found if one.record.beside]
    assert all({*places} == {1, 2} for places in zip(*orders, strict=True))
    reduce.write(name)
    rows = reduce.read_table(name, "trials")
    assert rows["windows_count"].tolist() == [2, 2]
    assert (rows["throughput_ops_s"] > 0).all()
    assert (rows["workload_cpu_s"] > 0).all()


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("when", ["in a window", "between two trials that are kept"])
def test_ctrl_c_loses_and_doubles_no_trial(
    data: Path,
    turning: Callable[[Behaviour], None],
    beds: list[testbeds.Testbed],
    plan: design.Plan,
    monkeypatch: pytest.MonkeyPatch,
    when: str,
) -> None:
    folder = campaign.Campaign("demo").folder
    with monkeypatch.context() as patch:
        if when == "in a window":
            turning(lambda load_ops_s, nth: os.kill(os.getpid(), signal.SIGINT))
        else:
            conclude = windows.conclude

            def one_only(*given: Any) -> str | None:
                if trial.list_trials(folder):
                    os.kill(os.getpid(), signal.SIGINT)
                return conclude(*given)

            patch.setattr(windows, "conclude", one_only)
        with pytest.raises(KeyboardInterrupt):
            measured(plan, beds)
    kept = {one.name: (one.folder / "trial.json").stat() for one in trial.list_trials(folder)}
    assert len(kept) == (0 if when == "in a window" else 1)
    assert not list((folder / "trials").glob(".*"))
    turning(lambda load_ops_s, nth: None)
    found = measured(plan, beds)
    assert [one.name for one in found] == [planned.trial for planned in plan.trials]
    for name, stat in kept.items():
        again = next(one for one in found if one.name == name)
        assert (again.folder / "trial.json").stat().st_mtime_ns == stat.st_mtime_ns


@pytest.mark.usefixtures("patient")
def test_one_that_fails_is_kept_with_its_reason_and_the_other_counts(
    data: Path,
    turning: Callable[[Behaviour], None],
    beds: list[testbeds.Testbed],
    plan: design.Plan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drive, "ATTEMPTS", 1)

    def fail(load_ops_s: float | None, nth: int) -> None:
        if load_ops_s is not None and nth == 2:
            raise WorkloadFailed("it fell over", next_step="lift it")

    turning(fail)
    folder = campaign.Campaign("demo").folder
    for _ in range(TRIES):  # a busy machine may spoil the other one too
        with pytest.raises(FsgreenError, match="of 2 trials broke a rule"):
            measured(plan, beds)
        if trial.list_trials(folder):
            break
    [good] = trial.list_trials(folder)
    assert good.name == plan.trials[0].trial
    assert len(good.record.measured) == 2
    failing = plan.trials[1].trial
    reasons = [one.record.reason for one in trial.list_invalid(folder) if one.name == failing]
    assert {*reasons} == {"it fell over; lift it"}


@pytest.mark.usefixtures("patient")
def test_one_that_the_kernel_ends_at_its_memory_is_a_trial_that_failed(
    data: Path,
    turning: Callable[[Behaviour], None],
    beds: list[testbeds.Testbed],
    plan: design.Plan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The campaign ended there, and again at each start."""
    monkeypatch.setattr(drive, "ATTEMPTS", 1)
    ended: list[int] = []

    @contextmanager
    def bounded(*_: object) -> Iterator[None]:
        yield
        if ended:
            ended.clear()
            raise TrialFailed("the workload alone took more memory than its 24 MiB")

    def end(load_ops_s: float | None, nth: int) -> None:
        if load_ops_s is not None and nth == 2:
            ended.append(1)
            raise FsgreenError("the engine was ended by SIGKILL", next_step="dmesg | tail")

    monkeypatch.setattr(windows.bounds, "bounded", bounded)
    turning(end)
    with pytest.raises(FsgreenError, match="of 2 trials broke a rule"):
        measured(plan, beds)
    failing = plan.trials[1].trial
    folder = campaign.Campaign("demo").folder
    reasons = [one.record.reason for one in trial.list_invalid(folder) if one.name == failing]
    assert any("took more memory than its 24 MiB" in str(reason) for reason in reasons)


def test_what_cannot_take_turns_is_refused_before_anything_is_measured(
    data: Path,
    behave: Callable[..., None],
    beds: list[testbeds.Testbed],
    plan: design.Plan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(FsgreenError, match="webserver cannot take turns") as caught:
        measured(plan, beds)
    assert "docs/workloads.md" in str(caught.value.next_step)
    asked = fitting.asked_of_workload(plan.trials[0].cell)
    turns: fitting.Workloads = {asked: TurningWorkload("webserver", lambda load, nth: None)}
    with pytest.raises(FsgreenError, match="2 trials are to be ready at once, and there is one"):
        fitting.check_turns(plan, turns, beds[:1])
    simulated: Any = SimpleNamespace(kind="simdisk")
    with pytest.raises(FsgreenError, match="testbed simdisk"):
        fitting.check_turns(plan, turns, [simulated, simulated])
    readers = {asked.but(readers=2): turns[asked]}
    with pytest.raises(FsgreenError, match="readers of webserver end"):
        fitting.check_turns(plan, readers, beds)
    monkeypatch.setattr(TurningWorkload, "size_b", 2**60)
    with pytest.raises(FsgreenError, match="drive the others out of the page cache"):
        fitting.check_turns(plan, turns, beds)
    assert not trial.list_trials(campaign.Campaign("demo").folder)


class Forgetful:
    """A testbed that keeps copies of its files, one of which lacks something at the end."""

    def __init__(self, bed: testbeds.Testbed) -> None:
        self._bed = bed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bed, name)

    def remount(self) -> testbeds.Mount:
        return replace(self._bed.remount(), stacked={"branches": ["flash", "remote"]})

    def lacking(self) -> str:
        return "the remote lacks file"


def test_a_trial_whose_copies_lack_something_does_not_count_in_turns_either(
    data: Path,
    beds: list[testbeds.Testbed],
    plan: design.Plan,
    turning: Callable[[Behaviour], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drive, "ATTEMPTS", 1)
    for nth in range(TRIES):  # a busy machine may spoil a trial before its copies are asked for
        with pytest.raises(FsgreenError) as told:
            measured(plan, [Forgetful(bed) for bed in beds], f"demo-{nth}")
        if "rule 20: the remote lacks file" in told.value.what:
            return
    raise AssertionError(told.value.what)
