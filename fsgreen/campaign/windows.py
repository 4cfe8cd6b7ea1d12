"""Trials that take turns in short windows: kept ready side by side, each whole or absent (rule 47).

One capture of the meters covers the whole group, and each trial keeps all of its bytes. Only one
trial works in a window: the others stand still, and its dirty pages are written back before the
next trial has its turn.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import pandas as pd

from fsgreen import audit, design
from fsgreen.campaign import checks, passed, trialphases
from fsgreen.campaign.conclusion import Watched, conclude, revive
from fsgreen.campaign.context import RunningTrial, TrialContext
from fsgreen.campaign.onetrial import sampler
from fsgreen.design import Group
from fsgreen.errors import FsgreenError, TrialFailed
from fsgreen.meters import Capture, HostSampler
from fsgreen.meters.core.host import COLUMNS
from fsgreen.meters.core.rawtrace import write_parsed
from fsgreen.trial import Beside, Clock, Flush, HarnessCost, Phase, TrialWriter, full_disk_explained
from fsgreen.workloads import TakesTurns, Turn, Turns, bounds


def run_group(context: TrialContext, group: Group) -> dict[str, str | None]:
    """Run trials in turns and keep their records; return why each does not count, or None.

    Raises FsgreenError if the trials cannot be run at all. Nothing is left mounted or half-written.
    """
    folder = context.campaign.folder
    shared = TrialWriter(folder, f"{group[0].trial}.windows")
    writers = {planned.trial: TrialWriter(folder, planned.trial) for planned in group}
    try:
        return _run(context, group, shared.folder, writers)
    finally:
        for writer in (shared, *writers.values()):
            writer.discard()
        for testbed in context.testbeds:
            testbed.restore()


def _run(
    context: TrialContext, group: Group, shared: Path, writers: dict[str, TrialWriter]
) -> dict[str, str | None]:
    before = audit.audit()
    texts = {planned.trial: context.workload(planned).text_sha256() for planned in group}
    clock = Clock(time.monotonic(), time.time())
    testbeds = context.testbeds[: len(group)]
    machine = Machine([sampler(testbed) for testbed in testbeds])
    raw, power = shared / "power.raw", shared / "power.parquet"
    with Capture(context.meters, raw, machine) as capture:
        trials = [
            RunningTrial(context, planned, capture, testbed)
            for planned, testbed in zip(group, testbeds, strict=True)
        ]
        _run_phases(trials, machine)
        fault = capture.fault
        capture.stop()
    after = audit.audit()
    with full_disk_explained(shared):
        write_parsed(raw, power)
    reasons = {}
    for nth, running in enumerate(trials):
        name = running.planned.trial
        own_raw = writers[name].folder / raw.name
        _share(raw, own_raw)
        watched = Watched(
            clock,
            own_raw,
            partial(_share, power),
            machine.table(nth),
            (before, after),
            texts[name],
            fault,
        )
        reasons[name] = conclude(running, watched, writers[name])
    revive(context, fault)
    return reasons


def _share(file: Path, place: Path) -> None:
    """Make a file available at another path: as a hard link if possible, else as a copy."""
    try:
        os.link(file, place)
    except OSError:
        shutil.copyfile(file, place)


def _run_phases(trials: Sequence[RunningTrial], machine: Machine) -> None:
    """Run the phases of a group. Trials that are no longer sound are left out."""
    for trial in trials:
        trialphases.make_ready(trial)
    if sound := [trial for trial in trials if trial.sound]:
        phases, check = trialphases.settled(sound[0])
        for trial in sound:
            trial.phases += phases
            trial.checks.append(check)
    sound = [trial for trial in trials if trial.sound]
    before = [passed.counted(trial.testbed) for trial in sound]
    _take_turns(sound, machine)
    if sound:
        start_s = time.monotonic()
        time.sleep(sound[0].context.plan.profile.idle_s)
        idle = Phase("idle", start_s, time.monotonic())
        for trial in sound:
            trial.phases.append(idle)
        for trial, counters in zip(sound, before, strict=True):
            if trial.sound:
                trialphases.look_at_devices(trial, counters)


def _take_turns(trials: Sequence[RunningTrial], machine: Machine) -> None:
    """Warm each trial up, then give each a window in every round, in the random order of rounds."""
    with ExitStack() as stack:
        takers = {trial.planned.trial: _Taker(trial, machine, stack) for trial in trials}
        if not takers:
            return
        context = trials[0].context
        for taker in takers.values():
            taker.warm_up()
        for one_round in design.rounds(context.plan, tuple(trial.planned for trial in trials)):
            for place, planned in enumerate(one_round, start=1):
                takers[planned.trial].window(place)
        for taker in takers.values():
            taker.end(tuple(takers))
    for taker in takers.values():
        taker.note_memory()


class _Taker:
    """One of the trials that take turns. A trial that is no longer sound does nothing more.

    The files of its trial are made. The machine is sampled at both ends of each window. `stack`
    ends the run and its memory limit, unless a failure has ended them before.
    """

    def __init__(self, trial: RunningTrial, machine: Machine, stack: ExitStack) -> None:
        self._trial, self._machine = trial, machine
        self._stack = stack.enter_context(ExitStack())
        self._windows: list[Turn] = []
        self._places: list[int] = []
        self._flushed_b = self._left_b = 0
        self._ran_s = self._cpu_s = 0.0
        self._run: Turns | None = None
        self._bound: bounds.Bounded | None = None

    def warm_up(self) -> None:
        """Begin the run, and give it a turn that does not count."""
        trial, profile = self._trial, self._trial.context.plan.profile
        workload = trial.context.workload(trial.planned)
        assert isinstance(workload, TakesTurns)
        self._bound = self._stack.enter_context(bounds.bounded(trialphases.bounds_of(trial)))
        turns = workload.turns(
            trialphases.made(trial).mount.directory,
            trial.planned.seed,
            profile.warmup_s,
            trial.planned.cell.get("load_ops_s"),
        )
        with trialphases.pinned(trial):
            self._run = self._stack.enter_context(turns)
        if profile.warmup_s > 0 and (turn := self._turn(profile.warmup_s)) is not None:
            trial.phases.append(Phase("warmup", turn.start_s, turn.end_s))
            self._flushed()

    def window(self, place: int) -> None:
        """Run one window, the `place`-th of its round, and write back its dirty pages."""
        windows = self._trial.context.plan.profile.windows
        assert windows is not None
        self._machine.sample()
        start_s, before_s = time.monotonic(), trialphases.cpu_s()
        turn = self._turn(windows.length_s)
        if turn is None:
            return
        self._ran_s += time.monotonic() - start_s
        self._cpu_s += trialphases.cpu_s() - before_s
        self._machine.sample()
        self._windows.append(turn)
        self._places.append(place)
        self._trial.phases.append(Phase("measure", turn.start_s, turn.end_s))
        dirty_before_b = trialphases.dirty_b()
        if not self._flushed():
            return
        self._left_b = trialphases.dirty_b()
        self._flushed_b += max(0, dirty_before_b - self._left_b)

    def end(self, names: tuple[str, ...]) -> None:
        """End the run, and record the work of its windows."""
        trial = self._trial
        trial.beside = Beside(names, tuple(self._places))
        if self._run is None or not trial.sound:
            return
        try:
            trial.outcome = self._run.outcome(self._windows)
        except TrialFailed as error:
            trial.failure = error.reason
            return
        trial.flush = Flush(self._flushed_b + self._left_b, self._left_b)
        trial.harness = HarnessCost.over(self._ran_s, self._cpu_s)

    def note_memory(self) -> None:
        """Record the use of a limited memory, once the limit has ended."""
        if self._bound is not None and self._bound.memory is not None:
            self._trial.memory = self._bound.memory
            self._trial.checks.append(checks.check_memory(self._bound.memory))

    def _turn(self, length_s: float) -> Turn | None:
        """Give the run a turn; return None if it or a meter has failed."""
        if self._run is None or not self._trial.sound:
            return None
        try:
            try:
                with trialphases.pinned(self._trial):
                    return self._run.turn(length_s)
            except FsgreenError:
                self._stack.close()  # it must not continue in the windows of others
                raise
        except TrialFailed as error:  # as where the kernel ended it, when its memory was used up
            self._trial.failure = error.reason
            return None

    def _flushed(self) -> bool:
        """Write back the dirty pages of a turn; return whether that succeeded."""
        trialphases.write_back(self._trial)
        if self._trial.failure is not None:
            with suppress(TrialFailed):
                self._stack.close()
        return self._trial.failure is None


class Machine:
    """The counters of the machine, and of the device of each of several testbeds."""

    def __init__(self, samplers: Sequence[HostSampler]) -> None:
        self._samplers = samplers
        self._rows: list[list[dict[str, float]]] = [[] for _ in samplers]
        self._lock = threading.Lock()

    def sample(self) -> dict[str, float]:
        """Read and keep all counters, from any thread; return those with the first device."""
        with self._lock:
            for rows, sampler in zip(self._rows, self._samplers, strict=True):
                rows.append(sampler.sample())
            return self._rows[0][-1]

    def table(self, nth: int) -> pd.DataFrame:
        """Return the table of `host.parquet` with the nth device."""
        return pd.DataFrame(self._rows[nth], columns=list(COLUMNS))
