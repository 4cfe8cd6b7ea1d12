"""Runs a campaign: every pending trial of its plan, each whole or not at all, resumable."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import count
from typing import Any

from tqdm.auto import tqdm

from fsgreen import audit, trace, trial
from fsgreen.campaign.onetrial import Bench, run_trial
from fsgreen.campaign.pulses import make_pulses
from fsgreen.campaign.state import Campaign
from fsgreen.design import Plan
from fsgreen.errors import FsgreenError
from fsgreen.meters import Capture, Meter, open_meters
from fsgreen.testbeds import Testbed
from fsgreen.workloads import Workload, load_workload

ATTEMPTS = 3
"""How often a trial that breaks a rule is measured before the campaign goes on without it."""

CHIP_S = 4.0
"""Four readings of a meter that gives one a second: the edges can be located in them."""

IDLE_S = 5.0
"""How long idle power is measured before the first trial (rule 18)."""


def run(
    plan: Plan,
    name: str,
    *,
    testbed: Testbed,
    meters: Sequence[Mapping[str, Any]] | None = None,
    pulses: bool = False,
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

    Raises
    ------
    FsgreenError
        For anything that stops the campaign; the whole trials so far are kept.
    """
    campaign = Campaign(name)
    with campaign.alone():
        campaign.adopt(plan)
        trial.sweep(campaign.folder)
        todo = campaign.pending()
        if not todo:
            return campaign
        workloads = _check_levels(plan, testbed)
        opened = open_meters(meters, testbed.device_name)
        try:
            bench = _prepare_bench(campaign, plan, testbed, opened, workloads)
            begin, end = _two_patterns() if pulses else ((), ())
            if pulses:
                _pulse(campaign, begin)
            refused = _measure(bench, campaign, plan, len(todo))
            if pulses:
                _pulse(campaign, end)
        finally:
            for meter in opened.values():
                meter.close()
    if refused:
        raise FsgreenError(
            f"{len(refused)} of {len(plan.trials)} trials broke a rule {ATTEMPTS} times: "
            + ", ".join(refused[:5]),
            where=campaign.folder / "invalid",
            next_step="read the reasons with `fsgreen status "
            f"{name}`, calm the machine, then start the same command again",
        )
    return campaign


def _measure(bench: Bench, campaign: Campaign, plan: Plan, pending: int) -> list[str]:
    refused = []
    with tqdm(
        total=len(plan.trials),
        initial=len(plan.trials) - pending,
        desc=f"campaign {campaign.name}",
        unit="trial",
        smoothing=0.1,
    ) as progress:
        for planned in campaign.pending():
            progress.set_postfix_str(planned.cell.label, refresh=True)
            for _ in range(ATTEMPTS):
                reason = run_trial(bench, planned)
                if reason is None:
                    break
                progress.write(f"{planned.trial} does not count: {reason}")
            else:
                refused.append(planned.trial)
            progress.update()
    return refused


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


def _check_levels(plan: Plan, testbed: Testbed) -> dict[str, Workload]:
    workloads = {}
    for cell in plan.cells:
        testbed.check(cell.file_system, cell.option)
        if cell.workload not in workloads:
            workload = load_workload(cell.workload, plan.profile.scale[cell.workload])
            workload.check()
            workloads[cell.workload] = workload
    return workloads


def _prepare_bench(
    campaign: Campaign,
    plan: Plan,
    testbed: Testbed,
    meters: Mapping[str, Meter],
    workloads: Mapping[str, Workload],
) -> Bench:
    infos = {name: meter.describe() for name, meter in meters.items()}
    boundaries = {info.boundary for info in infos.values()}
    if len(boundaries) > 1:
        raise FsgreenError(
            f"meters of different boundaries cannot be added up: {sorted(boundaries)} (rule 19)",
            next_step="give each [[meter]] of the testbed file the same boundary",
        )
    today: dict[str, Any] = {
        "testbed": testbed.describe(),
        "meters": {name: asdict(info) for name, info in infos.items()},
        "boundary": boundaries.pop(),
    }
    if campaign.begun():
        campaign.check_identity(today)
    else:
        idle_w = _idle_power_w(campaign, meters)
        trial.write_json(campaign.folder / "confounds.json", testbed.probe(plan.seed))
        campaign.keep_identity(
            {
                "campaign": campaign.name,
                "study": plan.study,
                "plan_hash": plan.hash,
                "started_unix_s": time.time(),
                "idle_power_w": idle_w,
                "idle_band_w": idle_w * (1 + plan.bounds["idle_band_percent"] / 100),
                "audit": audit.audit(),
                **today,
            }
        )
    return Bench(campaign, plan, testbed, meters, infos, workloads, campaign.identity())


def _idle_power_w(campaign: Campaign, meters: Mapping[str, Meter]) -> float:
    """Return the mean total power of `IDLE_S` seconds in which the harness does nothing."""
    raw = campaign.folder / ".idle.raw"
    with Capture(meters, raw, None) as capture:
        time.sleep(IDLE_S)
        if capture.fault is not None:
            raise capture.fault
        power, _ = capture.finish()
    raw.unlink()
    return float(power.groupby("meter")["power_w"].mean().sum())
