"""What Filebench prints, of 1.4.9 and 1.5: its line `IO Summary`.

1.5: `IO Summary: N ops R ops/s A/B rd/wr M mb/s L ms/op`; 1.4.9: `IO Summary: N ops, R ops/s, (A/B
r/w), M mb/s, C us cpu/op, L ms latency`. `mb` is 2**20 B; the length of the run is N / R. Lines
begin with the seconds since the start, `SECONDS: `, after the process where it is told to debug.
Source: github.com/filebench/filebench, stats.c (stats_snap) of the tags 1.4.9, 1.4.9.1, 1.5-alpha3
and the newest, parser_gram.y for the lines around it.
"""

from __future__ import annotations

import re

from fsgreen.meters.files.text import Report, decode
from fsgreen.runs.meanings import Meanings
from fsgreen.runs.rows import Format, Run

MIB_B = 2.0**20
STAMP = r"(?m)^ *(?:\d+: +)?(?P<at_s>\d{1,9}\.\d{3}): "
NUMBER = r"\d{1,15}(?:\.\d{1,9})?"
BANNER = re.compile(r"(?m)^Filebench Version ")
SUMMARY = re.compile(
    STAMP + rf"IO Summary: +(?P<ops>\d{{1,15}}) ops,? +(?P<rate>{NUMBER}) ops/s,? +"
    rf"\(?(?P<read>\d{{1,15}})/(?P<write>\d{{1,15}}) r(?:d/wr|/w\),) +(?P<moved>{NUMBER})mb/s,? +"
    rf"(?:{NUMBER}ms/op|{NUMBER}us cpu/op, +{NUMBER}ms latency)[ \t]*\r?$"
)
ANY_SUMMARY = re.compile(r"IO Summary")
RUNNING = re.compile(STAMP + r"Running\.\.\.")
TOOK = re.compile(STAMP + r"Run took (?P<took_s>\d{1,9}) seconds\.\.\.")
LOADED = re.compile(STAMP + r"(?P<name>\S.*?) personality successfully loaded")
OPERATION = re.compile(rf"(?m)^\S+ +\d+ops +{NUMBER}ops/s +(?P<moved>{NUMBER})mb/s +{NUMBER}ms/op")
BROKEN = re.compile(r"NO VALID RESULTS|Run stopped early|syntax error")
STAMPS_S = 0.2
"""How far the stamps of the lines may be from the length: threads start and end in between."""


def read(data: bytes, meanings: Meanings, report: Report) -> list[Run]:
    """Read the output of one call, or of several appended to each other: a run each."""
    text = decode(data, report)
    starts = [banner.start() for banner in BANNER.finditer(text)] or [0]
    ends = [*starts[1:], len(text)]
    calls = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    runs = [_run(call, f"call {nth}", report) for nth, call in enumerate(calls, 1)]
    if text[: starts[0]].strip():
        report.tell("What stands before the first line of Filebench was left out.")
    return runs


def _run(text: str, name: str, report: Report) -> Run:
    if broken := BROKEN.search(text):
        report.refuse(f"{name} has no valid result: {broken[0]}", "mend the text and run it again")
    count = len(ANY_SUMMARY.findall(text))
    summary = SUMMARY.search(text)
    if count > 1:
        report.refuse(
            f"{name} has {count} summaries: runs after each other on the same files, or one run "
            "that psrun cut",
            "let each call of Filebench make one `run`",
        )
    if summary is None:
        report.refuse(
            f"{name} has no line 'IO Summary' of Filebench 1.4.9 or 1.5", "give the whole output"
        )
    work_ops, rate = int(summary["ops"]), float(summary["rate"])
    if not (work_ops > 0 and rate > 0):
        report.refuse(f"{name} did no operation", "let it run for longer")
    duration_s = work_ops / rate
    if int(summary["read"]) + int(summary["write"]) > rate + 1:
        report.refuse(f"{name} reads and writes more than it does", "give the output as it was")
    _check_length(text, name, duration_s, report)
    moved = [float(operation["moved"]) for operation in OPERATION.finditer(text)]
    if moved and abs(sum(moved) - float(summary["moved"])) > 0.05 * (len(moved) + 1) + 1e-6:
        report.refuse(
            f"{name}: the operations move {sum(moved):.1f} mb/s, the summary {summary['moved']}",
            "give the output as it was written",
        )
    loaded = LOADED.search(text)
    return Run(
        "" if name == "call 1" else name.replace(" ", ""),
        {
            **({"workload": loaded["name"]} if loaded else {}),
            "duration_s": duration_s,
            "work_ops": work_ops,
            "bandwidth_b_s": MIB_B * float(summary["moved"]),
        },
    )


def _check_length(text: str, name: str, duration_s: float, report: Report) -> None:
    """Refuse a length that the stamps of the lines contradict: a digit was lost."""
    running, took = RUNNING.search(text), TOOK.search(text)
    if running is None or took is None:
        report.tell(f"{name}: without the lines around it, its length cannot be checked.")
        return
    between_s = float(took["at_s"]) - float(running["at_s"])
    if abs(between_s - duration_s) > STAMPS_S + 0.02 * duration_s:
        report.refuse(
            f"{name} took {between_s:.1f} s by its lines, and {duration_s:.1f} s by its summary",
            "give the output as it was written",
        )


FORMAT = Format(
    name="Filebench 1.4.9 or 1.5 (its output)",
    recognises=lambda head: b"Filebench Version" in head or b"IO Summary" in head,
    read=read,
)
