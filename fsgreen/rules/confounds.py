"""Rules 39 to 42: what else could have made the difference?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fsgreen.confounds import confounds_table
from fsgreen.rules.answer import Answer, Judge, fired, listed, not_asked, plural, quiet, unknown
from fsgreen.rules.evidence import Evidence

FAIR_X = 2.0
"""Work or time of one reader over that of another, beyond which the total hides something."""


def zones(evidence: Evidence) -> Answer:
    """Rule 39: the curve of speed by place, and that every cell lay in one declared zone."""
    rotational = evidence.identity["testbed"].get("rotational")
    if rotational is False:
        return not_asked("the device does not rotate")
    zone = evidence.plan.constants.get("zone")
    curve = evidence.probes["offset"]
    if curve.empty:
        return unknown("speed by place was not measured on this testbed")
    table = confounds_table(dict(evidence.probes), evidence.trials).set_index("confound")
    place = table.loc["place on the device"]
    text = (
        f"speed differs by {place['size_percent']:.0f} % over {curve['offset_b'].nunique()} places "
        f"(p = {place['difference_p']:.2g})"
    )
    if zone is None:
        return fired(f"{text}, and the plan declares no zone")
    return quiet(f"{text}; zone of every cell: {zone}")


def queue_and_scheduler(evidence: Evidence) -> Answer:
    """Rule 40: scheduler and depth as recorded, and a control where many read at once."""
    mounts = {record["trial"]: record.get("mount") or {} for record in evidence.records}
    bare = [trial for trial, mount in mounts.items() if mount.get("queue_depth") is None]
    if len(bare) == len(mounts):
        return not_asked("this testbed has no device of its own whose queue could be seen")
    if bare:
        return fired(f"the queue is not recorded in {plural(len(bare), 'trial')}: {listed(bare)}")
    other = [
        record["trial"]
        for record in evidence.records
        if evidence.level(record, "scheduler")
        not in ("as found", mounts[record["trial"]]["scheduler"] or "none")
    ]
    if other:
        return fired(
            f"another scheduler than declared in {plural(len(other), 'trial')}: {listed(other)}"
        )
    failed = evidence.failed(40)
    if failed:
        return fired(
            f"a check failed in {plural(len(failed), 'trial')} that count: {listed(failed)}"
        )
    depths = sorted({mount["queue_depth"] for mount in mounts.values()})
    schedulers = sorted({mount["scheduler"] or "none" for mount in mounts.values()})
    text = (
        f"scheduler {', '.join(schedulers)} and queue depth {listed(map(str, depths))} "
        "in all records"
    )
    readers = evidence.most_readers
    if readers > 1 and depths[0] > 1 and len(schedulers) < 2:
        return fired(
            f"{text}, but no control with the queue off or another scheduler, although up to "
            f"{readers} threads work at once{_probed(evidence)}"
        )
    return quiet(text)


def fair_to_each_reader(evidence: Evidence) -> Answer:
    """Rule 41: how evenly the threads of one kind are served in a trial.

    Readers of a file each are unequal in the time that they take, as those of Ellard and Seltzer;
    threads that are stopped at the same moment are unequal in what they have done.
    """
    if evidence.most_readers < 2:
        return not_asked("one reader at a time")
    spreads_x = {
        record["trial"]: max(_spreads_x(record["workload"]["threads"]), default=1.0)
        for record in evidence.records
        if "threads" in record["workload"]
    }
    if len(spreads_x) < len(evidence.records):
        return unknown(
            f"work of up to {evidence.most_readers} threads is recorded as one sum, not thread by "
            f"thread, in {plural(len(evidence.records) - len(spreads_x), 'trial')}"
        )
    unfair = [trial for trial, spread_x in spreads_x.items() if spread_x > FAIR_X]
    most_x = max(spreads_x.values())
    text = f"the work or the time of threads of one kind differs up to {most_x:.3g} times"
    if unfair:
        return fired(
            f"{text}; above {FAIR_X:g} in {plural(len(unfair), 'trial')}: {listed(unfair)}"
        )
    return quiet(f"{text}, in {len(spreads_x)} trials of up to {evidence.most_readers} threads")


def _spreads_x(threads: Sequence[Mapping[str, Any]]) -> Iterator[float]:
    """Yield, of each kind of thread, the most work of one over the least, and the same of times.

    Older records do not say when a thread ended.
    """
    for kind in threads:
        work_ops = kind["work_ops"]
        if len(work_ops) > 1 and any(work_ops):
            yield max(work_ops) / min(work_ops) if min(work_ops) else math.inf
        ended_s = [at_s for at_s in kind.get("ended_s", ()) if at_s is not None]
        if len(ended_s) > 1:
            yield max(ended_s) / min(ended_s)


def upper_bounds(evidence: Evidence) -> Answer:
    """Rule 42: trials that moved more bytes than the bare device can."""
    curve, trials = evidence.probes["offset"], evidence.trials
    if curve.empty:
        return unknown("the bare device was not measured")
    device_b_s = curve.groupby("offset_b")["bandwidth_b_s"].median().max()
    above = trials[trials["bandwidth_b_s"] > device_b_s]
    text = (
        f"at most {trials['bandwidth_b_s'].max() / 2**20:.0f} MiB/s, "
        f"the device {device_b_s / 2**20:.0f} MiB/s"
    )
    if len(above):
        of = ", ".join(sorted(above["workload"].unique()))
        return fired(f"{text}: {len(above)} of {len(trials)} trials are above it ({of})")
    return quiet(f"{text}; bus, network and memory were not measured")


def _probed(evidence: Evidence) -> str:
    """Return what the queue does for the bare device, as far as it was measured."""
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
