"""The activity of a machine in a span of time, and the terms of a component model that it drives.

Rates come from two samples of the kernel's counters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from fsgreen.meters.core.readings import NAN
from fsgreen.meters.core.workingtime import RESTING, WORKING

RATES = {
    "cpu_user_x": "cpu_user_s",
    "cpu_system_x": "cpu_system_s",
    "cpu_shallow_idle_x": "cpu_shallow_idle_s",
    "disk_busy_x": "disk_busy_s",
    "disk_reads_hz": "disk_reads_count",
    "disk_writes_hz": "disk_writes_count",
    "disk_read_b_s": "disk_read_b",
    "disk_write_b_s": "disk_write_b",
    "disk_discards_hz": "disk_discards_count",
    "disk_standby_x": "disk_standby_s",
}
"""The rates, and the counter of each: a column of `host.parquet`."""


def activity(before: Mapping[str, float], now: Mapping[str, float]) -> dict[str, float]:
    """Return the rates between two rows of `host.parquet`.

    A rate is NaN if its counter cannot be read, or went back because its device was exchanged.

    The keys are those of `RATES` (numbers of busy cores, shares of time, rates per second), and

    cpu_busy_x : share of the processors' time in user or system mode.
    cpu_clock_hz : mean clock of the cores while they worked.
    disk_requests_hz : reads and writes per second.
    """
    spent = {name: now[name] - before[name] for name in now}
    working_s = sum(spent[name] for name in WORKING)
    whole_s = working_s + sum(spent[name] for name in RESTING)
    elapsed_s = spent["time_s"]
    rates = {rate: _rate(spent.get(counter, NAN), elapsed_s) for rate, counter in RATES.items()}
    cycles = spent.get("cpu_cycles_count", NAN)
    return rates | {
        "cpu_busy_x": working_s / whole_s if whole_s > 0 else 0.0,
        "cpu_clock_hz": cycles / working_s if working_s > 0 else NAN,
        "disk_requests_hz": rates["disk_reads_hz"] + rates["disk_writes_hz"],
    }


def _rate(spent: float, elapsed_s: float) -> float:
    if spent < 0:
        return NAN
    return spent / elapsed_s if elapsed_s > 0 else 0.0


def disk_states(activity: Mapping[str, float], rate_b_s: float) -> dict[str, float]:
    """Return the shares of time in which the disk seeks, reads and writes.

    `rate_b_s` is the transfer rate of the disk. The transfer time is bytes over that rate, at most
    the time with a request in flight. The rest of the latter is seeking. If the rate is NaN, all of
    it is seeking.
    """
    busy = activity["disk_busy_x"]
    read, write = (
        activity[name] / rate_b_s if isfinite(rate_b_s) else 0.0
        for name in ("disk_read_b_s", "disk_write_b_s")
    )
    transfer = read + write
    factor = busy / transfer if transfer > busy else 1.0
    return {
        "disk_seek_x": busy - factor * transfer,
        "disk_read_x": factor * read,
        "disk_write_x": factor * write,
    }


@dataclass(frozen=True)
class Term:
    """One term of the component model."""

    name: str
    """The name of its parameter, with the unit."""
    rate: str
    """The rate of `activity` that the parameter is multiplied with."""
    per: str
    """What the parameter is the power or the energy of, in words."""
    least: float
    """The least range of the rate for which the parameter can be fitted."""
    scale: float = 1.0
    """A factor on the rate."""
    clocked: bool = False
    """Whether the term depends on the clock."""
    needs: str | None = None
    """A counter that not every machine has."""


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
"""The terms. If two cannot be told apart, the first one is kept."""

BY_NAME = {term.name: term for term in TERMS}


def amount(term: Term, activity: Mapping[str, float], clock_factor: float) -> float:
    """Return what the parameter of a term is multiplied with; NaN if its counter is unreadable."""
    value = activity[term.rate] * term.scale
    return value * clock_factor if term.clocked else value


def clock_factor(clock_hz: float, base_hz: float, exponent: float) -> float:
    """Return dynamic power at a clock relative to that at `base_hz`.

    Power is proportional to f V^2. So the exponent is 1 if the voltage is constant, and 3 if it
    follows the clock (Weste and Harris, "CMOS VLSI Design", 4th edition, section 5.2). The factor
    is 1 if the clock is not known.
    """
    if exponent == 0 or not isfinite(clock_hz):
        return 1.0
    return float((clock_hz / base_hz) ** exponent)
