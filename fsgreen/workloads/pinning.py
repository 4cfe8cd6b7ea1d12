"""Processors that a workload may use: an affinity, which all that it starts inherits
(sched_setaffinity(2)).

A control group (cpuset) would take root, would not hold for a driver's own Python, and would be
left after a kill. An affinity ends with the processes that have it. A program may give itself
another one, within those of the machine: fio does with `--cpus_allowed`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress

from fsgreen import elsewhere
from fsgreen.errors import FsgreenError, TrialFailed

ALL = "all"
"""The level of all processors that fsgreen itself may use."""

_PART = r"[0-9]{1,5}(?:-[0-9]{1,5})?"
_LIST = re.compile(rf"{_PART}(?:\+{_PART})*")


def chosen(level: object) -> frozenset[int]:
    """Return the processors of a level: `all`, or a list as `0`, `0-1`, `0+2-3`.

    It is the kernel's list, with + in place of its comma, as levels have no comma. A number is
    refused, as it may be meant as a count.

    Raises FsgreenError if it is no list, if it names a processor that fsgreen may not use here, or
    if the workload runs in a guest, which takes no affinity from here.
    """
    here = os.sched_getaffinity(0)
    if elsewhere.place() is not None:
        raise _refused(
            level,
            "the workload runs in a guest",
            "take another testbed than vm, or a command that begins with taskset and a factor of "
            "another name (docs/ssd.md)",
        )
    if level == ALL:
        return frozenset(here)
    is_list = isinstance(level, str) and _LIST.fullmatch(level)
    parts = [part.partition("-") for part in str(level).split("+")] if is_list else []
    ranges = [range(int(first), int(last or first) + 1) for first, _, last in parts]
    if not ranges or not all(ranges):
        raise _refused(
            level, "it is no list", 'declare `kind: name`, and levels such as all, "0", 0-1, 0+2-3'
        )
    asked = frozenset(number for one in ranges for number in one)
    if not asked <= here:
        raise _refused(
            level,
            f"fsgreen may use the processors {spelt(here)} here",
            "name some of these in the study (lscpu --extended shows them), or `all`",
        )
    return asked


def spelt(processors: Set[int]) -> str:
    """Return processors as a level: `0-1+3`."""
    parts: list[list[int]] = []
    for number in sorted(processors):
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return "+".join("-".join(map(str, part)) for part in parts)


@contextmanager
def pinned(level: object) -> Iterator[str | None]:
    """Have this thread, and what it starts meanwhile, use only the processors of a level.

    Yields the processors of this thread as they are read back, in the spelling of `spelt`; None if
    no level is given, which changes nothing.

    Raises FsgreenError as `chosen` does, or if the kernel refuses. Raises TrialFailed if the thread
    may use others at the end.
    """
    if level is None:
        yield None
        return
    before, asked = os.sched_getaffinity(0), chosen(level)
    try:
        try:
            os.sched_setaffinity(0, asked)
        except OSError as error:
            raise _refused(level, f"the kernel says: {error.strerror}", "dmesg | tail") from error
        yield spelt(_as_set(asked))
        _as_set(asked)
    finally:
        # Refused only where none of them is left, and then the kernel has taken others by itself.
        with suppress(OSError):
            os.sched_setaffinity(0, before)


def _as_set(asked: Set[int]) -> Set[int]:
    now = os.sched_getaffinity(0)
    if now != asked:
        raise TrialFailed(
            f"the workload is started on the processors {spelt(now)} although {spelt(asked)} were "
            "set: one was switched off, or its driver sets others",
            next_step="the trial runs again; dmesg | tail tells of processors that go off",
        )
    return now


def _refused(level: object, why: str, next_step: str) -> FsgreenError:
    return FsgreenError(
        f"a workload cannot be given the processors '{level}': {why}",
        where="levels of cpus",
        next_step=next_step,
    )
