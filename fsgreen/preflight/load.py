"""What else the machine does: processors, the host below it, memory, and unwritten data."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import NamedTuple

from fsgreen.audit import machine
from fsgreen.audit.tree import Tree
from fsgreen.preflight.finding import Finding

BUSY_LIMIT_PERCENT = 5.0
"""Rule 10: more CPU time than this taken by others disturbs a measurement."""

STEAL_LIMIT_PERCENT = 1.0
"""A fifth of what rule 10 lets others take in all."""

STALL_LIMIT_PERCENT = 1.0
"""Share of the last minute in which some task waited for memory: the page cache is short of it."""

DIRTY_LIMIT_B = 100 << 20
"""About a second of a disk's time, which the first trial would pay."""

SAMPLE_S = 1.0


class Shares(NamedTuple):
    """What all cores did between two samples."""

    busy_percent: float
    steal_percent: float


def check(tree: Tree) -> Iterator[Finding]:
    """Yield the findings; takes `SAMPLE_S`."""
    yield from _processors(sample(tree))
    yield _memory(tree)
    yield _dirty(tree)


def sample(tree: Tree) -> Shares | None:
    """Return what the processors do for `SAMPLE_S`, None where the kernel does not tell."""
    before = tree.text("proc/stat") or ""
    time.sleep(SAMPLE_S)
    return shares(before, tree.text("proc/stat") or "")


def shares(before: str, after: str) -> Shares | None:
    """Return the shares of all cores' time from two texts of /proc/stat (proc(5)).

    Stolen time counts as busy. None if a text lacks the line of totals, or no time has passed.
    """
    first, last = _ticks(before), _ticks(after)
    if first is None or last is None:
        return None
    spent = [now - then for then, now in zip(first, last, strict=True)]
    total = sum(spent)
    if total <= 0:
        return None
    _, _, _, idle, iowait, _, _, steal = spent
    return Shares(100 * (1 - (idle + iowait) / total), 100 * steal / total)


def _ticks(text: str) -> list[int] | None:
    match = re.search(r"^cpu +((?:[0-9]+ +){7}[0-9]+)", text, re.M)
    return None if match is None else [int(word) for word in match[1].split()]


def _processors(shares: Shares | None) -> Iterator[Finding]:
    if shares is None:
        yield Finding("CPU", "not readable", "note")
        return
    busy = f"{shares.busy_percent:.0f} % of all cores used by others"
    if shares.busy_percent < BUSY_LIMIT_PERCENT:
        yield Finding("CPU", busy, "ok")
    else:
        yield Finding("CPU", busy, "warning", "end other work before measuring: top")
    steal = f"{shares.steal_percent:.1f} % of all cores taken by the host"
    if shares.steal_percent < STEAL_LIMIT_PERCENT:
        yield Finding("steal time", steal, "ok")
    else:
        yield Finding(
            "steal time", steal, "warning", "calm the host, or measure on a machine of your own"
        )


def _memory(tree: Tree) -> Finding:
    total_b, free_b = (machine.meminfo_b(tree, key) for key in ("MemTotal", "MemAvailable"))
    if total_b is None or free_b is None:
        return Finding("memory", "not readable", "note")
    state = f"{free_b / 2**30:.1f} of {total_b / 2**30:.1f} GiB available"
    stalls = re.search(
        r"^some .*avg60=([0-9]+\.[0-9]+)", tree.text("proc/pressure/memory") or "", re.M
    )
    if stalls is None:
        return Finding("memory", f"{state}; this kernel counts no stalls (boot with psi=1)", "note")
    state += f", waited for in {float(stalls[1]):.1f} % of the last minute"
    if float(stalls[1]) < STALL_LIMIT_PERCENT:
        return Finding("memory", state, "ok")
    return Finding("memory", state, "warning", "end what takes it: top -o %MEM")


def unwritten_b(tree: Tree) -> int | None:
    """Return the bytes that wait for, or are on their way to, the disks; None if not readable."""
    dirty_b, writing_b = (machine.meminfo_b(tree, key) for key in ("Dirty", "Writeback"))
    return None if dirty_b is None or writing_b is None else dirty_b + writing_b


def _dirty(tree: Tree) -> Finding:
    waiting_b = unwritten_b(tree)
    if waiting_b is None:
        return Finding("unwritten data", "not readable", "note")
    state = f"{waiting_b / 2**20:.0f} MiB on their way to the disks"
    if waiting_b < DIRTY_LIMIT_B:
        return Finding("unwritten data", state, "ok")
    return Finding("unwritten data", state, "warning", "sync, and end what writes more: top")
