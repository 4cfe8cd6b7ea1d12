"""A command whose work is one thing done, and whose result is the time that it takes."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from fsgreen.trial import Cost, Phase, WorkSummary
from fsgreen.workloads.base import LATENCY_COLUMNS, Outcome
from fsgreen.workloads.command.base import Asked, failed
from fsgreen.workloads.process import Finished


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
        phases = [Phase("warmup", done.start_s, done.start_s)]
        phases.append(Phase("measure", done.start_s, done.end_s))
        duration_s, usage = done.end_s - done.start_s, done.usage
        work_ops = 0 if done.stopped else 1
        ops = {"time_s": [done.end_s], "duration_s": [duration_s], "work_ops": [work_ops]}
        duration_ns = int(1e9 * duration_s)
        bucket = (asked.name, "command", asked.name, "run", duration_ns, duration_ns + 1, work_ops)
        summary = WorkSummary(
            duration_s,
            work_ops,
            finished=not done.stopped,
            partial=done.stopped,
            reason="it was stopped" if done.stopped else None,
            seed=asked.seed,
            notes=("bytes read and written are not known",),
            cost=Cost(usage.ru_utime, usage.ru_stime, usage.ru_nvcsw, usage.ru_nivcsw),
            variables=asked.variables,
        )
        latency = pd.DataFrame([bucket] * work_ops, columns=list(LATENCY_COLUMNS))
        return Outcome(phases, pd.DataFrame(ops).assign(read_b=0, write_b=0), latency, summary)
