"""When a trial did what, and what was found then: phases, events, checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


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
class Beside:
    """The trials that one took turns with, window by window (rule 47).

    `trials` are all that were ready, this one included, in the order in which they were prepared.
    `order` has the place of each window of this trial in its round, from 1.
    """

    trials: tuple[str, ...]
    order: tuple[int, ...]


@dataclass(frozen=True)
class Event:
    """What was done to the device, the stack or the workload in the course of a phase."""

    name: str
    """What was done: `cable_out`."""
    phase: str
    """The phase in which it was to be done."""
    at_s: float
    """When, in seconds from the start of the phase, as the study declares it."""
    start_s: float
    end_s: float
    """When it was done, in host monotonic seconds."""
    fault: str | None = None
    """Why it could not be done."""


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
class Flush:
    """Dirty pages of all file systems before and after the phase `flush` (rule 12)."""

    dirty_before_b: int
    dirty_after_b: int


@dataclass(frozen=True)
class MemoryUse:
    """What a workload and its page cache had of a memory that was bounded.

    `limit_b` is the bound, and `peak_b` the most that was in use. The kernel had to take memory
    back because of the bound `reached_count` times.
    """

    limit_b: int
    peak_b: int
    reached_count: int


@dataclass(frozen=True)
class HarnessCost:
    """What the harness took of one core while the workload ran (rule 20)."""

    LIMIT_PERCENT: ClassVar[float] = 5.0
    """What capturing may cost of one core."""

    cpu_s: float
    cpu_percent: float

    @classmethod
    def over(cls, ran_s: float, cpu_s: float) -> HarnessCost:
        """Return the cost of so much time of a processor, spent while something ran for `ran_s`."""
        return cls(cpu_s, 100 * cpu_s / ran_s)
