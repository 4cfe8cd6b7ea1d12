"""Several workloads at once, each in a folder of its own."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen.errors import FsgreenError
from fsgreen.trial import Cost, Phase, WorkSummary
from fsgreen.workloads.base import COUNTED, Outcome, Workload


class Together:
    """Workloads that run at the same time; their operations are added up.

    The measured interval lasts from the first that begins it to the last that ends it, so that all
    their work is in it. Processes in tables are called `WORKLOAD/PROCESS`.
    """

    def __init__(self, name: str, parts: Sequence[Workload]) -> None:
        self.name = name
        self._parts = {part.name: part for part in parts}
        if len(self._parts) < max(2, len(parts)):
            raise FsgreenError(
                f"the workload {name} runs several others at once, each of them one time",
                where=", ".join(part.name for part in parts),
                next_step="declare the same command under two names to run it twice",
            )

    @property
    def size_b(self) -> int:
        """Bytes of the files of all."""
        return sum(part.size_b for part in self._parts.values())

    def text_sha256(self) -> str:
        """Return the SHA-256 of those of all."""
        texts = (f"{name} {part.text_sha256()}\n" for name, part in self._parts.items())
        return hashlib.sha256("".join(texts).encode()).hexdigest()

    def check(self) -> None:
        """Check each."""
        for part in self._parts.values():
            part.check()

    def events(self) -> dict[str, Callable[[], None]]:
        """Return the events that they offer."""
        offered: dict[str, Callable[[], None]] = {}
        for part in self._parts.values():
            offered |= getattr(part, "events", dict)()
        return offered

    def prepare(self, directory: Path, seed: int) -> dict[str, Any]:
        """Make the files of each in turn; return what was made, by workload."""
        made = {}
        for name, part in self._parts.items():
            (directory / name).mkdir()
            made[name] = part.prepare(directory / name, seed)
        return made

    def run(
        self,
        directory: Path,
        seed: int,
        warmup_s: float,
        measure_s: float,
        load_ops_s: float | None = None,
        stop: threading.Event | None = None,
    ) -> Outcome:
        """Run all; where one fails, the others are stopped too. See `base.Workload.run`.

        A limit of the load is that of each.
        """
        stop = stop or threading.Event()

        def work(name: str) -> Outcome:
            try:
                return self._parts[name].run(
                    directory / name, seed, warmup_s, measure_s, load_ops_s, stop
                )
            except BaseException:
                stop.set()
                raise

        with ThreadPoolExecutor(len(self._parts)) as pool:
            # A thread begins without the bound of memory that this one has entered.
            running = {name: pool.submit(copy_context().run, work, name) for name in self._parts}
            try:
                return _merged({name: future.result() for name, future in running.items()}, seed)
            finally:
                if any(not future.done() for future in running.values()):
                    stop.set()


def _merged(outcomes: Mapping[str, Outcome], seed: int) -> Outcome:
    measured = [outcome.phases[-1] for outcome in outcomes.values()]
    start_s = min(phase.start_s for phase in measured)
    end_s = max(phase.end_s for phase in measured)
    begin_s = min(outcome.phases[0].start_s for outcome in outcomes.values())
    phases = [Phase("warmup", begin_s, start_s), Phase("measure", start_s, end_s)]
    latency = pd.concat(
        outcome.latency.assign(process=name + "/" + outcome.latency["process"].astype(str))
        for name, outcome in outcomes.items()
    )
    summaries = {name: outcome.summary for name, outcome in outcomes.items()}
    ops = _added([outcome.ops for outcome in outcomes.values()], start_s)
    return Outcome(
        phases, ops, latency.reset_index(drop=True), _summary(summaries, seed, end_s - start_s)
    )


def _added(series: Sequence[pd.DataFrame], start_s: float) -> pd.DataFrame:
    """Return the nth intervals of several series added up; each ends with the last of them."""
    rows = pd.concat(ops.reset_index(drop=True) for ops in series)
    counts = rows.groupby(rows.index)[list(COUNTED)].sum()
    ends_s = rows.groupby(rows.index)["time_s"].max().cummax()
    lengths_s = ends_s.diff().fillna(ends_s - start_s).rename("duration_s")
    return pd.concat([ends_s, lengths_s, counts], axis=1)


def _summary(parts: Mapping[str, WorkSummary], seed: int, duration_s: float) -> WorkSummary:
    several = parts.values()
    errors: dict[str, int] = {}
    for part in several:
        for name, count in part.errors.items():
            errors[name] = errors.get(name, 0) + count
    ends = {part.finished for part in several}
    reasons = [f"{name}: {part.reason}" for name, part in parts.items() if part.reason]
    added = ("user_s", "system_s", "voluntary_switches", "involuntary_switches")
    return WorkSummary(
        duration_s,
        sum(part.work_ops for part in several),
        sum(part.read_b for part in several),
        sum(part.write_b for part in several),
        errors=errors,
        skipped=sum(part.skipped for part in several),
        threads=tuple(
            replace(kind, process=f"{name}/{kind.process}")
            for name, part in parts.items()
            for kind in part.threads
        ),
        finished=False if False in ends else None if None in ends else True,
        partial=any(part.partial for part in several),
        reason="; ".join(reasons) or None,
        engine=" + ".join(dict.fromkeys(part.engine for part in several if part.engine)),
        seed=seed,
        notes=tuple(f"{name}: {note}" for name, part in parts.items() for note in part.notes),
        cost=Cost(**{name: sum(getattr(part.cost, name) for part in several) for name in added}),
        variables={name: part.variables for name, part in parts.items()},
    )
