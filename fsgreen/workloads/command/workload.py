"""A workload that a study declares as a command."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from fsgreen import paths
from fsgreen.errors import FsgreenError, unknown
from fsgreen.workloads import process
from fsgreen.workloads.base import Outcome, refuse_full
from fsgreen.workloads.command.base import Asked, Elapsed, Reader, failed
from fsgreen.workloads.command.fio import Fio
from fsgreen.workloads.driver import load

READERS: Mapping[str, type[Reader]] = {"fio": Fio, "elapsed": Elapsed}
GROUP = "fsgreen.workload_readers"
"""Entry points of readers from other packages."""

PLACE = re.compile(r"\{(\w+)\}")
"""Where a value stands in an argument."""

OF_A_RUN = ("directory", "seed", "scale", "warmup_s", "measure_s", "load_ops_s")
"""What every command can be told, beside the levels of its factors."""

SLACK_S = 60.0
"""How much longer than twice its time a command may take before it counts as hanging."""


class CommandWorkload:
    """A command, with levels put where its arguments name them in braces.

    An argument that names something which the cell does not set, such as `--rate={load_ops_s}`
    where there is no limit, is left out.

    `declared` has `command` and, if there is one, `prepare`: lists of arguments; `reader`: what
    understands its results; and `size_mib`: the size of its files. `scale` is the profile's, for
    `{scale}`. `levels` are those of the factors of workloads, by name; None is not set.
    """

    def __init__(
        self, name: str, declared: Mapping[str, Any], scale: float, levels: Mapping[str, Any]
    ) -> None:
        self.name = name
        self._declared = declared
        self._variables = {**levels, "scale": scale}

    @property
    def size_b(self) -> int:
        """Bytes of the files, as declared; 0 where the study does not say."""
        return int(self._declared.get("size_mib", 0) * 2**20)

    def text_sha256(self) -> str:
        """Return the SHA-256 of the declaration."""
        text = json.dumps(dict(self._declared), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def check(self) -> None:
        """Check that the programs are there, and that every value is known."""
        for part in ("prepare", "command"):
            if command := self._declared.get(part):
                self._filled(command, dict.fromkeys(OF_A_RUN, 0))
                self._program(command)
        self._program(process.GUARD)
        self._reader.check(self._program(self._declared["command"]))

    def prepare(self, directory: Path, seed: int) -> dict[str, Any]:
        """Run the command that makes the files, if there is one; return how long it took."""
        start_s = time.monotonic()
        if command := self._declared.get("prepare"):
            done = process.run(self._guarded(self._filled(command, _of_files(directory, seed))))
            if done.status != 0:
                raise failed(done, self.name)
        return {"duration_s": time.monotonic() - start_s}

    def run(
        self,
        directory: Path,
        seed: int,
        warmup_s: float,
        measure_s: float,
        load_ops_s: float | None = None,
        stop: threading.Event | None = None,
    ) -> Outcome:
        """Run the command; see `base.Workload.run`."""
        lengths = {"warmup_s": warmup_s, "measure_s": measure_s, "load_ops_s": load_ops_s}
        told = {**_of_files(directory, seed), **lengths}
        declared = self._declared["command"]
        command = self._reader.arguments(self._filled(declared, told))
        limit_s = 2 * (warmup_s + measure_s) + SLACK_S
        done = process.run(self._guarded(command), stop, limit_s=limit_s, directory=directory)
        set_ = {name: value for name, value in self._variables.items() if value is not None}
        timed = any("{measure_s}" in argument for argument in declared)
        outcome = self._reader.outcome(done, Asked(self.name, seed, set_, timed))
        refuse_full(outcome.summary, self.name, directory)
        return outcome

    def _filled(self, command: Sequence[str], told: Mapping[str, Any]) -> list[str]:
        values = {**self._variables, **told}
        filled = []
        for argument in command:
            names = PLACE.findall(argument)
            for name in names:
                if name not in {*values, *OF_A_RUN}:
                    raise unknown(
                        "value in braces",
                        name,
                        {*values, *OF_A_RUN},
                        where=f"workload {self.name}: {argument}",
                        next_step="name one of these, or declare a factor of the owner workload",
                    )
            if all(values.get(name) is not None for name in names):
                filled.append(PLACE.sub(lambda found: _spelt(values[found[1]]), argument))
        return filled

    def _guarded(self, command: Sequence[str]) -> list[str]:
        return [*process.GUARD, self._program(command), *command[1:]]

    def _program(self, command: Sequence[str]) -> str:
        program = paths.program(command[0])
        if program is None:
            raise FsgreenError(
                f"the program {command[0]} of the workload {self.name} is not installed",
                next_step=f"install it, as by: apt-get install {Path(command[0]).name}",
            )
        return program

    @cached_property
    def _reader(self) -> Reader:
        made: Reader = load(self._declared.get("reader", "elapsed"), GROUP, READERS)()
        return made


def _of_files(directory: Path, seed: int) -> dict[str, Any]:
    return {"directory": directory, "seed": seed}


def _spelt(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return f"{value:.15g}" if isinstance(value, float) else str(value)
