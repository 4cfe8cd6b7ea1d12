"""One trial from mkfs to record: the only place where testbed, workload and meters meet."""

from __future__ import annotations

import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import audit, trace, trial
from fsgreen.campaign import checks, simulated, trialphases
from fsgreen.campaign.context import RunningTrial, TrialContext
from fsgreen.design import PlannedTrial
from fsgreen.errors import FsgreenError
from fsgreen.meters import Capture, HostSampler
from fsgreen.meters.core.rawtrace import write_parsed
from fsgreen.testbeds import Mount
from fsgreen.trace import MeterEnergy, meter_energies, sum_energies
from fsgreen.trial import Clock, TrialRecord, TrialWriter


def run_trial(context: TrialContext, planned: PlannedTrial) -> str | None:
    """Run one trial and keep its record; return why it does not count, or None if it does.

    Raises
    ------
    FsgreenError
        If the trial cannot be run at all. Nothing is left mounted or half-written.
    """
    writer = TrialWriter(context.campaign.folder, planned.trial)
    try:
        return _run(context, planned, writer)
    finally:
        writer.discard()
        context.testbed.restore()


def _run(context: TrialContext, planned: PlannedTrial, writer: TrialWriter) -> str | None:
    before, text_sha256 = audit.audit(), context.workload(planned).text_sha256()
    clock = Clock(time.monotonic(), time.time())
    simulator = context.testbed.simulator()
    server_s = None if simulator is None else simulator.processor_s
    host = HostSampler(context.testbed.device_name, server_s)
    raw = writer.folder / "power.raw"
    with Capture(context.meters, raw, host) as capture:
        running = RunningTrial(context, planned, capture)
        trialphases.run(running)
        fault = capture.fault
        capture.stop()
    host_table, after = capture.host_table(), audit.audit()
    energy = _write_tables(running, writer, raw, host_table)
    if running.outcome is not None:
        texts = [text_sha256, context.workload(planned).text_sha256()]
        running.checks += _checks(running, energy, host_table, [before, after], texts)
    reason = _reason(running, fault)
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
        clock=clock,
        phases=tuple(running.phases),
        events=tuple(running.events),
        meters=context.infos,
        boundary=context.identity["boundary"],
        efficiency_meters=context.efficiency_meters,
        energy=energy,
        workload=None if running.outcome is None else running.outcome.summary,
        workload_sha256=text_sha256,
        mount={} if running.prepared is None else _mount_record(running.prepared.mount),
        resident_share=None if running.prepared is None else running.prepared.resident_share,
        settle_s=sum(phase.duration_s for phase in running.phases if phase.name == "settle"),
        files_b=context.workload(planned).size_b or None,
        memory=running.memory,
        flush=running.flush,
        simulated=running.simulated or None,
        checks=tuple(running.checks),
        exit="ok" if reason is None else "invalid",
        reason=reason,
        harness=running.harness,
        audit_sha256=writer.write_json("audit.json", {"start": before, "end": after}),
    )
    (writer.set_aside if reason else writer.keep)(record)
    if fault is not None:
        _revive(context, fault)
    return reason


def _write_tables(
    running: RunningTrial, writer: TrialWriter, raw: Path, host_table: pd.DataFrame
) -> dict[str, MeterEnergy]:
    """Write the tables of a trial; return what each meter says, where there is something to say."""
    power_file = writer.write_parts("power", partial(write_parsed, raw))
    writer.write_table("host", host_table)
    if running.outcome is None:
        return {}
    writer.write_table("ops", running.outcome.ops)
    writer.write_table("latency", running.outcome.latency)
    if running.simulated:
        running.simulated["parts_j"] = simulated.parts_j(raw, running.measured())
    idles = [phase.span_s for phase in running.phases if phase.name == "idle"]
    return meter_energies(power_file, running.context.infos, running.measured().span_s, idles)


def _checks(
    running: RunningTrial,
    energy: dict[str, MeterEnergy],
    host_table: pd.DataFrame,
    audits: list[dict[str, Any]],
    texts_sha256: list[str],
) -> list[trial.Check]:
    """Return what the rules say that can be asked once the work is done."""
    assert running.outcome is not None
    context, measured, summary = running.context, running.measured(), running.outcome.summary
    identity, bounds = context.identity, context.plan.bounds
    asked = [
        checks.check_audits(identity["audit"], audits),
        checks.check_text(
            identity.get("workloads", {}).get(running.planned.cell["workload"]), texts_sha256
        ),
        *checks.check_power(energy),
        checks.check_workload(summary),
        checks.check_others(
            host_table,
            measured,
            summary.cost.user_s,
            audits[0]["cores_count"],
            bounds["others_percent"],
        ),
        checks.check_harness(running.harness),
        _check_meters(context),
    ]
    if "speed_percent" in bounds:
        asked.append(checks.check_speed(identity["audit"], audits, bounds["speed_percent"]))
    if running.simulated:
        asked.append(checks.check_timing(running.simulated["timing"]))
    if running.sound and all(check.ok for check in asked):
        over = sum_energies([energy[name] for name in context.efficiency_meters])
        asked.append(checks.check_budget(over, bounds["budget_percent"]))
    return asked


def _reason(running: RunningTrial, fault: FsgreenError | None) -> str | None:
    """Return why a trial does not count, None if it does."""
    if fault is not None:
        return fault.what
    broken = [f"rule {check.rule}: {check.detail}" for check in running.checks if not check.ok]
    return "; ".join([running.failure] if running.failure else broken) or None


def _check_meters(context: TrialContext) -> trial.Check:
    """Rule 21: each meter is still the one that the campaign began with."""
    flaws = [
        f"{name}: {flaw.detail}"
        for name, meter in context.meters.items()
        for flaw in trace.identity_flaws(context.infos[name], meter.describe())
    ]
    return trial.Check(21, not flaws, "; ".join(flaws) or "the same meters")


def _revive(context: TrialContext, fault: FsgreenError) -> None:
    """Open the meters again after a fault, or stop the campaign with that fault."""
    for meter in context.meters.values():
        try:
            meter.stop()
            meter.start()
        except FsgreenError as still:
            raise fault from still


def _mount_record(mount: Mount) -> dict[str, Any]:
    return {name: value for name, value in asdict(mount).items() if name != "directory"}
