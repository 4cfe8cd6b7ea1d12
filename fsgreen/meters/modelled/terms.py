"""The terms of a component model: what each adds to idle power, and for what activity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite


@dataclass(frozen=True)
class Term:
    """One term; its parameter is named by what it is of and its unit.

    `rate` times `scale` is what the parameter is multiplied with; `least` the least range of that
    rate which exercises the term, so that a parameter can be fitted; `clocked` whether it follows
    the clock; `needs` a counter that not every machine has.
    """

    name: str
    rate: str
    per: str
    least: float
    scale: float = 1.0
    clocked: bool = False
    needs: str | None = None


TERMS = (
    Term("cpu_user_w", "cpu_user_x", "a core in user mode", 0.1, clocked=True),
    Term("cpu_system_w", "cpu_system_x", "a core in system mode", 0.1, clocked=True),
    Term("disk_seek_w", "disk_seek_x", "while requests wait for the disk to seek", 0.05),
    Term("disk_read_w", "disk_read_x", "while the disk transfers what is read", 0.05),
    Term("disk_write_w", "disk_write_x", "while the disk transfers what is written", 0.05),
    Term("disk_request_j", "disk_requests_hz", "a read or write", 5.0),
    Term(
        "cpu_shallow_idle_w",
        "cpu_shallow_idle_x",
        "a core idle above its deepest state",
        0.1,
        needs="cpu_shallow_idle_s",
    ),
    Term("disk_discard_j", "disk_discards_hz", "a discard", 5.0, needs="disk_discards_count"),
    Term(
        "disk_standby_saving_w",
        "disk_standby_x",
        "saved while the kernel has the disk suspended",
        0.05,
        -1.0,
        needs="disk_standby_s",
    ),
)
"""Those that come first are kept where two cannot be told apart."""

BY_NAME = {term.name: term for term in TERMS}


def amount(term: Term, activity: Mapping[str, float], clock_factor: float) -> float:
    """Return what the parameter of a term is multiplied with; NaN where it is not readable."""
    value = activity[term.rate] * term.scale
    return value * clock_factor if term.clocked else value


def clock_factor(clock_hz: float, base_hz: float, exponent: float) -> float:
    """Return dynamic power at a clock relative to that at `base_hz`.

    Power goes with f V^2: exponent 1 where voltage stays, 3 where it follows the clock (Weste and
    Harris, "CMOS VLSI Design", 4th edition, section 5.2). 1 where the clock is not known.
    """
    if exponent == 0 or not isfinite(clock_hz):
        return 1.0
    return float((clock_hz / base_hz) ** exponent)
