"""Workloads in the Workload Model Language, run by the program `fsgreen-wml`."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import elsewhere, paths
from fsgreen.errors import FsgreenError
from fsgreen.trial import Cost, Phase, ThreadWork, WorkSummary, sha256_of
from fsgreen.units import NS_PER_S
from fsgreen.workloads.base import COUNTED, LATENCY_COLUMNS, Outcome, Turn, Turns, refuse_full
from fsgreen.workloads.wml import engine
from fsgreen.workloads.wml.turns import begun, in_windows


class WmlWorkload:
    """A text in the Workload Model Language at a scale.

    The text has one `run`, its directory is `$dir`. If it can be scaled, `$scale` says how far; if
    its rate can be limited, `$load` is the limit in operations per second. `scale` is the share of
    the full size: of the number of files, or of the size of a database; 1 leaves the text as it is.
    `variables` are values of further variables of the text.
    """

    def __init__(
        self, name: str, file: Path, scale: float, variables: Mapping[str, object] | None = None
    ) -> None:
        if not scale > 0:
            raise FsgreenError(
                f"the scale of a workload must be above 0, but this is {scale:g}",
                where=name,
                next_step="use a scale such as 0.1, a tenth of the published size",
            )
        self.name = name
        self.file = file
        self.scale = scale
        scaled = {} if scale == 1 else {"scale": scale}
        self._variables = {
            name: str(value) for name, value in {**scaled, **(variables or {})}.items()
        }

    @property
    def size_b(self) -> int:
        """Bytes of the files at this scale, all existing, in the mean.

        A web server's log and a mail server's messages grow while they work; that is not in here.
        """
        return int(self._model["size_b"])

    def text_sha256(self) -> str:
        """Return the SHA-256 of the text as it is now."""
        try:
            return sha256_of(self.file)
        except OSError as error:
            raise FsgreenError(
                f"the text of the workload {self.name} cannot be read: {error.strerror}",
                where=self.file,
                next_step="put it back, then start the same command again",
            ) from error

    def check(self) -> None:
        """Check that the engine is installed and accepts the text."""
        engine.require()
        assert self._model

    def prepare(self, directory: Path, seed: int) -> dict[str, Any]:
        """Create the files; return `filesets` (what each one got) and their sums."""
        report = engine.call(self.prepare_arguments(elsewhere.path_of(self.file), directory, seed))
        if report["partial"]:
            raise self._stopped(report)
        filesets = report["prepare"]
        return {
            "files_count": sum(fileset["files"] for fileset in filesets),
            "directories_count": sum(fileset["directories"] for fileset in filesets),
            "size_b": sum(fileset["bytes"] for fileset in filesets),
            "duration_s": sum(fileset["duration_s"] for fileset in filesets),
            "filesets": filesets,
        }

    def run(
        self,
        directory: Path,
        seed: int,
        warmup_s: float,
        measure_s: float,
        load_ops_s: float | None = None,
        stop: threading.Event | None = None,
    ) -> Outcome:
        """Work on files that `prepare` made with this seed; see `base.Workload.run`."""
        arguments = self.run_arguments(
            elsewhere.path_of(self.file), directory, seed, warmup_s, measure_s, load_ops_s
        )
        report = engine.call(arguments, stop)
        outcome = outcome_of(self._only_run(report))
        refuse_full(outcome.summary, self.name, directory)
        return outcome

    def prepare_arguments(self, text: str, directory: Path, seed: int) -> list[str]:
        """Return the arguments of the engine that create the files, by the text at a path."""
        return ["prepare", text, *self._options(directory, seed)]

    def run_arguments(
        self,
        text: str,
        directory: Path,
        seed: int,
        warmup_s: float,
        measure_s: float,
        load_ops_s: float | None = None,
    ) -> list[str]:
        """Return the arguments of the engine that work on the files, by the text at a path."""
        options = self._prepared(directory, seed, warmup_s, load_ops_s)
        return ["run", text, *options, f"--duration={measure_s}"]

    def turns(
        self, directory: Path, seed: int, warmup_s: float, load_ops_s: float | None = None
    ) -> AbstractContextManager[Turns]:
        """Begin a run that works in turns; see `base.TakesTurns`."""

        def concluded(report: Mapping[str, Any], windows: Sequence[Turn]) -> Outcome:
            outcome = in_windows(outcome_of(self._only_run(report)), windows)
            refuse_full(outcome.summary, self.name, directory)
            return outcome

        options = self._prepared(directory, seed, warmup_s, load_ops_s)
        return begun([elsewhere.path_of(self.file), *options], concluded)

    def _prepared(
        self, directory: Path, seed: int, warmup_s: float, load_ops_s: float | None
    ) -> list[str]:
        """Return the options of a run on files that were prepared."""
        load = [] if load_ops_s is None else [f"--set=load={load_ops_s}"]
        return [*self._options(directory, seed), "--prepared", f"--warmup={warmup_s}", *load]

    def _only_run(self, report: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a report of one run; raises FsgreenError where it is of none or of several."""
        if not report["runs"]:
            raise self._stopped(report)
        if len(report["runs"]) > 1:
            raise FsgreenError(
                f"the workload {self.name} has {len(report['runs'])} runs; a trial measures one",
                where=self.file,
                next_step="make a workload of each",
            )
        return report

    def _options(self, directory: Path, seed: int) -> list[str]:
        variables = {"dir": str(directory), **self._variables}
        return [*(f"--set={name}={value}" for name, value in variables.items()), f"--seed={seed}"]

    def _stopped(self, report: Mapping[str, Any]) -> FsgreenError:
        return FsgreenError(
            f"the workload {self.name} ended before its run: {report['reason']}",
            where=self.file,
            next_step="start it again",
        )

    @cached_property
    def _model(self) -> Mapping[str, Any]:
        try:
            import fsgreen_engine
        except ImportError as error:
            raise FsgreenError(
                "the workload engine is not installed", next_step=paths.BUILD
            ) from error
        variables = {"dir": "/", **self._variables}
        found = fsgreen_engine.check(_text_of(self.file), variables)
        for flaw in found["diagnostics"]:
            if flaw["severity"] == "error":
                raise FsgreenError(
                    flaw["message"],
                    where=f"{self.file}:{flaw['line']}:{flaw['column']}",
                    next_step=f"mend it, then {engine.PROGRAM} check {self.file} --set dir=/tmp",
                )
        if found["model"] is None:
            raise FsgreenError(
                f"the workload {self.name} measures nothing: its text has no run",
                where=self.file,
                next_step="end the text with: run",
            )
        model: Mapping[str, Any] = found["model"]
        return model


def _text_of(file: Path) -> str:
    """Return a text as the engine reads it: Latin-1 where it is no UTF-8."""
    data = file.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def outcome_of(report: Mapping[str, Any]) -> Outcome:
    """Return what a report of one run says."""
    [run] = report["runs"]
    measure = run["measure"]
    phases = [
        Phase(phase["name"], phase["start_ns"] / NS_PER_S, phase["end_ns"] / NS_PER_S)
        for phase in run["phases"]
    ]
    errors: dict[str, int] = {}
    for flowop in measure["flowops"]:
        for errno, count in flowop["errors"].items():
            errors[errno] = errors.get(errno, 0) + count
    summary = WorkSummary(
        **{name: measure[name] for name in ("duration_s", *COUNTED)},
        errors=errors,
        skipped=sum(flowop["skipped"] for flowop in measure["flowops"]),
        threads=_threads(run),
        finished=_finished(run),
        **{name: report[name] for name in ("partial", "reason", "engine", "seed")},
        notes=tuple(report["notes"]),
        cost=Cost(**run["cost"]),
        variables=run["variables"],
    )
    ops = _ops(measure["series"], *phases[-1].span_s)
    return Outcome(phases, ops, latency_table(measure["flowops"]), summary)


def _finished(run: Mapping[str, Any]) -> bool | None:
    """Return whether a fixed amount of work was done before the limit of the run.

    None where there is no end of the work, or where a part of it went into a warm-up: what is
    measured then is its rate, until the limit.
    """
    asked = run["configuration"]
    if run["quit"] == "timeout" or asked["warmup_s"] > 0:
        return None
    limit_s = asked["duration_s"]
    return limit_s is None or bool(run["measure"]["duration_s"] < limit_s)


def _threads(run: Mapping[str, Any]) -> tuple[ThreadWork, ...]:
    """Return the work of each thread and when it ended, by kind of thread (rule 41).

    It says who is starved, and who not. `ended_s` counts from the start of the measured interval.
    """
    work_ops: dict[tuple[str, str], list[int]] = {}
    for flowop in run["measure"]["flowops"]:
        if flowop["counted"]:
            kind, ops = (flowop["process"], flowop["thread"]), flowop["work_ops_by_instance"]
            before = work_ops.get(kind, [0] * len(ops))
            work_ops[kind] = [sum(pair) for pair in zip(before, ops, strict=True)]
    ended_s = {(kind["process"], kind["thread"]): kind["ended_s"] for kind in run["last_ops"]}
    return tuple(
        ThreadWork(process, thread, tuple(ops), tuple(ended_s[process, thread]))
        for (process, thread), ops in work_ops.items()
    )


def _ops(series: Mapping[str, Any], start_s: float, end_s: float) -> pd.DataFrame:
    interval_s = series["interval_s"]
    begins = [start_s + nth * interval_s for nth in range(len(series["work_ops"]))]
    ends = [min(begin + interval_s, end_s) for begin in begins]
    return pd.DataFrame(
        {
            "time_s": pd.Series(ends, dtype=float),
            "duration_s": pd.Series(
                [end - begin for begin, end in zip(begins, ends, strict=True)], dtype=float
            ),
            **{name: pd.Series(series[name], dtype="int64") for name in COUNTED},
        }
    )


def latency_table(flowops: list[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the histograms of the flowops that count as work, one row for each bucket."""
    rows = [
        (*(flowop[name] for name in ("process", "thread", "flowop", "operation")), *bucket)
        for flowop in flowops
        if flowop["counted"]
        for bucket in flowop["latency"]["buckets"]
    ]
    return pd.DataFrame(rows, columns=list(LATENCY_COLUMNS))
