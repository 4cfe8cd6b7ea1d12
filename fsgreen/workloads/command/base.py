"""What understands the results of a command: what every reader is, and the simplest one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fsgreen.trial import Phase, WorkSummary
from fsgreen.workloads.base import Outcome, WorkloadFailed, cost_of, of_whole_run
from fsgreen.workloads.process import Finished


@dataclass(frozen=True)
class Asked:
    """What a command was asked for.

    `name` is what the workload is called, and `seed` that of the trial. `variables` were put into
    the command. `timed` says whether the command was told the length of the run: otherwise it has
    an end of its own.
    """

    name: str
    seed: int
    variables: Mapping[str, Any]
    timed: bool


class Reader(Protocol):
    """Understands what one kind of command writes."""

    def check(self, program: str) -> None:
        """Raise FsgreenError where this program, or its version, cannot be understood."""

    def arguments(self, command: Sequence[str]) -> list[str]:
        """Return the command with what it takes to write results that can be read."""

    def outcome(self, done: Finished, asked: Asked) -> Outcome:
        """Return what the command did.

        Raises WorkloadFailed if it failed, was killed, or wrote something else.
        """


def failed(done: Finished, name: str) -> WorkloadFailed:
    """Return the error of a command that failed or was killed, in its own words."""
    how = f"ended with status {done.status}"
    if done.signal_name is not None:
        how = f"was ended by {done.signal_name}"
    said = (done.errors.strip() or done.output.strip()).splitlines()[-1:]
    return WorkloadFailed(
        f"the command of the workload {name} {how}" + "".join(f": {line}" for line in said),
        next_step="run the command by hand; dmesg says whether memory was short",
    )


class Elapsed:
    """Counts a whole run of the command as one operation; what it reads and writes is not known."""

    def check(self, program: str) -> None:
        """Accept every program."""

    def arguments(self, command: Sequence[str]) -> list[str]:
        """Return the command as it is."""
        return list(command)

    def outcome(self, done: Finished, asked: Asked) -> Outcome:
        """Return one operation, of the length of the run."""
        if done.status != 0 and not done.stopped:
            raise failed(done, asked.name)
        measured = Phase("measure", done.start_s, done.end_s)
        lengths_s = [] if done.stopped else [measured.duration_s]
        summary = WorkSummary(
            measured.duration_s,
            len(lengths_s),
            finished=not done.stopped,
            partial=done.stopped,
            reason="it was stopped" if done.stopped else None,
            seed=asked.seed,
            notes=("bytes read and written are not known",),
            cost=cost_of(done.usage),
            variables=asked.variables,
        )
        operation = (asked.name, "command", asked.name, "run")
        return of_whole_run(summary, measured, operation, lengths_s)
