"""What a trial's record says, as typed values: `trial.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fsgreen.errors import FsgreenError
from fsgreen.trace import Boundary, MeterEnergy, MeterInfo
from fsgreen.trial.moments import Beside, Check, Clock, Event, Flush, HarnessCost, MemoryUse, Phase
from fsgreen.trial.work import WorkSummary

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA = 2
"""Schema of the records that are written. Since 2 they hold energies and events."""

READABLE = (1, SCHEMA)
"""Schemas of the records that are read."""


@dataclass(frozen=True)
class TrialRecord:
    """Everything about a trial that is not a table."""

    trial: str
    study: str
    campaign: str
    profile: str
    plan_hash: str
    cell: Mapping[str, Any]
    """The levels that are set."""
    block: int
    order: int
    seed: int
    clock: Clock
    phases: tuple[Phase, ...]
    meters: Mapping[str, MeterInfo]
    """Each meter of the trial, by name."""
    boundary: Boundary
    """That of the energy which the trial's efficiency is over."""
    settle_s: float
    checks: tuple[Check, ...]
    exit: Literal["ok", "invalid"]
    """Whether it counts; `reason` says why not."""
    harness: HarnessCost
    audit_sha256: str
    reason: str | None = None
    workload: WorkSummary | None = None
    """None where the trial broke off before its work was done."""
    workload_sha256: str | None = None
    """Of the text that says what the workload does; older records do not know it."""
    mount: Mapping[str, Any] = field(default_factory=dict)
    """What the testbed says of the file system."""
    resident_share: float | None = None
    """Share of the files' bytes in the page cache when the trial began (rule 7)."""
    flush: Flush | None = None
    files_b: int | None = None
    """Bytes of the workload's files at its scale; older records do not know it."""
    memory: MemoryUse | None = None
    """Of a memory that was bounded; None where it was all of the machine's."""
    processors: Mapping[str, Any] = field(default_factory=dict)
    """What the cell asks of the processors, as it was read back: `cpus`, those of the thread that
    starts the workload, and `cpu_max_khz`, the highest frequency of all. Empty in older records."""
    simulated: Mapping[str, Any] | None = None
    """What the testbed says of a simulated disk."""
    devices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Of a trial with several devices, bytes and requests of each from the begin of the work to the
    end of the idle phase after it, by what it is: `disk`, `flash`, `remote`."""
    energy: Mapping[str, MeterEnergy] = field(default_factory=dict)
    """By name of the meter; empty in older records and where nothing was measured."""
    efficiency_meters: tuple[str, ...] = ()
    """The meters that the efficiency adds up; empty in older records: all of them."""
    events: tuple[Event, ...] = ()
    beside: Beside | None = None
    """Of a trial in windows; None where it was measured in one interval."""
    files: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of every other file of the trial, by name."""

    @property
    def work(self) -> WorkSummary:
        """Return what the workload did.

        Raises FsgreenError if the trial broke off before its work was done.
        """
        if self.workload is None:
            raise FsgreenError(
                f"the trial {self.trial} did no work",
                where=self.reason,
                next_step="leave it out: only valid trials have work",
            )
        return self.workload

    def phase(self, name: str) -> Phase:
        """Return the first phase of that name; raises FsgreenError if there is none."""
        for phase in self.phases:
            if phase.name == name:
                return phase
        raise FsgreenError(
            f"there is no phase '{name}'",
            where=f"the trial {self.trial}",
            next_step=f"choose one of {', '.join(phase.name for phase in self.phases)}",
        )

    @property
    def measured(self) -> tuple[Phase, ...]:
        """Return what was measured: one interval, or its windows in their order.

        Raises FsgreenError if nothing was.
        """
        return tuple(phase for phase in self.phases if phase.name == "measure") or (
            self.phase("measure"),
        )

    @property
    def measured_s(self) -> float:
        """Return how long was measured, in seconds."""
        return sum(phase.duration_s for phase in self.measured)

    @property
    def flushes(self) -> tuple[Phase, ...]:
        """Return the flush behind each that was measured; raises FsgreenError if one lacks."""
        flushes = tuple(
            phase
            for before, phase in pairwise(self.phases)
            if before.name == "measure" and phase.name == "flush"
        )
        if len(flushes) == len(self.measured):
            return flushes
        if len(self.measured) == 1:
            return (self.phase("flush"),)
        raise FsgreenError(
            f"{len(self.measured)} windows have {len(flushes)} phases 'flush' behind them",
            where=f"the trial {self.trial}",
            next_step="leave the trial out: it ended between two windows",
        )

    @property
    def idle_spans_s(self) -> list[tuple[float, float]]:
        """Return begin and end of the phases before and after the work in which nothing is done."""
        return [phase.span_s for phase in self.phases if phase.name == "idle"]

    def but(self, **changes: Any) -> TrialRecord:
        """Return the record with other values."""
        return replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values; a number that is not known is null."""
        return {"schema": SCHEMA, **_adapter().dump_python(self, mode="json")}

    @classmethod
    def from_json(cls, text: str | bytes, where: Path) -> TrialRecord:
        """Read a record of this schema or an older one.

        `text` is what `trial.json` holds. An error names the folder `where`. Raises FsgreenError if
        it is not readable JSON, of an unknown schema, or lacks something or holds it in another
        type.
        """
        from pydantic import ValidationError
        from pydantic_core import from_json

        from fsgreen.schema import faults_of

        try:
            value = from_json(text)
        except ValueError as error:
            raise foreign(where, f"trial.json is not readable JSON: {error}") from error
        if not isinstance(value, dict):
            raise foreign(where, "trial.json does not hold a record")
        if value.get("schema") not in READABLE:
            known = " or ".join(map(str, READABLE))
            raise foreign(where, f"its schema is {value.get('schema')!r}, not {known}")
        try:
            return _adapter().validate_json(text, strict=True)
        except ValidationError as error:
            wrong = [fault.what for fault in faults_of(cls, error, value)]
            raise foreign(where, "of the record " + "; ".join(wrong[:3])) from error


@cache
def _adapter() -> TypeAdapter[TrialRecord]:
    from pydantic import TypeAdapter

    return TypeAdapter(TrialRecord)


def foreign(folder: Path, reason: str) -> FsgreenError:
    """Return the error of a folder that is not a whole trial."""
    return FsgreenError(
        f"not a whole trial of this project: {reason}",
        where=folder,
        next_step="move it out of the campaign; fsgreen unpack CAMPAIGN brings it back if packed",
    )
