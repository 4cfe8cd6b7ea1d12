"""What a trial's record says, as typed values: `trial.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fsgreen.errors import FsgreenError
from fsgreen.trace import Boundary, MeterEnergy, MeterInfo

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA = 2
"""Schema of the records that are written. Since 2 they hold energies and events."""

READABLE = (1, SCHEMA)
"""Schemas of the records that are read."""


@dataclass(frozen=True)
class Phase:
    """A named interval of a trial in host monotonic seconds."""

    name: str
    start_s: float
    end_s: float

    @property
    def duration_s(self) -> float:
        """Return the length of the phase in seconds."""
        return self.end_s - self.start_s

    @property
    def span_s(self) -> tuple[float, float]:
        """Return its start and its end."""
        return self.start_s, self.end_s


@dataclass(frozen=True)
class Event:
    """What was done to the device, the stack or the workload in the course of a phase.

    Attributes
    ----------
    name : str
        What was done: `cable_out`.
    phase : str
        The phase in which it was to be done.
    at_s : float
        When, in seconds from the begin of the phase, as the study declares it.
    start_s, end_s : float
        When it was done, in host monotonic seconds.
    fault : str, optional
        Why it could not be done.
    """

    name: str
    phase: str
    at_s: float
    start_s: float
    end_s: float
    fault: str | None = None


@dataclass(frozen=True)
class Check:
    """The outcome of one rule for one trial."""

    rule: int
    ok: bool
    detail: str


@dataclass(frozen=True)
class Clock:
    """One moment, as the host's monotonic clock and its clock of the day had it."""

    monotonic_s: float
    unix_s: float

    @property
    def ahead_s(self) -> float:
        """Return what is added to monotonic seconds to have those since 1970 UTC."""
        return self.unix_s - self.monotonic_s


@dataclass(frozen=True)
class ThreadWork:
    """The work of each instance of one kind of thread, and when it ended (rule 41).

    `ended_s` counts from the begin of the phase `measure`; None ended before it.
    """

    process: str
    thread: str
    work_ops: tuple[int, ...]
    ended_s: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Cost:
    """What the workload itself took of the processors within the measured interval."""

    user_s: float = 0.0
    system_s: float = 0.0
    voluntary_switches: int = 0
    involuntary_switches: int = 0
    user_us_per_op: float | None = None
    system_us_per_op: float | None = None


@dataclass(frozen=True)
class WorkSummary:
    """What a run of a workload did within the measured interval.

    Attributes
    ----------
    errors : mapping of str to int
        Operations that failed, by name of errno.
    skipped : int
        Operations for which there was no file.
    finished : bool, optional
        Whether a fixed amount of work was done before the limit; None where there is none.
    partial : bool
        Whether it was cut short; `reason` says why.
    engine : str
        What ran it, with its version.
    notes : tuple of str
        What was asked for and could not be done.
    variables : mapping
        Those of the workload, with their values.
    """

    duration_s: float
    work_ops: int
    read_b: int = 0
    write_b: int = 0
    errors: Mapping[str, int] = field(default_factory=dict)
    skipped: int = 0
    threads: tuple[ThreadWork, ...] = ()
    finished: bool | None = None
    partial: bool = False
    reason: str | None = None
    engine: str = ""
    seed: int | None = None
    notes: tuple[str, ...] = ()
    cost: Cost = Cost()
    variables: Mapping[str, Any] = field(default_factory=dict)

    @property
    def throughput_ops_s(self) -> float:
        """Return operations per second."""
        return self.work_ops / self.duration_s


@dataclass(frozen=True)
class Flush:
    """Dirty pages of all file systems before and after the phase `flush` (rule 12)."""

    dirty_before_b: int
    dirty_after_b: int


@dataclass(frozen=True)
class HarnessCost:
    """What the harness took of one core while the workload ran (rule 20)."""

    cpu_s: float
    cpu_percent: float


@dataclass(frozen=True)
class TrialRecord:
    """Everything about a trial that is not a table.

    Attributes
    ----------
    cell : mapping
        The levels that are set.
    meters : mapping of str to MeterInfo
        Each meter of the trial, by name.
    boundary : {"wall", "dc-rail", "cpu", "modelled"}
        That of the energy which the trial's efficiency is over.
    efficiency_meters : tuple of str
        The meters that this energy is the sum of; empty in older records: all of them.
    energy : mapping of str to MeterEnergy
        By name of the meter; empty in older records and where nothing was measured.
    workload : WorkSummary, optional
        None where the trial broke off before its work was done.
    workload_sha256 : str, optional
        Of the text that says what the workload does; older records do not know it.
    mount : mapping
        What the testbed says of the file system.
    simulated : mapping, optional
        What it says of a simulated disk.
    resident_share : float, optional
        Share of the files' bytes in the page cache when the trial began (rule 7).
    exit : {"ok", "invalid"}
        Whether it counts; `reason` says why not.
    files : mapping of str to str
        SHA-256 of every other file of the trial, by name.
    """

    trial: str
    study: str
    campaign: str
    profile: str
    plan_hash: str
    cell: Mapping[str, Any]
    block: int
    order: int
    seed: int
    clock: Clock
    phases: tuple[Phase, ...]
    meters: Mapping[str, MeterInfo]
    boundary: Boundary
    settle_s: float
    checks: tuple[Check, ...]
    exit: Literal["ok", "invalid"]
    harness: HarnessCost
    audit_sha256: str
    reason: str | None = None
    workload: WorkSummary | None = None
    workload_sha256: str | None = None
    mount: Mapping[str, Any] = field(default_factory=dict)
    resident_share: float | None = None
    flush: Flush | None = None
    simulated: Mapping[str, Any] | None = None
    energy: Mapping[str, MeterEnergy] = field(default_factory=dict)
    efficiency_meters: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def work(self) -> WorkSummary:
        """Return what the workload did.

        Raises
        ------
        FsgreenError
            If the trial broke off before its work was done.
        """
        if self.workload is None:
            raise FsgreenError(f"the trial {self.trial} did no work", where=self.reason)
        return self.workload

    def phase(self, name: str) -> Phase:
        """Return the first phase of that name; raises FsgreenError if there is none."""
        for phase in self.phases:
            if phase.name == name:
                return phase
        raise FsgreenError(f"there is no phase '{name}'", where=f"the trial {self.trial}")

    @property
    def idle_spans_s(self) -> list[tuple[float, float]]:
        """Return begin and end of the phases before and after the work in which nothing is done."""
        return [phase.span_s for phase in self.phases if phase.name == "idle"]

    def but(self, **changes: Any) -> TrialRecord:
        """Return the record with other values."""
        return replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values."""
        energy = {name: said.to_json() for name, said in self.energy.items()}
        return {"schema": SCHEMA, **asdict(self), "energy": energy}

    @classmethod
    def from_json(cls, text: str | bytes, where: Path) -> TrialRecord:
        """Read a record of this schema or an older one.

        Parameters
        ----------
        text : str or bytes
            What `trial.json` holds.
        where : Path
            The folder that is named if it is no record.

        Raises
        ------
        FsgreenError
            If it is not readable JSON, of an unknown schema, or lacks something or holds it in
            another type.
        """
        from pydantic import ValidationError

        try:
            value = json.loads(text)
        except ValueError as error:
            raise foreign(where, f"trial.json is not readable JSON: {error}") from error
        if not isinstance(value, dict):
            raise foreign(where, "trial.json does not hold a record")
        if value.get("schema") not in READABLE:
            known = " or ".join(map(str, READABLE))
            raise foreign(where, f"its schema is {value.get('schema')!r}, not {known}")
        try:
            said = value.pop("energy", {}).items()
            energy = {name: MeterEnergy.from_json(one) for name, one in said}
            plain = json.dumps(value) if energy else text
            return _adapter().validate_json(plain, strict=True).but(energy=energy)
        except (FsgreenError, AttributeError) as error:
            raise foreign(where, f"its energies are none: {error}") from error
        except ValidationError as error:
            wrong = [
                f"{'.'.join(map(str, entry['loc']))}: {entry['msg']}" for entry in error.errors()
            ]
            raise foreign(where, "the record has " + "; ".join(wrong[:3])) from error


@cache
def _adapter() -> TypeAdapter[TrialRecord]:
    from pydantic import TypeAdapter

    return TypeAdapter(TrialRecord)


def foreign(folder: Path, reason: str) -> FsgreenError:
    """Return the error of a folder that is not a whole trial."""
    return FsgreenError(
        f"not a whole trial of this project: {reason}",
        where=folder,
        next_step=f"move it out of the campaign (or, for shipped data, dvc checkout): {folder}",
    )
