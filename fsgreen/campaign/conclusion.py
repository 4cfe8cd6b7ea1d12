"""The end of a trial after its phases: its tables, its checks, and its record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import paths, trace, trial
from fsgreen.campaign import checks, simulated, trialphases
from fsgreen.campaign.context import RunningTrial, TrialContext
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import Mount
from fsgreen.trace import MeterEnergy, meter_energies, sum_energies
from fsgreen.trial import Clock, DiskFull, TrialRecord, TrialWriter

ROOM_B = 16 << 20
"""Least free space, on the disk of the raw traces, to continue after that disk was full."""


@dataclass(frozen=True)
class Watched:
    """What was recorded while a trial ran.

    `clock` is the time before its phases, by both clocks. `raw` is the file with the bytes of the
    meters, of which `write_power` writes the table of power to a path. `host` is the table
    `host.parquet`. `audits` are those before and after the trial, and `text_sha256` is that of the
    workload's text before it. `fault` is that of a meter.
    """

    clock: Clock
    raw: Path
    write_power: Callable[[Path], object]
    host: pd.DataFrame
    audits: Sequence[dict[str, Any]]
    text_sha256: str
    fault: FsgreenError | None


def conclude(running: RunningTrial, watched: Watched, writer: TrialWriter) -> str | None:
    """Record a trial whose phases are over; return why it does not count, or None if it does."""
    context, planned = running.context, running.planned
    try:
        energy = _write_tables(running, watched, writer)
    except DiskFull as full:
        _make_room(running, writer, full)
        energy = {}
    workload = context.workload(planned)
    if running.outcome is not None:
        running.checks += _checks(running, watched, energy, workload.text_sha256())
    reason = _reason(running, watched.fault)
    before, after = watched.audits
    record = TrialRecord(
        trial=planned.trial,
        study=context.plan.study,
        campaign=context.campaign.name,
        profile=context.plan.profile.name,
        plan_hash=context.plan.hash,
        cell=planned.cell.to_json(),
        block=planned.block,
        order=planned.order,
        seed=planned.seed,
        clock=watched.clock,
        phases=tuple(running.phases),
        events=tuple(running.events),
        meters=context.infos,
        boundary=context.identity["boundary"],
        efficiency_meters=context.efficiency_meters,
        energy=energy,
        workload=None if running.outcome is None else running.outcome.summary,
        workload_sha256=watched.text_sha256,
        mount={} if running.prepared is None else _mount_record(running.prepared.mount),
        resident_share=None if running.prepared is None else running.prepared.resident_share,
        settle_s=sum(phase.duration_s for phase in running.phases if phase.name == "settle"),
        files_b=workload.size_b or None,
        memory=running.memory,
        processors=running.processors,
        flush=running.flush,
        simulated=running.simulated or None,
        devices=running.devices,
        checks=tuple(running.checks),
        exit="ok" if reason is None else "invalid",
        reason=reason,
        harness=running.harness,
        beside=running.beside,
        audit_sha256=writer.write_json("audit.json", {"start": before, "end": after}),
    )
    (writer.set_aside if reason else writer.keep)(record)
    return reason


def revive(context: TrialContext, fault: FsgreenError | None) -> None:
    """Start the meters again after a fault. Raises the fault if they do not start."""
    if fault is None:
        return
    for meter in context.meters.values():
        try:
            meter.stop()
            meter.start()
        except FsgreenError as still:
            raise fault from still


def _write_tables(
    running: RunningTrial, watched: Watched, writer: TrialWriter
) -> dict[str, MeterEnergy]:
    """Write the tables of a trial; return the energy by meter, empty if there was no work."""
    power_file = writer.write_parts("power", watched.write_power)
    writer.write_table("host", watched.host)
    if running.outcome is None:
        return {}
    writer.write_table("ops", running.outcome.ops)
    writer.write_table("latency", running.outcome.latency)
    measured = [phase.span_s for phase in running.measured()]
    if running.simulated:
        [measure] = running.measured()
        running.simulated["parts_j"] = simulated.parts_j(watched.raw, measure)
    idles = [phase.span_s for phase in running.phases if phase.name == "idle"]
    return meter_energies(power_file, running.context.infos, measured, idles)


def _make_room(running: RunningTrial, writer: TrialWriter, full: DiskFull) -> None:
    """Delete what a trial wrote, with its file system, which may be on the same disk.

    Raises `full` if there is still no room for another trial. The campaign then ends. It can
    continue once there is room.
    """
    needed_b = max(ROOM_B, 2 * writer.written_b)
    writer.empty()
    running.testbed.restore()
    if paths.free_b(writer.folder) < needed_b:
        raise full
    running.outcome = None
    running.failure = "the disk that holds the raw traces was full while it ran"


def _checks(
    running: RunningTrial, watched: Watched, energy: dict[str, MeterEnergy], text_sha256: str
) -> list[trial.Check]:
    """Return the checks that are possible only after the work."""
    assert running.outcome is not None
    context, summary, audits = running.context, running.outcome.summary, watched.audits
    identity, bounds = context.identity, context.plan.bounds
    guest_user_s = None
    if running.guest is not None:
        host_times_s = watched.host["time_s"].to_numpy()
        guest_user_s = running.guest.user_s(host_times_s, running.measured())
    asked = [
        checks.check_audits(identity["audit"], audits),
        checks.check_text(
            identity.get("workloads", {}).get(running.planned.cell["workload"]),
            [watched.text_sha256, text_sha256],
        ),
        *checks.check_power(energy),
        checks.check_workload(summary),
        checks.check_others(
            watched.host,
            running.measured(),
            summary.cost.user_s if guest_user_s is None else guest_user_s,
            audits[0]["cores_count"],
            bounds["others_percent"],
        ),
        checks.check_harness(running.harness),
        _check_meters(context),
    ]
    traffic = trialphases.bounds_of(running).traffic
    if traffic is not None:
        asked.append(checks.check_traffic(watched.host, running.measured(), traffic.b_s))
    if "speed_percent" in bounds:
        asked.append(checks.check_speed(identity["audit"], audits, bounds["speed_percent"]))
    asked += [checks.check_timing(*found) for found in simulated.timings(running.simulated)]
    if running.sound and all(check.ok for check in asked):
        over = sum_energies([energy[name] for name in context.efficiency_meters])
        asked.append(checks.check_budget(over, bounds["budget_percent"]))
    return asked


def _reason(running: RunningTrial, fault: FsgreenError | None) -> str | None:
    """Return why a trial does not count; None if it does."""
    if fault is not None:
        return fault.what
    broken = [f"rule {check.rule}: {check.detail}" for check in running.checks if not check.ok]
    return "; ".join([running.failure] if running.failure else broken) or None


def _check_meters(context: TrialContext) -> trial.Check:
    """Rule 21: each meter is the one that the campaign began with."""
    flaws = [
        f"{name}: {flaw.detail}"
        for name, meter in context.meters.items()
        for flaw in trace.identity_flaws(context.infos[name], meter.describe())
    ]
    return trial.Check(21, not flaws, "; ".join(flaws) or "the same meters")


def _mount_record(mount: Mount) -> dict[str, Any]:
    """Return the record of a mount, without its paths and without what few mounts have."""
    left_out = {"directory", "below"}
    left_out |= {name for name in ("stacked", "nvme") if getattr(mount, name) is None}
    return {name: value for name, value in asdict(mount).items() if name not in left_out}
