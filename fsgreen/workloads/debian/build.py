"""A source package of Debian that is compiled."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fsgreen import commands, paths
from fsgreen.debian import Package
from fsgreen.errors import FsgreenError
from fsgreen.workloads.base import Outcome, WorkloadFailed
from fsgreen.workloads.debian.files import FOLDER, apt
from fsgreen.workloads.debian.program import OfPackages

COMPILER = "cc"
TOLD = (
    *(
        "AR",
        "CC",
        "CFLAGS",
        "CONFIG_SITE",
        "CPATH",
        "CPPFLAGS",
        "CXX",
        "CXXFLAGS",
        "C_INCLUDE_PATH",
    ),
    *("GNUMAKEFLAGS", "LD", "LDFLAGS", "LIBRARY_PATH", "MAKEFLAGS", "MAKELEVEL"),
)
"""Variables that would make another program, or another compilation, of a user's own."""


class Build(OfPackages):
    """A source package of Debian, compiled: one operation.

    `source` is its name. `configure` is run once in its folder, in the cache. `command` is run in
    the copy of each trial, with this machine's compiler, and `makes` is a file that it makes: not
    there before, and there afterwards.
    """

    def __init__(
        self,
        name: str,
        scale: float,
        levels: Mapping[str, Any],
        source: str,
        makes: str,
        configure: Sequence[str] = (),
        command: Sequence[str] = ("make",),
        size_mib: int = 0,
    ) -> None:
        self._source, self._configure, self._makes = source, list(configure), makes
        self._program = command[0]
        recipe = {"source": source, "configure": self._configure, "compiler": _compiler()}
        inside = ["env", f"--chdir={{directory}}/{FOLDER}", *_without_own(), *command]
        super().__init__(name, scale, levels, (), recipe, inside, size_mib)

    def needs(self) -> Sequence[str]:
        """Return the programs of this machine that a trial runs."""
        return ("dpkg-source", COMPILER, self._program)

    def run(
        self,
        directory: Path,
        seed: int,
        warmup_s: float,
        measure_s: float,
        load_ops_s: float | None = None,
        stop: threading.Event | None = None,
    ) -> Outcome:
        """Compile it; see `base.Workload.run`."""
        result = directory / FOLDER / self._makes
        again = "change configure or `makes` of the workload in the study"
        if result.exists():
            raise WorkloadFailed(
                f"{self._makes} was there before it was made", where=result, next_step=again
            )
        outcome = super().run(directory, seed, warmup_s, measure_s, load_ops_s, stop)
        if outcome.summary.finished and not result.exists():
            raise WorkloadFailed(f"{self._makes} was not made", where=result, next_step=again)
        return outcome

    def make(self, into: Path) -> list[Package]:
        """Unpack and configure the sources in a new folder; return their package."""
        package = apt("sources", self.name, "deb-src").source(self._source)
        commands.run(["dpkg-source", "--extract", str(package.file), str(into)])
        if self._configure:
            done = subprocess.run(
                ["env", *_without_own(), *self._configure],
                cwd=into,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                check=False,
            )
            if done.returncode:
                said = [line for line in done.stderr.splitlines() if "error" in line.lower()]
                raise FsgreenError(
                    f"the sources of {self._source} cannot be configured: "
                    f"{(said or done.stderr.splitlines() or ['no reason given'])[-1].strip()}",
                    where=" ".join(self._configure),
                    next_step="install what it names, or change configure in the study",
                )
        return [package]


def _without_own() -> list[str]:
    """Return arguments of `env` that leave out what a user's environment says of compilations."""
    return [*(word for name in TOLD for word in ("-u", name)), "CCACHE_DISABLE=1", "LC_ALL=C"]


def _compiler() -> str:
    """Return the version of the compiler; "" if there is none."""
    program = paths.program(COMPILER)
    if program is None:
        return ""
    said = subprocess.run(
        [program, "--version"],
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
        check=False,
    )
    return said.stdout.partition("\n")[0]
