"""What understands the results of a command, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fsgreen.workloads.base import Outcome
from fsgreen.workloads.command import elapsed, fio
from fsgreen.workloads.named import load
from fsgreen.workloads.process import Finished

GROUP = "fsgreen.workload_readers"
"""Entry points of readers from other packages."""


@dataclass(frozen=True)
class Asked:
    """What a command was asked for.

    Attributes
    ----------
    name : str
        What the workload is called.
    seed : int
        Of the trial.
    variables : mapping
        What was put into the command.
    timed : bool
        Whether the command was told the length of the run: otherwise it has an end of its own.
    """

    name: str
    seed: int
    variables: Mapping[str, Any]
    timed: bool


class Reader(Protocol):
    """Understands what one kind of command writes."""

    def check(self, program: str) -> None:
        """Raise FsgreenError where this program, or its version, cannot be understood."""
        ...

    def arguments(self, command: Sequence[str]) -> list[str]:
        """Return the command with what it takes to write results that can be read."""
        ...

    def outcome(self, done: Finished, asked: Asked) -> Outcome:
        """Return what the command did.

        Raises
        ------
        WorkloadFailed
            If it failed, was killed, or wrote something else.
        """
        ...


def reader(name: str) -> Reader:
    """Return a reader by its name, or by `module:callable`; raises FsgreenError without one."""
    made: Reader = load(name, GROUP, {"fio": fio.Fio, "elapsed": elapsed.Elapsed})()
    return made
