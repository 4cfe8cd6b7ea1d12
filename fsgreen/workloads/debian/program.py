"""What both workloads of Debian's packages have in common: files, and one run of a command."""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fsgreen import commands, elsewhere, paths
from fsgreen.debian import Package
from fsgreen.errors import FsgreenError
from fsgreen.workloads.base import Outcome, WorkloadFailed
from fsgreen.workloads.command import CommandWorkload
from fsgreen.workloads.debian import files
from fsgreen.workloads.debian.files import Files

LONGEST_S = 3600.0


class OfPackages(ABC):
    """Files of Debian's packages, and a command on them that ends by itself: one operation.

    `asked` are the packages by name, without those that they need; none stands for all. The files
    follow from `recipe`. `size_mib` is their size, for the checks that are done before they are
    made.
    """

    def __init__(
        self,
        name: str,
        scale: float,
        levels: Mapping[str, Any],
        asked: Sequence[str],
        recipe: Mapping[str, Any],
        command: list[str],
        size_mib: int,
    ) -> None:
        self.name = name
        self._scale, self._asked, self._recipe, self._size_mib = scale, asked, recipe, size_mib
        self._command = CommandWorkload(name, {"command": command}, scale, levels)

    @property
    def size_b(self) -> int:
        """Bytes of the files, as declared; 0 where the study does not say."""
        return self._size_mib << 20

    def text_sha256(self) -> str:
        """Return the SHA-256 of the packages, of what is done, and of files that were changed.

        What `configure` makes differs from machine to machine: so files count only if they are no
        longer as they were made.
        """
        made = self._files.record
        now = files.digest(self._files.folder)
        known = [made["recipe"], made["packages"], self._command.text_sha256()]
        known += [now] if now != made["files_sha256"] else []
        return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()

    def check(self) -> None:
        """Check that a trial can run here, and make the files in the cache if need be.

        Raises FsgreenError if a program is missing, a package is not to be had, or the files in the
        cache were changed.
        """
        if elsewhere.place() is not None:
            raise FsgreenError(
                f"the files of the workload {self.name} are made on this machine, not in a guest",
                next_step="take another testbed than vm, or leave the workload out of the profile",
            )
        if self._scale != 1:
            raise FsgreenError(
                f"the workload {self.name} has one size: that of its packages",
                where=f"scale of {self.name} in the profile: {self._scale:g}",
                next_step="leave its scale out, or say 1",
            )
        for program in self.needs():
            if "/" not in program and paths.program(program) is None:
                raise FsgreenError(
                    f"the workload {self.name} needs {program}, which is not installed",
                    next_step=commands.remedy(program),
                )
        self._command.check()
        self._files.check()

    @abstractmethod
    def needs(self) -> Sequence[str]:
        """Return the programs of this machine that a trial runs."""

    def prepare(self, directory: Path, seed: int) -> dict[str, Any]:
        """Copy the files; return how long it took.

        Before the first trial the command is run once elsewhere. So all that it reads of this
        machine is in memory then, as it is before the others.
        """
        start_s = time.monotonic()
        _ = self._tried
        self._files.copy(directory)
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
        outcome = self._command.run(directory, seed, warmup_s, measure_s, load_ops_s, stop)
        packages = self._files.record["packages"]
        versions = ", ".join(
            f"{name} {packages[name]['version']}" for name in self._asked or packages
        )
        return replace(outcome, summary=replace(outcome.summary, engine=versions))

    @abstractmethod
    def make(self, into: Path) -> list[Package]:
        """Make the files in a folder, which is not there yet; return the packages they are of."""

    @cached_property
    def _tried(self) -> Outcome:
        with tempfile.TemporaryDirectory() as place:
            self._files.copy(Path(place))
            try:
                return self.run(Path(place), 0, 0.0, LONGEST_S)
            except WorkloadFailed as error:
                raise FsgreenError(
                    f"the workload {self.name} does not run here: {error.what}",
                    where=error.where,
                    next_step=error.next_step,
                ) from error

    @cached_property
    def _files(self) -> Files:
        return files.made(self.name, self._recipe, self.make)
