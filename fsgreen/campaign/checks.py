"""The rules that a finished trial must meet before it counts: those that are enforced (mode E)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fsgreen import audit, trace
from fsgreen.design.factors import AS_FOUND
from fsgreen.testbeds import Mount
from fsgreen.trace import MeterEnergy
from fsgreen.trial import Check, Event, HarnessCost, MemoryUse, Phase, WorkSummary

if TYPE_CHECKING:
    import pandas as pd

COLD_SHARE, WARM_SHARE = 0.01, 0.95
"""Rule 7: share of the files' bytes in the page cache: the most if cold, the least if warm."""

DISCARDED_SHARE = 0.99
"""Rule 8: least share of the device that must be discarded. The rest may be written by others."""

ON_TIME_SHARE = 0.95
"""Rule 10: least share of a simulated disk's requests that must be on time. A request is on time if
it is answered at most 2 % of its service time after the planned end, or, if that is longer, within
the floor of the machine. Memulator (FAST 2002) reached 99 % within 2 %."""

TRAFFIC_MARGIN_X = 1.1
"""Rule 45: allowed traffic over the limit, as a journal also writes for other programs."""


def check_cache(level: str, resident_share: float, cold_cache: bool | str) -> Check:
    """Rule 7: the share of the files in the page cache fits the level of the cache.

    `cold_cache` is from the testbed's description: whether a cache can be cold there, or a text
    that says what of it can.
    """
    detail = f"{level}: {100 * resident_share:.1f} % of the files' bytes in memory"
    if level == "warm":
        return Check(7, resident_share >= WARM_SHARE, detail)
    what = f", {cold_cache}" if isinstance(cold_cache, str) else ""
    return Check(7, resident_share <= COLD_SHARE, detail + what)


def check_memory(use: MemoryUse) -> Check:
    """Rule 45: the programs of the workload ran within the memory limit of the level."""
    detail = (
        f"{use.peak_b / 2**20:.0f} of {use.limit_b / 2**20:.0f} MiB in use at most, "
        f"taken back {use.reached_count} times"
    )
    return Check(45, use.peak_b > 0, detail if use.peak_b else "no program entered the bound")


def check_traffic(host: pd.DataFrame, measured: Sequence[Phase], limit_b_s: float) -> Check:
    """Rule 45: the traffic to and from the disk stayed within the limit of the level.

    Write-back from the page cache is not limited if the kernel cannot tell which program caused it.

    `host` is the table `host.parquet`. The limit holds for each direction.
    """
    time_s = sum(phase.duration_s for phase in measured)
    passed_b_s = {
        way: _grown(host, f"disk_{way}_b", measured) / time_s for way in ("read", "write")
    }
    told = ", ".join(f"{way} {rate / 2**20:.1f}" for way, rate in passed_b_s.items())
    kept = all(rate <= TRAFFIC_MARGIN_X * limit_b_s for rate in passed_b_s.values())
    return Check(45, kept, f"of {limit_b_s / 2**20:g} MiB/s let through each way: {told} MiB/s")


def check_device(level: str, mount: Mount) -> Check:
    """Rule 8: the counters of the device show that it was brought into the state of the level.

    If the device below was left as it was, the detail says why. Whether trials can share such a
    state is judged over all trials, by `rules.device`. For an aged file system, the check is that
    its fragmentation was measured.
    """
    if level == "aged":
        return Check(8, bool(mount.fragmentation), f"aged: {_fragmentation(mount)}")
    fresh = not mount.fragmentation
    state = mount.state
    if state is None:
        return Check(8, fresh and level == "initial", f"{level}: a new folder, the disk as found")
    counted = (
        f"{state.written_b / 2**20:.0f} MiB written, {state.discarded_b / 2**20:.0f} MiB discarded "
        f"of {state.size_b / 2**20:.0f} MiB"
    )
    rewritten, whole_b = state.left is None or level == "steady", state.size_b
    made = (state.left is not None or state.discarded_b >= DISCARDED_SHARE * whole_b) and (
        not rewritten or state.written_b >= whole_b
    )
    detail = "; ".join(text for text in (counted if rewritten else None, state.left) if text)
    return Check(8, fresh and state.name == level and made, f"{state.name}: {detail}")


def _fragmentation(mount: Mount) -> str:
    measured = mount.fragmentation or {}
    if "shortfall_x" not in measured:
        listed = ", ".join(f"{name} {value:.3g}" for name, value in measured.items())
        return listed or "its fragmentation was not measured"
    return (
        f"layout score {measured['layout_score_x']:.3f}, {measured['shortfall_x']:.3f} above its "
        f"target of {measured['target_layout_score_x']:g}"
    )


def check_scheduler(level: str, actual: str | None) -> Check:
    """Rule 40: the I/O scheduler is that of the level; `actual` is None if there is no choice."""
    ok = level in (AS_FOUND, actual or "none")
    return Check(40, ok, f"scheduler {level}" if ok else f"scheduler {actual} instead of {level}")


def check_audits(first: Mapping[str, Any], ends: Sequence[Mapping[str, Any]]) -> Check:
    """Rule 9: the audits at both ends of the trial agree with the campaign's first audit."""
    changed = audit.differences([first, *ends])
    return Check(9, not changed, f"changed: {changed}" if changed else "unchanged")


def check_text(first_sha256: str | None, ends_sha256: Sequence[str]) -> Check:
    """Rule 9: at both ends of the trial, the workload has the text that the campaign began with.

    Older campaigns did not record that text. Then only the two ends are compared.
    """
    seen = dict.fromkeys(sha256[:12] for sha256 in (first_sha256, *ends_sha256) if sha256)
    texts = " -> ".join(seen)
    return Check(9, len(seen) == 1, f"text of the workload {'changed: ' * (len(seen) > 1)}{texts}")


def check_speed(
    first: Mapping[str, Any], ends: Sequence[Mapping[str, Any]], limit_percent: float
) -> Check:
    """Rule 9: at both ends of the trial, a core is as fast as at the campaign's first audit."""
    speeds = [record.get("speed_loops_s") for record in (first, *ends)]
    known = [speed for speed in speeds if speed]
    if len(known) < len(speeds):
        return Check(9, False, "the speed of a core was not read")
    worst = max((100 * (speed / known[0] - 1) for speed in known[1:]), key=abs)
    detail = f"speed of a core {worst:+.1f} % against the campaign's first audit"
    return Check(9, abs(worst) <= limit_percent, detail)


def check_settled(waited_s: float, power_w: float, band_w: float) -> Check:
    """Rule 11: the mean power of the idle phase before the trial's work was in the idle band.

    `power_w` is NaN if no meter had a reading; the check then fails.
    """
    detail = f"{power_w:.1f} W against {band_w:.1f} W after {waited_s:.1f} s"
    return Check(11, power_w <= band_w, detail)


def check_power(energy: Mapping[str, MeterEnergy]) -> list[Check]:
    """Rules 13, 14 and 21: each meter's trace covers the measured interval without a flaw."""
    flaws = [
        (flaw.rule, f"{name}: {flaw.detail}")
        for name, of_meter in energy.items()
        for flaw in of_meter.flaws
    ]
    return [
        Check(rule, not details, "; ".join(details) or "sound")
        for rule in (13, 14, 21)
        for details in [[detail for flawed, detail in flaws if flawed == rule]]
    ]


def check_budget(energy: MeterEnergy, limit_percent: float) -> Check:
    """Rule 16: the constant and edge errors stay within their share of the energy."""
    share_percent = 100 * trace.constant_edge_share(energy.budget, energy.energy_j)
    detail = f"constant and edge errors are {share_percent:.2f} % of {energy.energy_j:.0f} J"
    if share_percent > limit_percent:
        detail += f", above {limit_percent:g} %: the trial is too short"
    return Check(16, share_percent <= limit_percent, detail)


def check_others(
    host: pd.DataFrame,
    measured: Sequence[Phase],
    workload_user_s: float,
    cores: int,
    limit_percent: float,
) -> Check:
    """Rule 10: other programs and the hypervisor took little processor time in the measured phases.

    Only user time and stolen time count. Other programs' kernel time cannot be told apart from that
    of the file system.

    `host` is the table `host.parquet`. `workload_user_s` is the user time of the workload in the
    measured phases; the limit is in per cent of all `cores` of the machine.
    """
    used_s = sum(_grown(host, name, measured) for name in ("cpu_user_s", "cpu_steal_s"))
    taken_s = max(0.0, used_s - workload_user_s)
    percent = 100 * taken_s / (cores * sum(phase.duration_s for phase in measured))
    return Check(10, percent < limit_percent, f"others took {percent:.1f} % of all cores")


def _grown(host: pd.DataFrame, counter: str, phases: Sequence[Phase]) -> float:
    """Return the growth of a counter of the host in the phases, interpolated at their ends."""
    times_s = host["time_s"].to_numpy()
    return sum(
        float(np.diff(np.interp(phase.span_s, times_s, host[counter]))[0]) for phase in phases
    )


def check_timing(timing: Mapping[str, Any], of: str = "disk") -> Check:
    """Rule 10: the simulated disk answered on time, so the machine was calm enough."""
    requests, in_floor = timing["requests"], timing["in_floor"]
    if not requests:
        return Check(10, True, f"no request reached the simulated {of}")
    share = (timing["on_time"] + in_floor) / requests
    detail = (
        f"{100 * share:.1f} % of {requests} requests of the simulated {of} on time, "
        f"{in_floor} of them by the floor"
    )
    return Check(10, share >= ON_TIME_SHARE, detail)


def check_harness(cost: HarnessCost) -> Check:
    """Rule 20: the harness takes little processor time while the workload runs."""
    percent = cost.cpu_percent
    return Check(20, percent < cost.LIMIT_PERCENT, f"{percent:.2f} % of a core")


def check_workload(summary: WorkSummary) -> Check:
    """Rule 20: the work is whole: not cut short, finished if it has an end, and without errors."""
    unfinished = summary.finished is False
    whole = not (summary.partial or unfinished or summary.errors) and summary.work_ops > 0
    detail = f"{summary.work_ops} operations"
    if summary.partial:
        detail += ", cut short"
    if unfinished:
        detail += f", not all done within {summary.duration_s:.1f} s: raise measure_s"
    if summary.errors:
        detail += f", errors: {dict(summary.errors)}"
    return Check(20, whole, detail)


def check_events(events: Sequence[Event], phases: Sequence[Phase]) -> Check:
    """Rule 20: each event happened, and within its phase."""
    wrong, done = [], []
    for event in events:
        within = [phase for phase in phases if phase.name == event.phase][-1:]
        said = f"{event.name} at {event.at_s:g} s of {event.phase}"
        if event.fault is not None:
            wrong.append(f"{said} was not done: {event.fault}")
        elif not (within and within[0].start_s <= event.start_s <= within[0].end_s):
            wrong.append(f"{said} fell outside of it")
        else:
            done.append(f"{event.name} at {event.start_s - within[0].start_s:.3f} s")
    return Check(20, not wrong, "; ".join(wrong or done))


def check_copies(lacking: str | None) -> Check:
    """Rule 20: at the end, each copy of the files is complete; `lacking` says what is missing."""
    return Check(20, lacking is None, lacking or "every copy holds all files")
