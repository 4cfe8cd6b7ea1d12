"""What is compared: the engine and the loops in C."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.processes import Used, run
from fsgreen.errors import FsgreenError
from fsgreen.workloads.wml import engine

SOURCES = Path(__file__).parent / "loop"


@dataclass(frozen=True)
class Work:
    """Operations, the time in which they were done, and the processor time that they took."""

    work_ops: int
    duration_s: float
    user_s: float
    system_s: float

    @property
    def throughput_ops_s(self) -> float:
        """Operations per second."""
        return self.work_ops / self.duration_s

    @property
    def user_us(self) -> float:
        """Microseconds of user time per operation."""
        return self.user_s / self.work_ops * 1e6

    @property
    def cpu_us(self) -> float:
        """Microseconds of user and system time per operation."""
        return (self.user_s + self.system_s) / self.work_ops * 1e6


def first_run(report: dict[str, Any]) -> dict[str, Any]:
    """Return the first run of a report; each text here has one.

    Raises FsgreenError if it ended early: a cut run is not compared.
    """
    result: dict[str, Any] = report["runs"][0]
    if result["partial"]:
        raise FsgreenError(f"the run ended early: {result['reason']}", where=report["file"])
    return result


def program() -> str:
    """Return the path of the engine: the one on PATH, so that any build can be measured."""
    return shutil.which(engine.PROGRAM) or engine.require()


def prepare(text: Path) -> Used:
    """Make the trees of a text."""
    return run([program(), "prepare", str(text)])


def by_engine(text: Path) -> tuple[Work, Used]:
    """Make the trees of a text anew, then run it.

    Returns
    -------
    Work
        The measured interval, with the processor time that the engine reports for it.
    Used
        The whole program, its start and end included, as the kernel accounts for it.
    """
    prepare(text)
    used = run([program(), "run", str(text), "--prepared"])
    first = first_run(json.loads(used.output))
    measure, cost = first["measure"], first["cost"]
    work = Work(measure["work_ops"], measure["duration_s"], cost["user_s"], cost["system_s"])
    return work, used


def build_loop(name: str, folder: Path) -> str:
    """Compile a loop of this package into a folder and return the path of the program."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise FsgreenError("no C compiler", next_step="apt-get install gcc, or name one with CC")
    program, source = folder / name, SOURCES / f"{name}.c"
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread"]
    run([compiler, *flags, "-o", str(program), str(source)])
    return str(program)


def by_loop(loop: str, kind: str, tree: Path, threads: int, seconds: float) -> Work:
    """Run the loop `operations` over the files of a tree."""
    output = run([loop, kind, str(tree), str(threads), str(seconds)]).output
    operations, duration_s, user_s, system_s = output.split()
    return Work(int(operations), float(duration_s), float(user_s), float(system_s))
