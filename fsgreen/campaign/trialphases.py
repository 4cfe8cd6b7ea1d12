"""The phases of a trial in their order, and what happens in each."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from fsgreen import audit, commands, elsewhere
from fsgreen.campaign import checks, events, passed, simulated
from fsgreen.campaign.context import Prepared, RunningTrial
from fsgreen.campaign.guesttime import GuestTime
from fsgreen.campaign.idlepower import idle_band_w
from fsgreen.campaign.settling import settle
from fsgreen.design import derive_seed
from fsgreen.devices.names import CPU_MAX_KHZ, CPUS, TRAFFIC
from fsgreen.errors import FsgreenError, TrialFailed
from fsgreen.trial import Check, Flush, HarnessCost, Phase
from fsgreen.workloads import WorkloadFailed, bounds, pinning

DIRTY = ("Dirty", "Writeback")
MEMINFO = Path("/proc/meminfo")


@dataclass(frozen=True)
class Step:
    """One phase, or two phases if the same function finds the border between them."""

    phases: tuple[str, ...]
    take: Callable[[RunningTrial], None]


def run(trial: RunningTrial) -> None:
    """Run the phases of a trial as long as it is sound. The results are in `trial`."""
    context = trial.context
    profile, workload = context.plan.profile, context.workload(trial.planned)
    offering = [trial.testbed.device, trial.testbed.stack, workload]
    known = events.offered(offering) if profile.events else {}
    before: passed.Counters = {}
    for step in STEPS:
        if not trial.sound:
            break
        now_s = time.monotonic()
        begins_s = dict.fromkeys(step.phases, now_s)
        if "settle" in step.phases:
            del begins_s["idle"]  # events of `idle` belong to the idle phase after the work
        if "warmup" in step.phases:
            begins_s["measure"] = now_s + profile.warmup_s
            before = passed.counted(trial.testbed)
        with events.during(profile.events, begins_s, known) as happened:
            step.take(trial)
        trial.events += happened
    if trial.events:
        trial.checks.append(checks.check_events(trial.events, trial.phases))
    if trial.sound:
        look_at_devices(trial, before)


def look_at_devices(trial: RunningTrial, before: passed.Counters) -> None:
    """Record the traffic of each device since `before`, and check that every copy is whole.

    A trial whose device has lost a state, as an NVMe drive does in a reset, fails.
    """
    trial.devices = passed.since(before, passed.counted(trial.testbed))
    try:
        trial.testbed.require_states()
    except TrialFailed as error:
        trial.failure = error.reason
        return
    if "branches" in (made(trial).mount.stacked or {}):
        trial.checks.append(checks.check_copies(trial.testbed.lacking()))


def make_ready(trial: RunningTrial) -> None:
    """Bring the device into its state, make the file system and the files, and verify them."""
    try:
        with trial.phase("prepare"):
            trial.prepared, verified = _prepare(trial)
    except TrialFailed as error:
        trial.failure = error.reason
        return
    trial.checks += verified


def _prepare(trial: RunningTrial) -> tuple[Prepared, list[Check]]:
    """Make the file system and the files of a trial; return them with the checks of their state.

    Each block has its own seed for aging, so that results do not depend on one aged file system.
    All workloads of a block share that seed. Raises FsgreenError if something cannot be made.
    """
    testbed, plan, planned = trial.testbed, trial.context.plan, trial.planned
    levels = plan.levels(planned.cell)
    is_simulated = testbed.simulator() is not None
    with trial.capture.excusing() if is_simulated else nullcontext():
        made = testbed.prepare(levels, seed=derive_seed(plan.seed, "age", planned.block))
    try:
        with testbed.entered(), pinned(trial):
            trial.context.workload(planned).prepare(made.directory, planned.seed)
    except FsgreenError as error:
        raise WorkloadFailed(error.what, where=error.where, next_step=error.next_step) from error
    mount = testbed.remount()
    if (most_khz := testbed.cpu_max_khz()) is not None:
        trial.processors[CPU_MAX_KHZ] = most_khz
    warm = levels["cache"] == "warm"
    resident_share = testbed.warm() if warm else testbed.resident_share()
    testbed.rest()
    return Prepared(mount, resident_share), [
        checks.check_cache(levels["cache"], resident_share, testbed.describe()["cold_cache"]),
        checks.check_device(levels["device"], made),
        checks.check_scheduler(levels["scheduler"], mount.scheduler),
    ]


def _settle(trial: RunningTrial) -> None:
    """Wait until power is back in the idle band for a whole idle phase (rule 11)."""
    phases, check = settled(trial)
    trial.phases += phases
    trial.checks.append(check)


def settled(trial: RunningTrial) -> tuple[list[Phase], Check]:
    """Return what `settling.settle` returns with the band and the limits of a trial."""
    context, profile = trial.context, trial.context.plan.profile
    return settle(
        trial.capture,
        context.efficiency_meters,
        idle_band_w(context.identity, context.plan, trial.planned.cell),
        profile.idle_s,
        profile.settle_limit_s,
    )


def _work(trial: RunningTrial) -> None:
    """Run the warm-up and the measured phase. A meter that fails stops the workload at once."""
    context, planned = trial.context, trial.planned
    profile, stop = context.plan.profile, threading.Event()
    trial.capture.on_fault(stop.set)
    start_s, before_s = time.monotonic(), cpu_s()
    trial.guest = GuestTime(trial.testbed.processor_s)
    bounded = bounds.Bounded()
    with trial.guest.watched(), simulated.watched(trial.testbed, trial.simulated):
        try:
            with (
                trial.testbed.entered(),
                bounds.bounded(bounds_of(trial)) as bounded,
                pinned(trial),
            ):
                trial.outcome = context.workload(planned).run(
                    made(trial).mount.directory,
                    planned.seed,
                    profile.warmup_s,
                    profile.measure_s,
                    planned.cell.get("load_ops_s"),
                    stop,
                )
        except TrialFailed as error:
            trial.failure = error.reason
        except FsgreenError as error:
            # A workload that was stopped for a meter's fault may have no result.
            if trial.capture.fault is None:
                raise
            trial.failure = error.what
    # A file system may block its writers long after the measured phase, so the real time counts.
    trial.harness = HarnessCost.over(time.monotonic() - start_s, cpu_s() - before_s)
    trial.memory = bounded.memory
    if bounded.memory is not None:
        trial.checks.append(checks.check_memory(bounded.memory))
    if trial.outcome is not None:
        trial.phases += trial.outcome.phases


def bounds_of(trial: RunningTrial) -> bounds.Bounds:
    """Return the limits of memory and of traffic that a trial's cell sets for its workload."""
    plan, cell = trial.context.plan, trial.planned.cell
    mib_s, traffic = plan.levels(cell).get(TRAFFIC), None
    if mib_s is not None and (device := made(trial).mount.device) is not None:
        traffic = bounds.Traffic(Path(device), int(mib_s * 2**20))
    return bounds.Bounds(plan.memory_limit_b(cell), traffic)


@contextmanager
def pinned(trial: RunningTrial) -> Iterator[None]:
    """Have the workload of a trial use only the processors of its cell, and record these."""
    level = trial.context.plan.levels(trial.planned.cell).get(CPUS)
    with pinning.pinned(level) as processors:
        if processors is not None:
            trial.processors[CPUS] = processors
        yield


def _flush(trial: RunningTrial) -> None:
    """Write dirty pages back in a phase of its own, and record how many there were (rule 12)."""
    try:
        with trial.testbed.entered():
            dirty_before_b = dirty_b()
            write_back(trial)
            if trial.failure is None:
                trial.flush = Flush(dirty_before_b, dirty_b())
    except TrialFailed as error:
        trial.failure = error.reason


def write_back(trial: RunningTrial) -> None:
    """Write dirty pages back. If that fails, for example on a full disk, the trial fails.

    A file system that a program serves is also synced by an fsync of its directory, so that its
    branches that are awake hold all data. A sync of the served file system does not reach the file
    system below it, which is synced as well.
    """
    mount = made(trial).mount
    try:
        with trial.phase("flush"):
            commands.run(["sync", "--file-system", str(mount.directory)])
            if mount.below is not None:
                commands.run(["sync", str(mount.directory)])
                commands.run(["sync", "--file-system", str(mount.below)])
    except FsgreenError as error:
        trial.failure = f"what was written did not reach the disk: {error.what}"


def _idle(trial: RunningTrial) -> None:
    """Do nothing, to measure idle power after the work (rule 18)."""
    with trial.phase("idle"):
        time.sleep(trial.context.plan.profile.idle_s)


STEPS = (
    Step(("prepare",), make_ready),
    Step(("settle", "idle"), _settle),
    Step(("warmup", "measure"), _work),
    Step(("flush",), _flush),
    Step(("idle",), _idle),
)


PHASES = tuple(name for step in STEPS for name in step.phases)
"""The phases of a whole trial in their order. The second `idle` follows the work."""


def made(trial: RunningTrial) -> Prepared:
    """Return the prepared file system of a trial, which must be ready."""
    assert trial.prepared is not None
    return trial.prepared


def dirty_b() -> int:
    """Return the bytes of all file systems that are dirty or in write-back (proc(5))."""
    text = elsewhere.text_of(MEMINFO)
    return sum(audit.meminfo_of_text_b(text, key) or 0 for key in DIRTY)


def cpu_s() -> float:
    """Return the processor time of the harness so far, in seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
