"""fio, run for its JSON: phases, a series of work, histograms and errors."""

from __future__ import annotations

import errno
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fsgreen.errors import FsgreenError
from fsgreen.trial import Cost, Phase, ThreadWork, WorkSummary
from fsgreen.workloads.base import COUNTED, LATENCY_COLUMNS, Outcome, WorkloadFailed
from fsgreen.workloads.command import fio_json
from fsgreen.workloads.command.base import Asked, failed
from fsgreen.workloads.process import Finished

OLDEST = (3, 33)
"""The oldest version whose reports this was tried on."""

FORMAT = "--output-format=json+"
"""JSON with the whole histogram of completion latencies."""

EACH_SECOND = "--status-interval=1"
"""A document a second, from the start of the run; they become the series."""

OURS = ("--output", "--output-format", "--status-interval", "--client", "--server")
"""Options of the whole run that are not the study's to set."""

BUCKETS_BITS = 6
"""Buckets of fio's histograms are 1/64 of their power of two wide (stat.h, FIO_IO_U_PLAT_BITS)."""

SHORTEST_S = 0.05
"""A report so near the end belongs to the last interval of the series."""

AGREE_S = 0.25
"""How far fio's clock of the day and the harness's may place the run apart."""


class Fio:
    """Runs fio for JSON with a document a second, and reads these."""

    def check(self, program: str) -> None:
        """Raise FsgreenError where the version is too old."""
        said = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=30, check=False
        ).stdout.strip()
        found = fio_json.version(said)
        if found is None or found < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            raise FsgreenError(
                f"fio {oldest} or later is needed, and this is {said or 'no fio'}",
                where=program,
                next_step="install a newer fio: github.com/axboe/fio",
            )

    def arguments(self, command: Sequence[str]) -> list[str]:
        """Return the command with JSON to standard output, and a document each second."""
        program, *options = command
        theirs = [
            option
            for option in options
            if option.partition("=")[0] in OURS and not option.startswith("--output-format=json")
        ]
        if theirs:
            raise FsgreenError(
                f"{theirs[0]} is not for a workload to set: its output is read as it runs",
                where=" ".join(command),
                next_step="leave it out of the command",
            )
        kept = [option for option in options if not option.startswith("--output-format")]
        return [program, FORMAT, EACH_SECOND, *kept]

    def outcome(self, done: Finished, asked: Asked) -> Outcome:
        """Return what fio did; its own clock says when the measured interval began."""
        ahead_s = time.time() - time.monotonic()
        try:
            reports = [_Report.of(found) for found, _, _ in fio_json.documents(done.output)]
            if not reports or done.signal_name is not None:
                raise failed(done, asked.name)
            return _outcome(reports, done, asked, ahead_s)
        except fio_json.MALFORMED as error:
            if done.signal_name is not None:
                raise failed(done, asked.name) from error
            raise WorkloadFailed(
                f"what fio wrote in the workload {asked.name} cannot be read: "
                f"{type(error).__name__}: {error}",
                next_step="run the command by hand with --output-format=json+",
            ) from error


@dataclass(frozen=True)
class _Report:
    """One document: sums over all jobs from the start of the run on, and the jobs themselves."""

    time_ms: int
    runtime_ms: int
    work_ops: int
    read_b: int
    write_b: int
    jobs: Sequence[Mapping[str, Any]]
    version: str

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> _Report:
        jobs = document["jobs"]
        parts = [(way, job[way]) for job in jobs for way in fio_json.DIRECTIONS]
        if not all(fio_json.counted(part) for _, part in parts):
            raise ValueError("a count is no whole number")
        return cls(
            time_ms=int(document["timestamp_ms"]),
            runtime_ms=max((part["runtime"] for _, part in parts), default=0),
            work_ops=sum(part["total_ios"] for _, part in parts),
            read_b=sum(part["io_bytes"] for way, part in parts if way == "read"),
            write_b=sum(part["io_bytes"] for way, part in parts if way == "write"),
            jobs=jobs,
            version=str(document["fio version"]),
        )

    @property
    def start_ms(self) -> int:
        """Return when the run began, by this report: after a ramp, if there is one."""
        return self.time_ms - self.runtime_ms


def _outcome(reports: Sequence[_Report], done: Finished, asked: Asked, ahead_s: float) -> Outcome:
    last = reports[-1]
    if len({job["groupid"] for job in last.jobs}) > 1:
        raise FsgreenError(
            f"the jobs of the workload {asked.name} run one after the other; a trial measures one",
            next_step="make a workload of each, and leave stonewall and new_group out",
        )
    if not last.runtime_ms:
        raise WorkloadFailed(
            f"fio did no I/O in the workload {asked.name}: {_said(done)}",
            next_step="run the command by hand",
        )
    # The last one comes a little after the end. Those of a ramp come before the run begins.
    during = [report for report in reports[:-1] if report.time_ms > last.start_ms]
    begin_ms = min(report.start_ms for report in (*during, last) if report.runtime_ms)
    start_s = begin_ms / 1000 - ahead_s
    end_s = start_s + last.runtime_ms / 1000
    if not (done.start_s - AGREE_S <= start_s and end_s <= done.end_s + AGREE_S):
        raise WorkloadFailed(
            f"fio's clock places the workload {asked.name} outside of its own process: "
            "the clock of the day was set meanwhile",
            next_step="wait until chronyc or timedatectl says that the clock is in step",
        )
    start_s, end_s = max(start_s, done.start_s), min(end_s, done.end_s)
    phases = [Phase("warmup", done.start_s, start_s), Phase("measure", start_s, end_s)]
    series = pd.DataFrame(_series([*during, last], begin_ms, start_s, end_s))
    latency = pd.DataFrame(_buckets(last.jobs), columns=list(LATENCY_COLUMNS))
    return Outcome(phases, series, latency, _summary(last, done, asked, end_s - start_s))


def _series(
    reports: Sequence[_Report], begin_ms: int, start_s: float, end_s: float
) -> Iterator[dict[str, float]]:
    """Yield the work between each two reports; raises ValueError where counts go back."""
    *during, last = reports
    end_ms = begin_ms + last.runtime_ms
    within = [report for report in during if report.time_ms < end_ms - 1000 * SHORTEST_S]
    before_s, before = start_s, dict.fromkeys(COUNTED, 0)
    for report in (*within, last):
        at_s = end_s if report is last else start_s + (report.time_ms - begin_ms) / 1000
        now = {name: getattr(report, name) for name in before}
        if at_s <= before_s or any(now[name] < before[name] for name in now):
            raise ValueError("the reports of fio go back")
        gained = {name: now[name] - before[name] for name in now}
        yield {"time_s": at_s, "duration_s": at_s - before_s, **gained}
        before_s, before = at_s, now


def _buckets(jobs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield the completion latencies of each job and direction, a bucket a row."""
    for nth, job in enumerate(jobs, start=1):
        for way in fio_json.DIRECTIONS:
            bins = job[way].get("clat_ns", {}).get("bins", {})
            for middle_ns, count in bins.items():
                lower_ns, upper_ns = bucket_ns(int(middle_ns))
                name = str(job["jobname"])
                yield name, f"{name} {nth}", name, way, lower_ns, upper_ns, int(count)


def bucket_ns(middle_ns: int) -> tuple[int, int]:
    """Return the bounds of a bucket of fio's histogram from its middle, which stands for it.

    Below 128 ns each is one nanosecond (stat.c, plat_idx_to_val).
    """
    width_ns = 1 << max(0, middle_ns.bit_length() - 1 - BUCKETS_BITS)
    lower_ns = middle_ns - middle_ns % width_ns
    return lower_ns, lower_ns + width_ns


def _summary(last: _Report, done: Finished, asked: Asked, duration_s: float) -> WorkSummary:
    parts = [job[way] for job in last.jobs for way in fio_json.DIRECTIONS]
    parts = [part for part in parts if fio_json.busy(part)]
    if not all(fio_json.consistent(part) for part in parts):
        raise ValueError("total_ios, io_bytes, runtime, iops and bw_bytes contradict each other")
    errors: dict[str, int] = {}
    for job in fio_json.failures(last.jobs):
        number = abs(int(job["error"] or job.get("first_error", 0)))
        name = errno.errorcode.get(number, f"error {number}")
        errors[name] = errors.get(name, 0) + max(1, int(job.get("total_err", 0)))
    if done.status != 0 and not errors and not done.stopped:
        raise failed(done, asked.name)
    notes = []
    for count, what in (("short_ios", "came back short"), ("drop_ios", "were dropped")):
        if ios := sum(int(part.get(count, 0)) for part in parts):
            notes.append(f"{ios} I/Os {what}")
    return WorkSummary(
        duration_s,
        last.work_ops,
        last.read_b,
        last.write_b,
        errors=errors,
        threads=tuple(_threads(last.jobs)),
        finished=None if asked.timed else not done.stopped,
        partial=done.stopped,
        reason="it was stopped" if done.stopped else None,
        engine=last.version,
        seed=asked.seed,
        notes=tuple(notes),
        cost=_cost(last.jobs),
        variables=asked.variables,
    )


def _threads(jobs: Sequence[Mapping[str, Any]]) -> Iterator[ThreadWork]:
    """Yield what the jobs of each name did, and how long each ran."""
    for name in dict.fromkeys(str(job["jobname"]) for job in jobs):
        alike = [job for job in jobs if str(job["jobname"]) == name]
        parts = [[job[way] for way in fio_json.DIRECTIONS] for job in alike]
        yield ThreadWork(
            name,
            "job",
            tuple(sum(part["total_ios"] for part in of_job) for of_job in parts),
            tuple(max(part["runtime"] for part in of_job) / 1000 or None for of_job in parts),
        )


def _cost(jobs: Sequence[Mapping[str, Any]]) -> Cost:
    """Return what the jobs took of the processors within the run, without its ramp."""
    user_s, system_s = (
        sum(float(job[share]) / 100 * int(job["job_runtime"]) / 1000 for job in jobs)
        for share in ("usr_cpu", "sys_cpu")
    )
    return Cost(user_s, system_s, voluntary_switches=sum(int(job["ctx"]) for job in jobs))


def _said(done: Finished) -> str:
    lines = [line for line in done.errors.splitlines() if line.strip()]
    return lines[-1] if lines else "it says nothing"
