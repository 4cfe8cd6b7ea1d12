"""What the trials of a campaign share, and the state of a running trial."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from fsgreen import audit, trial
from fsgreen.campaign import events
from fsgreen.campaign.fitting import Workloads, asked_of_workload
from fsgreen.campaign.guesttime import GuestTime
from fsgreen.campaign.idlepower import idle_powers_w
from fsgreen.campaign.state import Campaign
from fsgreen.design import Plan, PlannedTrial
from fsgreen.errors import FsgreenError
from fsgreen.meters import Capture, Meter
from fsgreen.testbeds import Mount, Testbed
from fsgreen.trace import MeterInfo
from fsgreen.trial import Beside, Check, Event, Flush, HarnessCost, MemoryUse, Phase
from fsgreen.workloads import Outcome, Workload


@dataclass(frozen=True)
class TrialContext:
    """What the trials of a campaign share."""

    campaign: Campaign
    plan: Plan
    testbed: Testbed
    """Where their records go, their plan, and where they run."""
    meters: Mapping[str, Meter]
    infos: Mapping[str, MeterInfo]
    """The open meters, and the description of each, by name."""
    efficiency_meters: tuple[str, ...]
    """The meters of the idle band and of the efficiency. They have one boundary."""
    workloads: Workloads
    """The workload for the levels that a cell has of workload factors."""
    identity: Mapping[str, Any]
    """`campaign.json`."""
    beside: tuple[Testbed, ...] = ()
    """More testbeds of the same kind, for trials that are ready side by side."""

    @property
    def testbeds(self) -> tuple[Testbed, ...]:
        """Return one testbed for each trial that may be ready at once."""
        return (self.testbed, *self.beside)

    def workload(self, planned: PlannedTrial) -> Workload:
        """Return the workload of a trial."""
        return self.workloads[asked_of_workload(planned.cell)]


@dataclass(frozen=True)
class Prepared:
    """A mounted file system with its files, and the share of their bytes in the page cache."""

    mount: Mount
    resident_share: float


@dataclass
class RunningTrial:
    """The state of a running trial: what its phases use, and what they find."""

    context: TrialContext
    """What it shares with other trials."""
    planned: PlannedTrial
    """The trial in the plan."""
    capture: Capture
    """Records the meters."""
    testbed: Testbed
    """Where it runs."""
    phases: list[Phase] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    """The phases, events and checks so far, in their order."""
    prepared: Prepared | None = None
    outcome: Outcome | None = None
    flush: Flush | None = None
    """The results of `prepare`, of the work and of `flush`; None until then."""
    memory: MemoryUse | None = None
    """The use of a limited memory."""
    processors: dict[str, Any] = field(default_factory=dict)
    """What the cell asks of the processors, as it is read back."""
    simulated: dict[str, Any] = field(default_factory=dict)
    """What the record keeps of a simulated disk (`simulated.watched`)."""
    devices: dict[str, dict[str, float]] = field(default_factory=dict)
    """The traffic of each device, if there are several (`passed.since`)."""
    harness: HarnessCost = field(default_factory=lambda: HarnessCost(0.0, 0.0))
    """The processor time of the harness while the workload ran."""
    guest: GuestTime | None = None
    """The processor time that a guest took from this machine, if the workload ran in one."""
    failure: str | None = None
    """Why the trial failed: its work is not known."""
    beside: Beside | None = None
    """The trials that it takes turns with."""

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add a phase that lasts as long as the `with` block."""
        start_s = time.monotonic()
        yield
        self.phases.append(Phase(name, start_s, time.monotonic()))

    @property
    def sound(self) -> bool:
        """Return whether the trial still counts: no fault, no failure, and no failed check."""
        return (
            self.capture.fault is None
            and self.failure is None
            and all(check.ok for check in self.checks)
        )

    def measured(self) -> list[Phase]:
        """Return the measured phases: one, or one for each window."""
        return [phase for phase in self.phases if phase.name == "measure"]


def open_context(
    campaign: Campaign,
    plan: Plan,
    testbed: Testbed,
    meters: Mapping[str, Meter],
    workloads: Workloads,
    *,
    pulses: bool,
    beside: Sequence[Testbed] = (),
) -> TrialContext:
    """Return what the trials of a campaign share, after a check against its identity.

    The first start measures idle power, probes the device, and writes the identity (rule 9).

    Raises FsgreenError if an event or a meter that the study names does not exist, if idle power
    cannot be measured, or if something differs from what the campaign began with.
    """
    infos = {name: meter.describe() for name, meter in meters.items()}
    efficiency = _efficiency_meters(plan, infos, pulses=pulses)
    for workload in workloads.values():
        offering = [testbed.device, testbed.stack, workload]
        known = events.offered(offering) if plan.profile.events else {}
        events.check_offered(plan.profile.events, known, f"studies/{plan.study}.yaml")
    today: dict[str, Any] = {
        "audit": audit.audit(),
        "testbed": testbed.describe(),
        "meters": {name: asdict(info) for name, info in infos.items()},
        "boundary": infos[efficiency[0]].boundary,
        "workloads": {
            cell["workload"]: workload.text_sha256() for cell, workload in workloads.items()
        },
    }
    if campaign.begun():
        campaign.check_identity(today)
    else:
        idle_w = idle_powers_w(campaign, plan, testbed, {name: meters[name] for name in efficiency})
        margin = 1 + plan.bounds["idle_band_percent"] / 100
        highest_w = max(idle_w.values())
        bands_w = {key: power_w * margin for key, power_w in idle_w.items() if key is not None}
        # Trials are compared with the fastest audit: a passing disturbance only slows a core down.
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
                **({"idle_bands_w": bands_w} if bands_w else {}),
                **today,
                "audit": max(audits, key=lambda each: each["speed_loops_s"]),
            }
        )
    return TrialContext(
        campaign,
        plan,
        testbed,
        meters,
        infos,
        efficiency,
        workloads,
        campaign.identity(),
        tuple(beside),
    )


def _efficiency_meters(
    plan: Plan, infos: Mapping[str, MeterInfo], *, pulses: bool
) -> tuple[str, ...]:
    """Return the names of the meters of the idle band and of each trial's efficiency.

    The study may name a meter that is not among them but records on its own, with load pulses. Then
    all meters of the trial count here, and the tables later have the efficiency of the attached
    meter.
    """
    boundaries = {name: info.boundary for name, info in infos.items()}
    where = f"studies/{plan.study}.yaml"
    try:
        return trial.efficiency_meters(plan.efficiency, boundaries, where)
    except FsgreenError:
        if not pulses:
            raise
        return trial.efficiency_meters(None, boundaries, where)
