"""Runs a campaign: every pending trial of its plan, each whole or not at all, resumable."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from fsgreen import audit, trace, trial
from fsgreen.campaign import events
from fsgreen.campaign.context import TrialContext
from fsgreen.campaign.fitting import Workloads, load_workloads
from fsgreen.campaign.machine import machine_alone
from fsgreen.campaign.onetrial import run_trial
from fsgreen.campaign.pace import Pace
from fsgreen.campaign.pulses import make_pulses
from fsgreen.campaign.state import Campaign
from fsgreen.design import Plan, PlannedTrial
from fsgreen.design.overview import spell
from fsgreen.errors import FsgreenError
from fsgreen.meters import Capture, Meter, open_meters
from fsgreen.meters.simdisk import driver as simdisk
from fsgreen.preflight import Finding, load
from fsgreen.progress import progress
from fsgreen.testbeds import Testbed
from fsgreen.trace import MeterInfo

ATTEMPTS = 3
"""How often a trial that breaks a rule is measured before the campaign goes on without it."""

COPIES = 5
"""How many attempts that broke a rule a trial has over all starts: then it is left out."""

IN_A_ROW = 10
"""How many trials in a row may be given up so before the campaign stops: it is no accident then."""

CHIP_S = 4.0
"""Four readings of a meter that gives one a second: the edges can be located in them."""

BAR_FORMAT = "{desc}: {n_fmt} of {total_fmt} |{bar}| {elapsed}{postfix}"

IDLE_S = 5.0
"""How long idle power is measured before the first trial (rule 18), at least."""

IDLE_READINGS = 3
"""As many readings of the slowest meter at least: the first of a counter is no power yet."""


def run(
    plan: Plan,
    name: str,
    *,
    testbed: Testbed,
    meters: Sequence[Mapping[str, Any]] | None = None,
    pulses: bool = False,
    preflight: Sequence[Finding] | None = None,
) -> Campaign:
    """Measure the pending trials of a plan into the campaign `name`.

    Parameters
    ----------
    plan : Plan
        What is to be measured. A campaign that has begun accepts its own plan only.
    name : str
        The campaign's name.
    testbed : Testbed
        Where it runs; closed by the caller.
    meters : sequence of mappings, optional
        The `[[meter]]` tables of a testbed file; without them the emulated pair is used.
    pulses : bool, optional
        Make load pulses before the first trial and after the last (rule 17).
    preflight : sequence of Finding, optional
        What the preflight table said before this start, for the record (rule 10).

    Raises
    ------
    FsgreenError
        For anything that stops the campaign; the whole trials so far are kept.
    """
    workloads = load_workloads(plan, testbed)
    campaign = Campaign(name)
    with campaign.alone(), machine_alone(), campaign.in_place():
        campaign.adopt(plan)
        campaign.check_testbed(testbed.describe())
        trial.sweep(campaign.folder)
        campaign.note_stopping()
        if not campaign.pending():
            return campaign
        opened = open_meters(_tables(meters, testbed), testbed.device_name)
        try:
            context = _context(campaign, plan, testbed, opened, workloads, pulses=pulses)
            if preflight is not None:
                campaign.note_preflight(preflight)
            begin, end = _two_patterns() if pulses else ((), ())
            if pulses:
                _pulse(campaign, begin)
            refused = _measure(context)
            if pulses:
                _pulse(campaign, end)
        finally:
            for meter in opened.values():
                meter.close()
    if refused:
        raise _broken(campaign, f"{len(refused)} of {len(campaign.due())} trials", refused)
    return campaign


def _tables(
    meters: Sequence[Mapping[str, Any]] | None, testbed: Testbed
) -> Sequence[Mapping[str, Any]] | None:
    """Return the tables of the meters; on a simulated disk they are told which one it is."""
    simulator = testbed.simulator()
    return meters if simulator is None else simdisk.tables(meters, simulator.path)


def _measure(context: TrialContext) -> list[str]:
    """Measure what is due until nothing is; return the trials that broke a rule each time.

    A block beyond the minimum is decided when those before it are whole (rule 27), so that a trial
    which broke a rule each time holds it back until the next start. Raises FsgreenError where
    `IN_A_ROW` did.
    """
    campaign, plan = context.campaign, context.plan
    trials, invalid = trial.list_trials(campaign.folder), trial.list_invalid(campaign.folder)
    refused = _given_up(campaign, invalid)
    in_a_row: list[str] = []
    pace = Pace.of(plan, [*trials, *invalid])
    with tqdm(
        total=len(campaign.due()),
        initial=len(trials),
        desc=f"campaign {campaign.name}",
        bar_format=BAR_FORMAT,
    ) as bar:
        while todo := [due for due in campaign.pending() if due.trial not in refused]:
            bar.total = bar.n + len(todo)
            last = todo[-1].block
            goal = "to go" if last == plan.profile.last_block else f"to the end of block {last}"
            for nth, planned in enumerate(todo):
                left_s = pace.total_s(later.cell for later in todo[nth:])
                bar.set_postfix_str(f"{planned.cell.label}, {spell(left_s)} {goal}")
                if _measure_one(context, planned, pace, bar):
                    in_a_row.clear()
                else:
                    refused.append(planned.trial)
                    in_a_row.append(planned.trial)
                bar.update()
                if len(in_a_row) == IN_A_ROW:
                    raise _broken(campaign, f"{IN_A_ROW} trials in a row", in_a_row)
            campaign.note_stopping()
    return refused


def _given_up(campaign: Campaign, invalid: Sequence[trial.Trial]) -> list[str]:
    """Return the trials that broke a rule so often that no further start measures them."""
    often = Counter(found.name for found in invalid)
    given_up = [due.trial for due in campaign.pending() if often[due.trial] >= COPIES]
    for name in given_up:
        print(
            f"{name} is left out: {often[name]} attempts at it broke a rule. "
            f"To try again, remove {campaign.folder / 'invalid' / name}.*"
        )
    return given_up


def _broken(campaign: Campaign, which: str, names: Sequence[str]) -> FsgreenError:
    return FsgreenError(
        f"{which} broke a rule each time: {', '.join(names[:5])}",
        where=campaign.folder / "invalid",
        next_step=f"read the reasons with `fsgreen status {campaign.name}`, calm the machine, "
        f"then start the same command again; after {COPIES} attempts a trial is left out",
    )


def _measure_one(context: TrialContext, planned: PlannedTrial, pace: Pace, bar: tqdm) -> bool:
    """Return whether the trial counts, after `ATTEMPTS` at most, and `COPIES` over all starts."""
    kept = trial.list_invalid(context.campaign.folder)
    before = sum(found.name == planned.trial for found in kept)
    for _ in range(min(ATTEMPTS, COPIES - before)):
        start_s = time.monotonic()
        reason = run_trial(context, planned)
        pace.add(planned.cell, time.monotonic() - start_s, counts=reason is None)
        if reason is None:
            return True
        bar.write(f"{planned.trial} does not count: {reason}")
    return False


def _two_patterns() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return patterns of pulses that differ, so that begin and end are not taken for each other."""
    seed = time.time_ns()
    begin = trace.pulse_runs(seed, CHIP_S)
    others = (trace.pulse_runs(other, CHIP_S) for other in count(seed + 1))
    return begin, next(runs for runs in others if runs != begin)


def _pulse(campaign: Campaign, runs: Sequence[float]) -> None:
    print(f"load pulses for meters with a clock of their own: {sum(runs):.0f} s")
    ahead_s = time.time() - time.monotonic()
    campaign.note_pulses([edge_s + ahead_s for edge_s in make_pulses(runs)])


def _context(
    campaign: Campaign,
    plan: Plan,
    testbed: Testbed,
    meters: Mapping[str, Meter],
    workloads: Workloads,
    *,
    pulses: bool,
) -> TrialContext:
    infos = {name: meter.describe() for name, meter in meters.items()}
    over = _efficiency_meters(plan, infos, pulses=pulses)
    for workload in workloads.values():
        offering = [testbed.device, testbed.stack, workload]
        known = events.offered(offering) if plan.profile.events else {}
        events.check_offered(plan.profile.events, known, f"studies/{plan.study}.yaml")
    today: dict[str, Any] = {
        "audit": audit.audit(),
        "testbed": testbed.describe(),
        "meters": {name: asdict(info) for name, info in infos.items()},
        "boundary": infos[over[0]].boundary,
        "workloads": {asked["workload"]: found.text_sha256() for asked, found in workloads.items()},
    }
    if campaign.begun():
        campaign.check_identity(today)
    else:
        idle_w = _idle_powers_w(campaign, plan, testbed, {name: meters[name] for name in over})
        margin = 1 + plan.bounds["idle_band_percent"] / 100
        highest_w = max(idle_w.values())
        of_disks = {disk: found_w * margin for disk, found_w in idle_w.items() if disk is not None}
        # Every trial is held to the speed of one of them. What passes only makes a core slower.
        audits = [today["audit"], audit.audit()]
        trial.write_json(campaign.folder / "confounds.json", testbed.probe(plan.seed))
        audits.append(audit.audit())
        campaign.keep_identity(
            {
                "campaign": campaign.name,
                "study": plan.study,
                "plan_hash": plan.hash,
                "started_unix_s": time.time(),
                "idle_power_w": highest_w,
                "idle_band_w": highest_w * margin,
                **({"idle_bands_w": of_disks} if of_disks else {}),
                **today,
                "audit": max(audits, key=lambda found: found["speed_loops_s"]),
            }
        )
    return TrialContext(
        campaign, plan, testbed, meters, infos, over, workloads, campaign.identity()
    )


def _efficiency_meters(
    plan: Plan, infos: Mapping[str, MeterInfo], *, pulses: bool
) -> tuple[str, ...]:
    """Return the meters that power in the idle band, and each trial's efficiency, are of.

    Where none of them is what the study names, but pulses are made for one that records on its
    own, they are those of the trial: the efficiency in the tables is over that which is attached.
    """
    boundaries = {name: info.boundary for name, info in infos.items()}
    where = f"studies/{plan.study}.yaml"
    try:
        return trial.efficiency_meters(plan.efficiency, boundaries, where)
    except FsgreenError:
        if not pulses:
            raise
        return trial.efficiency_meters(None, boundaries, where)


def _idle_powers_w(
    campaign: Campaign, plan: Plan, testbed: Testbed, meters: Mapping[str, Meter]
) -> dict[str | None, float]:
    """Return the idle power with each disk of the plan, by its name; None is the testbed's own."""
    found_w = {}
    for disk in dict.fromkeys(cell.get("disk") for cell in plan.cells):
        testbed.load({"disk": disk})
        found_w[disk] = _idle_power_w(campaign, meters, plan.bounds["others_percent"])
    return found_w


def _idle_power_w(campaign: Campaign, meters: Mapping[str, Meter], others_percent: float) -> float:
    """Return the mean total power of some seconds in which the harness does nothing.

    Raises FsgreenError where others do: the band of rule 11 would be too wide for all trials. So
    does a meter without a reading, without which it would be too narrow.
    """
    for _ in range(ATTEMPTS):
        before = audit.HERE.text("proc/stat") or ""
        power_w = _mean_power_w(campaign.folder / ".idle.raw", meters)
        found = load.shares(before, audit.HERE.text("proc/stat") or "")
        busy_percent = 0.0 if found is None else found.busy_percent
        if busy_percent < others_percent:
            return power_w
    raise FsgreenError(
        f"idle power cannot be measured: others use {busy_percent:.0f} % of all cores, "
        f"{others_percent:g} % or more (rule 10)",
        where=f"the begin of the campaign {campaign.name}",
        next_step="end other work (top), then start the same command again",
    )


def _mean_power_w(raw: Path, meters: Mapping[str, Meter]) -> float:
    slowest_hz = min(meter.describe().rate_hz for meter in meters.values())
    seconds = math.ceil(max(IDLE_S, IDLE_READINGS / slowest_hz))
    try:
        with Capture(meters, raw, None) as capture:
            # A meter that is read once in minutes takes many of them.
            for _ in progress(range(seconds), "idle power", "s"):
                time.sleep(1)
                if capture.fault is not None:
                    raise capture.fault
            power, _ = capture.finish()
    finally:
        raw.unlink(missing_ok=True)
    sound = power.loc[[set(flags.split("|")) <= trace.REMARKS for flags in power["quality"]]]
    found_w = sound.groupby("meter")["power_w"].mean().reindex(list(meters))
    if silent := list(found_w.index[found_w.isna()]):
        raise FsgreenError(
            f"no sound reading of idle power from {', '.join(silent)}",
            where="the meters of the testbed file",
            next_step="fsgreen meters",
        )
    return float(found_w.sum())
