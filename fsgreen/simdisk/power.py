"""The power of a served disk over time, of which its server keeps the newest changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.simdisk.control import Control

LIMIT_UW = 10**9
"""No disk draws a kilowatt."""

LAST_NS = 2**63


@dataclass(frozen=True)
class PowerTrace:
    """The power of a disk over a span, on the host's monotonic clock."""

    times_ns: list[int]
    """The beginning of the span or a time before it, then the times at which the power changed."""
    power_uw: list[int]
    """The power from each of these times on, in microwatts."""
    until_ns: int
    """The end of the span."""


PowerSince = Callable[[int | None], PowerTrace]
"""`power_since` of one disk."""


def power_since(control: Control, since_ns: int | None = None) -> PowerTrace:
    """Return the power of the disk from a time on; by default, only the present power.

    The server answers with 16,384 changes at most. The span then ends early, and the next one
    begins at its end.

    Raises FsgreenError if no server answers, if it keeps no changes from that time on, or if the
    answer is no trace.
    """
    answer = control.ask("trace", since_ns=since_ns)
    told: list[Any] = [answer.get(name) for name in ("times_ns", "power_uw", "until_ns")]
    if not _is_trace(*told, since_ns=since_ns):
        raise FsgreenError(
            "the simulated disk answers with something else than its power over time",
            where=control.path,
            next_step=paths.BUILD,
        )
    return PowerTrace(*told)


def _is_trace(times_ns: Any, power_uw: Any, until_ns: Any, *, since_ns: int | None) -> bool:
    if not (isinstance(times_ns, list) and isinstance(power_uw, list)):
        return False
    if not len(times_ns) == len(power_uw) > 0:
        return False
    if not all(type(number) is int for number in (*times_ns, *power_uw, until_ns)):
        return False
    begin_ns = until_ns if since_ns is None else since_ns
    return (
        0 <= times_ns[0] <= begin_ns
        and all(one < next_one for one, next_one in pairwise(times_ns))
        and times_ns[-1] <= until_ns < LAST_NS
        and min(power_uw) >= 0
        and max(power_uw) < LIMIT_UW
    )
