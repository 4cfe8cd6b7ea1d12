"""A run of the program `fsgreen-wml` that works in turns."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pandas as pd

from fsgreen.trial import Phase
from fsgreen.units import NS_PER_S
from fsgreen.workloads import process
from fsgreen.workloads.base import COUNTED, Outcome, Turn, WorkloadFailed
from fsgreen.workloads.wml import engine

OVERDUE_S = 120.0
"""How much later than its turn ends a run may answer: before its first it looks at its files, and
operations that are under way when it ends may be slow."""


class EngineTurns:
    """A run that stands still until it is given a turn; see `base.Turns`.

    It has pipes in and out, and writes its report to the file `results`. `conclude` makes an
    outcome of that and the turns that are measured.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        errors: IO[bytes],
        results: Path,
        conclude: Callable[[Mapping[str, Any], Sequence[Turn]], Outcome],
    ) -> None:
        self._process, self._conclude = process, conclude
        self._errors, self._results = errors, results
        self._unread = b""

    def turn(self, length_s: float) -> Turn:
        """Work for so long, and stand still again.

        Raises FsgreenError if the program failed, with its own words. Raises WorkloadFailed if the
        run ended before, by itself, or does not answer.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{length_s!r}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # what it says last tells why
        said = self._line(length_s + OVERDUE_S)
        if "start_ns" not in said:
            raise WorkloadFailed(
                f"the run ended before its turns: {_reason(said)}",
                next_step="windows need a workload that goes on until it is told to end",
            )
        return Turn(
            said["start_ns"] / NS_PER_S,
            said["end_ns"] / NS_PER_S,
            **{name: said[name] for name in COUNTED},
        )

    def outcome(self, windows: Sequence[Turn]) -> Outcome:
        """End the run; return what it did in these of its turns. Raises as `turn` does."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._conclude(self._line(OVERDUE_S), windows)

    def _line(self, limit_s: float) -> dict[str, Any]:
        """Return the program's next answer, or its report if it has ended."""
        assert self._process.stdout is not None
        output = self._process.stdout.fileno()
        deadline_s = time.monotonic() + limit_s
        while b"\n" not in self._unread:
            left_s = max(0.0, deadline_s - time.monotonic())
            readable, _, _ = select.select([output], [], [], left_s)
            if not readable:
                raise WorkloadFailed(
                    f"the workload engine did not answer within {limit_s:.0f} s",
                    next_step="dmesg says whether the device failed or memory was short",
                )
            piece = os.read(output, 1 << 16)
            if not piece:
                return self._last_words()
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        told: dict[str, Any] = json.loads(line)
        return told

    def _last_words(self) -> dict[str, Any]:
        """Return the report of a program that has ended; raise what it complained of."""
        status = self._process.wait()
        self._errors.seek(0)
        return engine.report_of(
            self._results.read_text() if self._results.exists() else "",
            self._errors.read().decode(errors="replace"),
            status,
        )


@contextmanager
def begun(
    arguments: Sequence[str], conclude: Callable[[Mapping[str, Any], Sequence[Turn]], Outcome]
) -> Iterator[EngineTurns]:
    """Start `fsgreen-wml run` in turns; nothing of it is left when the block ends.

    Raises FsgreenError if the program is not installed.
    """
    command = [engine.require(), "run", *arguments, "--turns", "--die-with-parent"]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
        results = Path(folder) / "results.json"
        command.append(f"--json={results}")
        with process.started(command, subprocess.PIPE, errors, stdin=subprocess.PIPE) as started:
            yield EngineTurns(started, errors, results, conclude)


def _reason(report: Mapping[str, Any]) -> str:
    reasons = [run["reason"] for run in report.get("runs", ()) if run.get("reason")]
    return "; ".join(reasons) or str(report.get("reason") or "its work was done")


def in_windows(whole: Outcome, windows: Sequence[Turn]) -> Outcome:
    """Return what was done in some turns of a run.

    It is what the run had recorded when each of them ended. Its own sums hold more: what was done
    between the end of the warm-up and that of its turn, and operations that had ended in the last
    turn and were not recorded yet. Of the processors' time these turns get the share of their work.
    """
    phases = [Phase("measure", turn.start_s, turn.end_s) for turn in windows]
    ops = pd.DataFrame(
        {
            "time_s": pd.Series([phase.end_s for phase in phases], dtype=float),
            "duration_s": pd.Series([phase.duration_s for phase in phases], dtype=float),
            **{
                name: pd.Series([getattr(turn, name) for turn in windows], dtype="int64")
                for name in COUNTED
            },
        }
    )
    sums = {name: int(ops[name].sum()) for name in COUNTED}
    duration_s = sum(phase.duration_s for phase in phases)
    share = sums["work_ops"] / (whole.summary.work_ops or 1)
    cost = whole.summary.cost
    cost = replace(cost, user_s=share * cost.user_s, system_s=share * cost.system_s)
    changes: dict[str, Any] = {**sums, "duration_s": duration_s, "finished": None, "cost": cost}
    return Outcome(phases, ops, whole.latency, replace(whole.summary, **changes))
