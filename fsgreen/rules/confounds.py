"""Rules 39 to 42: what else could have caused the difference?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from fsgreen.confounds import measured_sizes, upper_bounds_b_s
from fsgreen.confounds.known import FLIGHT, PLACE, SCHEDULER
from fsgreen.design.factors import AS_FOUND
from fsgreen.rules import served
from fsgreen.rules.answer import (
    Answer,
    Judge,
    failed_check,
    fired,
    named_trials,
    not_asked,
    quiet,
    unknown,
)
from fsgreen.rules.evidence import Evidence, readers_of
from fsgreen.rules.far import far_trials
from fsgreen.trial import ThreadWork
from fsgreen.words import listed, plural

FAIR_X = 2.0
"""Ratio of the work, or of the time, of two readers above which their sum hides a difference."""


def zones(evidence: Evidence) -> Answer:
    """Rule 39: speed by place was measured, and every cell lay in one declared zone."""
    rotational = evidence.identity["testbed"].get("rotational")
    if rotational is False:
        return not_asked("the device does not rotate")
    zone = evidence.plan.constants.get("zone")
    curve = evidence.probes["offset"]
    if curve.empty:
        return unknown("speed by place was not measured on this testbed")
    place = measured_sizes(evidence.probes)[PLACE.name]
    text = (
        f"speed differs by {place.percent:.0f} % over {curve['offset_b'].nunique()} places "
        f"(p = {place.difference_p:.2g})"
    )
    if endangered := _endangered(evidence, PLACE.name):
        return fired(f"{text}, and {endangered}")
    if zone is None:
        return fired(f"{text}, and the plan declares no zone")
    return quiet(f"{text}; zone of every cell: {zone}")


def queue_and_scheduler(evidence: Evidence) -> Answer:
    """Rule 40: scheduler and queue depth are recorded, and many readers have a control."""
    mounts = {record.trial: record.mount for record in evidence.records}
    bare = [trial for trial, mount in mounts.items() if mount.get("queue_depth") is None]
    if len(bare) == len(mounts):
        return not_asked("this testbed has no device of its own whose queue could be seen")
    if bare:
        return fired(f"the queue is not recorded in {named_trials(bare)}")
    other = [
        record.trial
        for record in evidence.records
        if evidence.plan.levels(record.cell)["scheduler"]
        not in (AS_FOUND, mounts[record.trial]["scheduler"] or "none")
    ]
    if other:
        return fired(f"another scheduler than declared in {named_trials(other)}")
    if failed := evidence.failed(40):
        return failed_check(failed)
    depths = sorted({mount["queue_depth"] for mount in mounts.values()})
    schedulers = sorted({mount["scheduler"] or "none" for mount in mounts.values()})
    text = (
        f"scheduler {', '.join(schedulers)} and queue depth {listed(map(str, depths))} "
        "in all records"
    )
    if endangered := _endangered(evidence, FLIGHT.name, SCHEDULER.name):
        return fired(f"{text}; {endangered}")
    if deep := _never_off(evidence):
        varied = "only the scheduler was varied: " if len(schedulers) > 1 else ""
        return fired(
            f"{text}, but {varied}no control with the queue off{_on(deep)}, although up to "
            f"{evidence.most_readers} threads work at once{_probed(evidence)}"
        )
    return quiet(text)


def fair_to_each_reader(evidence: Evidence) -> Answer:
    """Rule 41: the threads of one kind are served evenly in a trial.

    Readers of one file each may differ in the time that they take, as in Ellard and Seltzer 2003.
    Threads that stop at the same moment may differ in the work that they have done. Trials whose
    threads differ by far more or less than those of other trials of the cell are named.
    """
    if evidence.most_readers < 2:
        return not_asked("one reader at a time")
    spreads_x = {
        record.trial: max(_spreads_x(record.work.threads), default=1.0)
        for record in evidence.records
        if record.work.threads
    }
    if len(spreads_x) < len(evidence.records):
        return unknown(
            f"work of up to {evidence.most_readers} threads is recorded as one sum, not thread by "
            f"thread, in {plural(len(evidence.records) - len(spreads_x), 'trial')}"
        )
    unfair = [trial for trial, spread_x in spreads_x.items() if spread_x > FAIR_X]
    most_x = max(spreads_x.values())
    far = far_trials(evidence.trials, evidence.trials["trial"].map(spreads_x))
    odd = f"; far from the median of their cell: {listed(far)}" if far else ""
    text = f"the work or the time of threads of one kind differs up to {most_x:.3g} times"
    if unfair:
        return fired(f"{text}; above {FAIR_X:g} in {named_trials(unfair)}{odd}")
    count = f"{len(spreads_x)} trials of up to {evidence.most_readers} threads"
    return quiet(f"{text}, in {count}{odd}")


def _spreads_x(threads: Sequence[ThreadWork]) -> Iterator[float]:
    """Yield, for each kind of thread, the ratio of most to least work, and the same of times.

    Older records do not say when a thread ended.
    """
    for kind in threads:
        work_ops = kind.work_ops
        if len(work_ops) > 1 and any(work_ops):
            yield max(work_ops) / min(work_ops) if min(work_ops) else math.inf
        ended_s = [at_s for at_s in kind.ended_s if at_s is not None]
        if len(ended_s) > 1:
            yield max(ended_s) / min(ended_s)


def upper_bounds(evidence: Evidence) -> Answer:
    """Rule 42: no trial moved more bytes per second than the bare device, or than memory, can."""
    cores_count = evidence.identity["audit"]["cores_count"]
    bounds = upper_bounds_b_s(evidence.probes, cores_count)
    if "device" not in bounds:
        return unknown("the bare device was not measured")
    trials = evidence.trials
    text = (
        f"at most {trials['bandwidth_b_s'].max() / 2**20:.0f} MiB/s, "
        f"the device with its bus {bounds['device'] / 2**20:.0f} MiB/s, "
    )
    if "memory" in bounds:
        text += f"memory read by {cores_count} cores {bounds['memory'] / 2**20:.0f} MiB/s"
    else:
        text += "memory was not measured"
    for name in reversed(bounds):
        above = trials[trials["bandwidth_b_s"] > bounds[name]]
        if len(above):
            of = ", ".join(sorted(above["workload"].unique()))
            shares = served.by_workload(trials)
            return fired(
                f"{text}: {len(above)} of {len(trials)} trials are above the {name} ({of})"
                + (f"; of bytes read the device served: {shares}" if shares else "")
            )
    percent = served.served_percent(trials)
    answered = trials[percent < served.MEMORY_PERCENT]
    if len(answered):
        of = ", ".join(sorted(answered["workload"].unique()))
        return fired(
            f"{text}: none is above these, but the device served under {served.MEMORY_PERCENT:g} % "
            f"of the bytes read in {len(answered)} of {len(trials)} trials ({of})"
        )
    if (blank := int(served.uncounted(trials).sum())) > 0:
        return unknown(f"{text}; what the device served is not counted in {plural(blank, 'trial')}")
    return quiet(f"{text}; no network is used")


def _endangered(evidence: Evidence, *names: str) -> str:
    """Return in words which comparisons the gate flagged for these confounds; "" if none.

    Tables that are older than the gate lack its column.
    """
    effects = evidence.effects
    if "gate" not in effects:
        return ""
    flagged = effects[(effects["gate"] == "flagged") & effects["confound"].isin(names)]
    if flagged.empty:
        return ""
    return (
        f"the difference may be the work of it in {plural(len(flagged), 'comparison')}: "
        f"{listed(flagged['gate_reason'].unique(), most=1)}"
    )


def _never_off(evidence: Evidence) -> list[str | None]:
    """Return the disks without a control: all trials of many readers had a queue deeper than 1.

    With a queue depth of 1, a disk serves requests in the order in which the scheduler sends them:
    this is the control. None stands for the only disk of a testbed.
    """
    depths: dict[str | None, set[int]] = {}
    for record in evidence.records:
        if readers_of(record) > 1:
            disk = evidence.level(record, "disk")
            depths.setdefault(disk, set()).add(record.mount["queue_depth"])
    return [disk for disk, of_disk in depths.items() if min(of_disk) > 1]


def _on(disks: Sequence[str | None]) -> str:
    named = sorted(disk for disk in disks if disk is not None)
    return f" on {listed(named)}" if named else ""


def _probed(evidence: Evidence) -> str:
    """Return in words what the queue gains on the bare device; "" if that was not measured."""
    curve = evidence.probes["queue"]
    if curve.empty:
        return ""
    rate = curve.groupby("queue_depth")["throughput_ops_s"].median()
    gain = f"{rate.iloc[-1] / rate.iloc[0]:.1f} times the throughput of {rate.index[0]}"
    return f"; on the bare device {rate.index[-1]} requests in flight have {gain}"


JUDGES: Mapping[int, Judge] = {
    39: zones,
    40: queue_and_scheduler,
    41: fair_to_each_reader,
    42: upper_bounds,
}
