"""What the workload of a trial did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ThreadWork:
    """The work of each instance of one kind of thread, and when it ended (rule 41).

    `ended_s` counts from the start of the phase `measure`; None ended before it.
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
    """What a run of a workload did within the measured interval."""

    duration_s: float
    work_ops: int
    read_b: int = 0
    write_b: int = 0
    errors: Mapping[str, int] = field(default_factory=dict)
    """Operations that failed, by name of errno."""
    skipped: int = 0
    """Operations for which there was no file."""
    threads: tuple[ThreadWork, ...] = ()
    finished: bool | None = None
    """Whether a fixed amount of work was done before the limit; None where there is none."""
    partial: bool = False
    """Whether it was cut short; `reason` says why."""
    reason: str | None = None
    engine: str = ""
    """What ran it, with its version."""
    seed: int | None = None
    notes: tuple[str, ...] = ()
    """What was asked for and could not be done."""
    cost: Cost = Cost()
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Those of the workload, with their values."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """What the workload counted beside its operations: columns of `trials.csv`."""

    @property
    def throughput_ops_s(self) -> float:
        """Return operations per second."""
        return self.work_ops / self.duration_s
