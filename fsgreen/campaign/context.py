"""What the trials of a campaign have in common, and a trial while it runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fsgreen.campaign.fitting import Workloads, asked_of_workload
from fsgreen.campaign.preparation import Prepared
from fsgreen.campaign.state import Campaign
from fsgreen.design import Plan, PlannedTrial
from fsgreen.meters import Capture, Meter
from fsgreen.testbeds import Testbed
from fsgreen.trace import MeterInfo
from fsgreen.trial import Check, Event, Flush, Phase
from fsgreen.workloads import Outcome, Workload


@dataclass(frozen=True)
class TrialContext:
    """Where the trials of a campaign run, with which meters, and what they are held to.

    Attributes
    ----------
    campaign, plan, testbed
        Where their records go, what they are of, and what they run on.
    meters, infos : mapping
        The open meters and what each is, by name.
    efficiency_meters : tuple of str
        Those that power in the idle band, and the efficiency, are of: they have one boundary.
    workloads : mapping
        What runs, by what a cell asks of it.
    identity : mapping
        `campaign.json`.
    """

    campaign: Campaign
    plan: Plan
    testbed: Testbed
    meters: Mapping[str, Meter]
    infos: Mapping[str, MeterInfo]
    efficiency_meters: tuple[str, ...]
    workloads: Workloads
    identity: Mapping[str, Any]

    def workload(self, planned: PlannedTrial) -> Workload:
        """Return what runs in a trial."""
        return self.workloads[asked_of_workload(planned.cell)]

    def idle_band_w(self, planned: PlannedTrial) -> float:
        """Return the upper end of the idle band of a trial, with its disk (rule 11)."""
        bands_w = self.identity.get("idle_bands_w", {})
        return float(bands_w.get(planned.cell.get("disk"), self.identity["idle_band_w"]))


@dataclass
class RunningTrial:
    """A trial while it runs: what its phases work with, and what they find.

    Attributes
    ----------
    phases, events, checks : list
        What happened, in its order, and the rules that were asked.
    prepared, outcome, flush : optional
        What `prepare`, the work and `flush` found; None until then.
    simulated : dict
        What is kept of a simulated disk.
    cpu_s : float
        What the harness took while the workload ran.
    failure : str, optional
        Why what the workload did cannot be told.
    """

    context: TrialContext
    planned: PlannedTrial
    capture: Capture
    phases: list[Phase] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    prepared: Prepared | None = None
    outcome: Outcome | None = None
    flush: Flush | None = None
    simulated: dict[str, Any] = field(default_factory=dict)
    cpu_s: float = 0.0
    failure: str | None = None

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Note a phase that lasts as long as the block."""
        start_s = time.monotonic()
        yield
        self.phases.append(Phase(name, start_s, time.monotonic()))

    @property
    def sound(self) -> bool:
        """Return whether nothing has happened so far because of which it does not count."""
        return (
            self.capture.fault is None
            and self.failure is None
            and all(check.ok for check in self.checks)
        )

    def measured(self) -> Phase:
        """Return the phase `measure`, which has ended."""
        return next(phase for phase in self.phases if phase.name == "measure")
