"""One trial from mkfs to record: here testbed, workload and meters work together."""

from __future__ import annotations

import time
from functools import partial

from fsgreen import audit
from fsgreen.campaign import simulated, trialphases
from fsgreen.campaign.conclusion import Watched, conclude, revive
from fsgreen.campaign.context import RunningTrial, TrialContext
from fsgreen.design import PlannedTrial
from fsgreen.meters import Capture, HostSampler
from fsgreen.meters.core.rawtrace import write_parsed
from fsgreen.testbeds import Testbed
from fsgreen.trial import Clock, TrialWriter


def run_trial(context: TrialContext, planned: PlannedTrial) -> str | None:
    """Run one trial and keep its record; return why it does not count, or None if it does.

    Raises FsgreenError if the trial cannot be run at all. Nothing is left mounted or half-written.
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
    raw = writer.folder / "power.raw"
    with Capture(context.meters, raw, sampler(context.testbed)) as capture:
        running = RunningTrial(context, planned, capture, context.testbed)
        trialphases.run(running)
        fault = capture.fault
        capture.stop()
    watched = Watched(
        clock,
        raw,
        partial(write_parsed, raw),
        capture.host_table(),
        (before, audit.audit()),
        text_sha256,
        fault,
    )
    reason = conclude(running, watched, writer)
    revive(context, fault)
    return reason


def sampler(testbed: Testbed) -> HostSampler:
    """Return a sampler of the counters of the machine and of a testbed's device."""
    servers = None if testbed.simulator() is None else simulated.Servers(testbed).processor_s
    return HostSampler(testbed.device_name, servers, partial(simulated.counters, testbed))
