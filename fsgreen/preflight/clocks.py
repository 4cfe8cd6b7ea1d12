"""Whether the clock is right, and whether it is cheap to read."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import NamedTuple

from fsgreen.audit import machine
from fsgreen.audit.tree import Tree
from fsgreen.preflight.finding import Finding

GOOD = frozenset(
    {"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "timebase", "tod"}
)
"""Clocks that a process reads without entering the kernel, each the best of its machine."""

SLOW = frozenset({"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"})
"""Clocks behind a bus, or that only tick: reading one takes microseconds, or tells little."""

STA_UNSYNC = 0x0040  # linux/timex.h


class _Timex(ctypes.Structure):
    """`struct timex` of adjtimex(2), with room for what follows the fields read here."""

    _fields_ = [
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror_us", ctypes.c_long),
        ("esterror_us", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_long * 32),
    ]


class Synchronisation(NamedTuple):
    """What the kernel knows of its own time of day."""

    synchronised: bool
    maximum_error_s: float


def synchronisation() -> Synchronisation | None:
    """Return what the kernel says of the clock, None where it does not answer."""
    timex = _Timex()  # modes 0: only ask
    if ctypes.CDLL(None).adjtimex(ctypes.byref(timex)) < 0:
        return None
    return Synchronisation(not timex.status & STA_UNSYNC, timex.maxerror_us / 1e6)


def check(tree: Tree) -> Iterator[Finding]:
    """Yield the findings."""
    yield _clock(synchronisation())
    yield _clocksource(tree)


def _clock(clock: Synchronisation | None) -> Finding:
    if clock is None:
        return Finding("clock", "the kernel does not tell whether it is synchronised", "note")
    if clock.synchronised:
        return Finding("clock", f"synchronised within {clock.maximum_error_s:.3f} s", "ok")
    return Finding(
        "clock",
        "not synchronised: meters with a clock of their own cannot be matched by the date",
        "warning",
        "timedatectl set-ntp true, or apt-get install chrony",
    )


def _clocksource(tree: Tree) -> Finding:
    now = tree.text(machine.CLOCKSOURCE)
    if now is None:
        return Finding("clocksource", "not readable", "note")
    if now in GOOD:
        return Finding("clocksource", now, "ok")
    if now not in SLOW:
        return Finding("clocksource", f"{now}: not known to be quick or slow", "note")
    offered = tree.choices(f"{machine.CLOCKSOURCES}/available_clocksource")
    better = next((name for name in offered if name in GOOD), None)
    remedy = (
        f"echo {better} | sudo tee /{machine.CLOCKSOURCE}" if better else "see dmesg on the tsc"
    )
    return Finding("clocksource", f"{now}: reading the clock is slow", "warning", remedy)
