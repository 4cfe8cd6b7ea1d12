"""Running what is compared: the engine and the loops in C, with what each used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.workloads import engine

SOURCES = Path(__file__).parent / "loop"
POLL_S = 0.02


@dataclass(frozen=True)
class Used:
    """What a program printed and used, all processes that it waited for included."""

    output: str
    wall_s: float
    user_s: float
    system_s: float


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


def run(command: Sequence[str], watch: Callable[[int], None] | None = None) -> Used:
    """Run a program to its end.

    The kernel knows the sum of user and system time to the nanosecond; how it divides into the two
    is sampled at each clock tick, unless the kernel accounts at every entry (getrusage(2)).

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    watch : callable, optional
        Called with the number of the process every `POLL_S` seconds while it runs.

    Raises
    ------
    FsgreenError
        If it ends with a status other than 0.
    """
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        start_s = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        try:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG if watch else 0)
            while watch and pid == 0:
                watch(process.pid)
                time.sleep(POLL_S)
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        except BaseException:
            process.terminate()
            process.wait()
            raise
        wall_s = time.perf_counter() - start_s
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            raise FsgreenError(
                f"{command[0]} ended with status {process.returncode}: {errors.read().strip()}",
                where=" ".join(command),
            )
        return Used(output.read(), wall_s, usage.ru_utime, usage.ru_stime)


def first_run(report: dict[str, Any]) -> dict[str, Any]:
    """Return the first run of a report; each text here has one.

    Raises
    ------
    FsgreenError
        If it ended early: a cut run is not compared.
    """
    result: dict[str, Any] = report["runs"][0]
    if result["partial"]:
        raise FsgreenError(f"the run ended early: {result['reason']}", where=report["file"])
    return result


def prepare(text: Path) -> Used:
    """Make the trees of a text."""
    return run([engine.require(), "prepare", str(text)])


def by_engine(text: Path) -> Work:
    """Make the trees of a text anew, then run it; the times are those of the run alone.

    They include the start and the end of the program.
    """
    prepare(text)
    used = run([engine.require(), "run", str(text), "--prepared"])
    measure = first_run(json.loads(used.output))["measure"]
    return Work(measure["work_ops"], measure["duration_s"], used.user_s, used.system_s)


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
    used = run([loop, kind, str(tree), str(threads), str(seconds)])
    operations, duration_s = used.output.split()
    return Work(int(operations), float(duration_s), used.user_s, used.system_s)
