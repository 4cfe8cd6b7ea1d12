"""Files of JSON that fio 3 wrote (`workloads.command.fio_json`), imported.

One document, which notes of fio may precede and its readable text may follow. As in fio's own
totals, the work of a group is over the longest `runtime` in it. A percentile is the middle of its
bucket (plat_idx_to_val), which is 1/64 wide: all may lie below the minimum, or above the maximum.
`--client` writes `client_stats` in place of `jobs` (client.c): refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from fsgreen.meters.files.text import Report, decode
from fsgreen.runs.meanings import Meanings
from fsgreen.runs.rows import Format, Run
from fsgreen.workloads.command import fio_json

QUANTILES = {"50.000000": "p50", "95.000000": "p95", "99.000000": "p99"}
PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""fio's list where the job has none of its own: one that lacks some may have lost a line."""
BUCKET = 1 / 64
OF_NO_WORKLOAD = ("name", "description", "directory", "filename", "randseed", "group_reporting")
"""Options that name the job, its place or its output, and change nothing of what it does."""

DEFAULTS = {"bs": "4k", "iodepth": "1", "numjobs": "1", "rw": "read"}
"""What fio does where a job does not say it (fio's manual, "Job file parameters")."""

SHORTEST_MS = 100
"""Lengths are whole ms: a shorter run's rates are wrong by more than one per cent."""


def read(data: bytes, meanings: Meanings, report: Report) -> list[Run]:
    """Read the groups of jobs of one run of fio; each is a run of its own."""
    document = _document(decode(data, report), report)
    try:
        version = fio_json.version(document["fio version"])
        if version is None or version < (3, 0):
            report.refuse(
                f"this is of {document['fio version']}, which wrote other units",
                "measure again with fio 3 or later",
            )
        if "client_stats" in document:
            report.refuse(
                "this is what fio --client wrote, of several machines: it is not read",
                "run fio on the machine itself, and give its own output: "
                "fio JOBFILE --output-format=json --output=FILE",
            )
        jobs = sorted(document["jobs"], key=lambda job: int(job["groupid"]))
        groups = [list(group) for _, group in groupby(jobs, key=lambda job: int(job["groupid"]))]
        shared = document.get("global options", {})
        runs = [replace(_run(group, report), variant=_options(shared, group)) for group in groups]
    except fio_json.MALFORMED as error:
        report.refuse(
            f"this is no output of fio: {type(error).__name__}: {error}",
            "fio JOBFILE --output-format=json --output=FILE",
        )
    if not runs:
        report.refuse("fio ran no job", "give the output of a whole run")
    if any("latency_p50_s" in run.values for run in runs):
        report.tell("Latency is fio's completion latency, clat.")
    return runs


def _document(text: str, report: Report) -> Mapping[str, Any]:
    """Return the one JSON document of a text."""
    try:
        documents = list(fio_json.documents(text))
    except (ValueError, RecursionError) as error:
        report.refuse(f"this is no JSON: {error}", "give the output as fio wrote it")
    if not documents:
        report.refuse("no line begins a JSON document", "give the output of --output-format=json")
    if len(documents) > 1:
        report.refuse(
            "it holds several documents: runs after each other, or one run again and again as "
            "--status-interval writes it",
            "give each run a file of its own, and leave --status-interval out",
        )
    [(document, start, end)] = documents
    for place, where in ((text[:start], "before"), (text[end:], "after")):
        if place.strip():
            report.tell(f"{len(place.strip().splitlines())} lines {where} the JSON were left out.")
    return document


def _run(jobs: Sequence[Mapping[str, Any]], report: Report) -> Run:
    names = list(dict.fromkeys(str(job["jobname"]) for job in jobs))
    if wrong := [str(job["jobname"]) for job in fio_json.failures(jobs)]:
        report.refuse(f"fio met errors in {', '.join(wrong)}", "mend the job and run it again")
    if any("mixed" in job for job in jobs):
        report.refuse(
            "its directions are mixed into one by unified_rw_reporting",
            "run it again without unified_rw_reporting",
        )
    parts = [job[way] for job in jobs for way in fio_json.DIRECTIONS if fio_json.busy(job[way])]
    if not parts:
        report.refuse(f"{'+'.join(names)} did no I/O", "give the output of a whole run")
    for part in parts:
        _check(part, report)
    duration_s = max(part["runtime"] for part in parts) / 1000
    work_ops = sum(part["total_ios"] for part in parts)
    values: dict[str, Any] = {
        "workload": "+".join(names),
        "duration_s": duration_s,
        "work_ops": work_ops,
        "bandwidth_b_s": sum(part["io_bytes"] for part in parts) / duration_s,
    }
    for count, what in (("short_ios", "came back short"), ("drop_ios", "were dropped")):
        if ios := sum(part.get(count, 0) for part in parts):
            report.tell(f"{'+'.join(names)}: {ios} I/Os {what} ({count}).")
    values |= _latency(parts, "+".join(names), report)
    return Run("+".join(names), values)


def _options(shared: Mapping[str, Any], jobs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the options that say what the jobs do; several values of one stand side by side."""
    options: dict[str, dict[str, None]] = {}
    for job in jobs:
        for name, value in {**DEFAULTS, **shared, **job.get("job options", {})}.items():
            if name not in OF_NO_WORKLOAD:
                options.setdefault(name, {})[str(value)] = None
    return {name: "+".join(values) for name, values in options.items()}


def _check(part: Mapping[str, Any], report: Report) -> None:
    """Refuse a part whose numbers contradict each other."""
    if fio_json.counted(part) and 0 < part["runtime"] < SHORTEST_MS:
        report.refuse(f"it ran for {part['runtime']} ms, known to one", "let it run for longer")
    if not fio_json.consistent(part):
        report.refuse(
            "total_ios, io_bytes, runtime, iops and bw_bytes contradict each other",
            "give the output as fio 3 wrote it",
        )


def _latency(parts: Sequence[Mapping[str, Any]], name: str, report: Report) -> dict[str, float]:
    """Return the quantiles of the one part of a run; tells why percentiles are left out."""
    if not any("percentile" in part.get("clat_ns", {}) for part in parts):
        return {}
    latency = parts[0].get("clat_ns", {})
    percentiles = latency.get("percentile", {})
    if len(parts) > 1 or list(percentiles) != [f"{share:.6f}" for share in PERCENTILES]:
        report.tell(
            f"{name}: percentiles are left out; those of several jobs or directions cannot be "
            "merged, and those of a list of its own may lack some."
        )
        return {}
    shown = list(percentiles.values())
    least, most = latency["min"] * (1 - BUCKET), latency["max"] * (1 + BUCKET)
    if sorted(shown) != shown or not least <= shown[0] <= shown[-1] <= most:
        report.tell(
            f"{name}: percentiles are left out; they do not rise from the minimum to the maximum."
        )
        return {}
    return {f"latency_{share}_s": percentiles[key] / 1e9 for key, share in QUANTILES.items()}


FORMAT = Format(
    name="fio 3 (--output-format=json)", recognises=lambda head: b'"fio version"' in head, read=read
)
