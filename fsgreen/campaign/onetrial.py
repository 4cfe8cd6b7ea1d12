"""One trial from mkfs to record: the only place where testbed, workload and meters meet."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from fsgreen import audit, commands, trace
from fsgreen.campaign import checks, simulated
from fsgreen.campaign.fitting import Workloads
from fsgreen.campaign.preparation import Prepared, prepare
from fsgreen.campaign.settling import settle
from fsgreen.campaign.state import Campaign
from fsgreen.design import Plan, PlannedTrial
from fsgreen.errors import FsgreenError
from fsgreen.meters import Capture, HostSampler, Meter
from fsgreen.meters.core.rawtrace import write_parsed
from fsgreen.testbeds import Mount, Testbed
from fsgreen.trace import MeterInfo, reduce_power
from fsgreen.trial import Phase, TrialWriter
from fsgreen.workloads import Outcome, Workload

DIRTY = ("Dirty", "Writeback")


@dataclass(frozen=True)
class Bench:
    """Everything that the trials of a campaign have in common."""

    campaign: Campaign
    plan: Plan
    testbed: Testbed
    meters: Mapping[str, Meter]
    infos: Mapping[str, MeterInfo]
    workloads: Workloads
    identity: Mapping[str, Any]

    def workload(self, planned: PlannedTrial) -> Workload:
        """Return what runs in a trial."""
        return self.workloads[planned.cell["workload"], planned.cell.get("readers")]


@dataclass
class _Log:
    """What happens in a trial, as it happens."""

    phases: list[Phase] = field(default_factory=list)
    checks: list[checks.Check] = field(default_factory=list)
    settle_s: float = 0.0
    flush: dict[str, int] = field(default_factory=dict)
    simulated: dict[str, Any] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        start_s = time.monotonic()
        yield
        self.phases.append(Phase(name, start_s, time.monotonic()))

    def measured(self) -> Phase:
        return next(phase for phase in self.phases if phase.name == "measure")


def run_trial(bench: Bench, planned: PlannedTrial) -> str | None:
    """Run one trial and keep its record; return why it does not count, or None if it does.

    Raises
    ------
    FsgreenError
        If the trial cannot be run at all. Nothing is left mounted or half-written.
    """
    writer = TrialWriter(bench.campaign.folder, planned.trial)
    try:
        return _run_and_keep(bench, planned, writer)
    finally:
        writer.discard()
        bench.testbed.restore()


def _run_and_keep(bench: Bench, planned: PlannedTrial, writer: TrialWriter) -> str | None:
    log = _Log()
    before, text_sha256 = audit.audit(), bench.workload(planned).text_sha256()
    clock = {"monotonic_s": time.monotonic(), "unix_s": time.time()}
    simulator = bench.testbed.simulator()
    server_s = None if simulator is None else simulator.processor_s
    host = HostSampler(bench.testbed.device_name, server_s)
    outcome: Outcome | None = None
    raw = writer.folder / "power.raw"
    with Capture(bench.meters, raw, host) as capture:
        prepared = _prepare(bench, planned, log)
        _settle(bench, planned, capture, log)
        cpu_s = 0.0
        if capture.fault is None and all(check.ok for check in log.checks):
            cpu_s = _cpu_s()
            with simulated.watched(bench.testbed, log.simulated):
                outcome = _work(bench, planned, prepared.mount.directory, capture, log)
            cpu_s = _cpu_s() - cpu_s
            _flush(prepared.mount.directory, log)
            with log.phase("idle"):
                time.sleep(bench.plan.profile.idle_s)
        fault = capture.fault
        capture.stop()
    host_table = capture.host_table()
    after = audit.audit()
    power_file = writer.write_parts("power", partial(write_parsed, raw))

    harness_percent = 0.0
    if outcome is not None:
        measured = log.measured()
        power = reduce_power(power_file, bench.infos, [(measured.start_s, measured.end_s)])
        working_s = outcome.phases[-1][2] - outcome.phases[0][1]
        harness_percent = 100 * cpu_s / working_s
        writer.write_table("ops", outcome.ops)
        writer.write_table("latency", outcome.latency)
        log.checks += [
            checks.check_audits(bench.identity["audit"], [before, after]),
            checks.check_text(
                bench.identity.get("workloads", {}).get(planned.cell["workload"]),
                [text_sha256, bench.workload(planned).text_sha256()],
            ),
            *_check_speed(bench, before, after),
            *checks.check_power(power),
            checks.check_workload(outcome.summary),
            checks.check_others(
                host_table,
                measured,
                outcome.summary["cost"]["user_s"],
                before["cores_count"],
                bench.plan.bounds["others_percent"],
            ),
            checks.check_harness(harness_percent),
            _check_meters(bench),
        ]
        if log.simulated:
            log.simulated["parts_j"] = simulated.parts_j(raw, measured)
            log.checks.append(checks.check_timing(log.simulated["timing"]))
        if all(check.ok for check in log.checks):
            limit_percent = bench.plan.bounds["budget_percent"]
            log.checks.append(checks.check_budget(power, limit_percent))
    broken = [f"rule {check.rule}: {check.detail}" for check in log.checks if not check.ok]
    reason = fault.what if fault is not None else "; ".join(broken) or None
    writer.write_table("host", host_table)
    audit_sha256 = writer.write_json("audit.json", {"start": before, "end": after})
    record = {
        "trial": planned.trial,
        "study": bench.plan.study,
        "campaign": bench.campaign.name,
        "profile": bench.plan.profile.name,
        "plan_hash": bench.plan.hash,
        "cell": planned.cell.to_json(),
        "block": planned.block,
        "order": planned.order,
        "seed": planned.seed,
        "clock": clock,
        "phases": [asdict(phase) for phase in log.phases],
        "meters": {name: asdict(info) for name, info in bench.infos.items()},
        "boundary": bench.identity["boundary"],
        "workload": None if outcome is None else outcome.summary,
        "workload_sha256": text_sha256,
        "mount": _mount_record(prepared.mount),
        "resident_share": prepared.resident_share,
        "settle_s": log.settle_s,
        "flush": log.flush or None,
        "simulated": log.simulated or None,
        "checks": [check.to_json() for check in log.checks],
        "exit": "ok" if reason is None else "invalid",
        "reason": reason,
        "harness": {"cpu_s": cpu_s, "cpu_percent": harness_percent},
        "audit_sha256": audit_sha256,
    }
    if reason is None:
        writer.keep(record)
    else:
        writer.set_aside(record)
    if fault is not None:
        _revive(bench, fault)
    return reason


def _prepare(bench: Bench, planned: PlannedTrial, log: _Log) -> Prepared:
    with log.phase("prepare"):
        prepared = prepare(bench.testbed, bench.workload(planned), bench.plan, planned)
    log.checks += prepared.checks
    return prepared


def _settle(bench: Bench, planned: PlannedTrial, capture: Capture, log: _Log) -> None:
    """Wait until total power is back in the idle band, that of the cell's disk (rule 11)."""
    bands_w = bench.identity.get("idle_bands_w", {})
    band_w = bands_w.get(planned.cell.get("disk"), bench.identity["idle_band_w"])
    profile = bench.plan.profile
    phases, check = settle(capture, band_w, profile.idle_s, profile.settle_limit_s)
    log.phases += phases
    log.checks.append(check)
    log.settle_s = phases[0].duration_s


def _work(
    bench: Bench, planned: PlannedTrial, directory: Path, capture: Capture, log: _Log
) -> Outcome | None:
    """Run warm-up and measured interval; a meter that fails stops the workload at once.

    None where it was stopped so early that it has nothing to tell.
    """
    stop = threading.Event()
    capture.on_fault(stop.set)
    profile = bench.plan.profile
    try:
        outcome = bench.workload(planned).run(
            directory,
            planned.seed,
            profile.warmup_s,
            profile.measure_s,
            planned.cell.get("load_ops_s"),
            stop,
        )
    except FsgreenError:
        if capture.fault is None:
            raise
        return None
    log.phases += [Phase(*phase) for phase in outcome.phases]
    return outcome


def _flush(directory: Path, log: _Log) -> None:
    """Write dirty pages back in a phase of its own, and note how many there were (rule 12)."""
    dirty_before_b = _dirty_b()
    with log.phase("flush"):
        commands.run(["sync", "--file-system", str(directory)])
    dirty_after_b, duration_s = _dirty_b(), log.phases[-1].duration_s
    log.flush = {"dirty_before_b": dirty_before_b, "dirty_after_b": dirty_after_b}
    log.checks.append(checks.check_flush(dirty_before_b, dirty_after_b, duration_s))


def _check_speed(
    bench: Bench, before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[checks.Check]:
    """Rule 9, where the study has a bound for the speed of a core."""
    limit_percent = bench.plan.bounds.get("speed_percent")
    if limit_percent is None:
        return []
    return [checks.check_speed(bench.identity["audit"], [before, after], limit_percent)]


def _check_meters(bench: Bench) -> checks.Check:
    """Rule 21: each meter is still the one that the campaign began with."""
    flaws = [
        f"{name}: {flaw.detail}"
        for name, meter in bench.meters.items()
        for flaw in trace.identity_flaws(bench.infos[name], meter.describe())
    ]
    return checks.Check(21, not flaws, "; ".join(flaws) or "the same meters")


def _revive(bench: Bench, fault: FsgreenError) -> None:
    """Open the meters again after a fault, or stop the campaign with that fault."""
    for meter in bench.meters.values():
        try:
            meter.stop()
            meter.start()
        except FsgreenError as still:
            raise fault from still


def _mount_record(mount: Mount) -> dict[str, Any]:
    record = asdict(mount)
    del record["directory"]
    return record


def _dirty_b() -> int:
    """Return the bytes of all file systems that wait for, or are in, write-back (proc(5))."""
    return sum(audit.meminfo_b(audit.HERE, key) or 0 for key in DIRTY)


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
