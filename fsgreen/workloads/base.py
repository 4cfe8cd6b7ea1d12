"""What every workload is: files that it prepares, and work on them that it measures."""

from __future__ import annotations

import resource
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import pandas as pd

from fsgreen.errors import TrialFailed
from fsgreen.trial import Cost, Phase, WorkSummary


class WorkloadFailed(TrialFailed):
    """A run that cannot be told from: its trial does not count, and runs again."""


@dataclass(frozen=True)
class Outcome:
    """What a run did."""

    phases: list[Phase]
    """`warmup` and `measure`, in seconds of `time.monotonic()`."""
    ops: pd.DataFrame
    """One row for each second of the measured interval: `time_s` (its end), `duration_s`,
    `work_ops`, `read_b`, `write_b`."""
    latency: pd.DataFrame
    """Non-empty histogram buckets of the operations that count as work: `process`, `thread`,
    `flowop`, `operation`, `lower_ns`, `upper_ns` (itself outside), `work_ops`."""
    summary: WorkSummary
    """The measured interval in numbers."""


COUNTED = ("work_ops", "read_b", "write_b")
"""What is counted in a turn and in each second of a series."""


@dataclass(frozen=True)
class Turn:
    """What a run did in one of its turns; times are seconds of `time.monotonic()`."""

    start_s: float
    end_s: float
    work_ops: int
    read_b: int
    write_b: int


class Turns(Protocol):
    """A run that works and stands still as it is told; between turns its clock stands too."""

    def turn(self, length_s: float) -> Turn:
        """Work for so long, and stand still again; raises as `Workload.run` does."""

    def outcome(self, windows: Sequence[Turn]) -> Outcome:
        """End the run; return what it did in these of its turns, which are what is measured.

        `phases` and `ops` have a row for each of them. Raises as `Workload.run` does.
        """


@runtime_checkable
class TakesTurns(Protocol):
    """A workload of which several runs can take turns."""

    def turns(
        self, directory: Path, seed: int, warmup_s: float, load_ops_s: float | None = None
    ) -> AbstractContextManager[Turns]:
        """Begin a run on files that `prepare` made with this seed; it ends with the block.

        What is done in the first `warmup_s` of its turns counts nothing.
        """


LATENCY_COLUMNS = ("process", "thread", "flowop", "operation", "lower_ns", "upper_ns", "work_ops")


def of_whole_run(
    summary: WorkSummary,
    measured: Phase,
    operation: tuple[str, str, str, str],
    lengths_s: Sequence[float],
) -> Outcome:
    """Return the outcome of a run that has no warm-up and is one interval of the series.

    `operation` is what each operation is called, the first of `LATENCY_COLUMNS`; `lengths_s` is how
    long each took.
    """
    counts = {name: [getattr(summary, name)] for name in COUNTED}
    lengths_ns = [int(1e9 * length_s) for length_s in lengths_s]
    return Outcome(
        [Phase("warmup", measured.start_s, measured.start_s), measured],
        pd.DataFrame({"time_s": [measured.end_s], "duration_s": [summary.duration_s], **counts}),
        pd.DataFrame(
            [(*operation, length_ns, length_ns + 1, 1) for length_ns in lengths_ns],
            columns=list(LATENCY_COLUMNS),
        ),
        summary,
    )


def cost_of(*usages: resource.struct_rusage) -> Cost:
    """Return what processes took of the processors together."""
    names = ("ru_utime", "ru_stime", "ru_nvcsw", "ru_nivcsw")
    return Cost(*(sum(getattr(usage, name) for usage in usages) for name in names))


def refuse_full(summary: WorkSummary, name: str, directory: Path) -> None:
    """Raise WorkloadFailed where operations failed because the file system is full."""
    if full := summary.errors.get("ENOSPC", 0):
        raise WorkloadFailed(
            f"the file system is full: {full} operations of {name} failed",
            where=directory,
            next_step="choose a smaller scale, a shorter run or a larger file system",
        )


@runtime_checkable
class Workload(Protocol):
    """Work to measure. `prepare` and `run` belong together through directory and seed.

    One that offers events has `events() -> Mapping[str, Callable[[], None]]` as well
    (`campaign.events`); one whose runs can take turns is a `TakesTurns`.
    """

    name: str

    @property
    def size_b(self) -> int:
        """Bytes of the files at this scale; 0 where that is not known."""

    def text_sha256(self) -> str:
        """Return the SHA-256 of the text that says what it does, read anew each time.

        Raises FsgreenError if the text cannot be read.
        """

    def check(self) -> None:
        """Check what can be known without touching a directory.

        Raises FsgreenError if the workload cannot run; the error says how to mend it.
        """

    def prepare(self, directory: Path, seed: int) -> dict[str, Any]:
        """Create the files, the same for the same seed; return what was created.

        Raises FsgreenError if the directory or its free space does not allow it.
        """

    def run(
        self,
        directory: Path,
        seed: int,
        warmup_s: float,
        measure_s: float,
        load_ops_s: float | None = None,
        stop: threading.Event | None = None,
    ) -> Outcome:
        """Work on files that `prepare` made with this seed.

        `seed` is as given to `prepare`. Work begins `warmup_s` before the measured interval of
        `measure_s` seconds. `load_ops_s` is the limit of the operations per second; None is as fast
        as it goes. `stop` ends the run early once it is set; the outcome is then partial. Raises
        FsgreenError if the files are not as prepared, the disk is full, or the engine fails. Raises
        WorkloadFailed if what it did cannot be told, so that this trial alone does not count.
        """
