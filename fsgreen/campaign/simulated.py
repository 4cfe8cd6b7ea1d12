"""What a trial records of a simulated disk: timing, counters, processor time of its server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from fsgreen.devices.names import FLASH
from fsgreen.errors import FsgreenError
from fsgreen.meters import simdisk
from fsgreen.meters.core.host import SSD_COLUMNS
from fsgreen.meters.core.rawtrace import RawTrace
from fsgreen.simdisk import Control
from fsgreen.stacks.base import DISK
from fsgreen.testbeds import Testbed
from fsgreen.trial import Phase


class Servers:
    """The processor time of the servers of a testbed's simulated disks since the first reading."""

    def __init__(self, testbed: Testbed) -> None:
        self._testbed = testbed
        self._begun: dict[str, tuple[float, float]] = {}

    def processor_s(self) -> tuple[float, float]:
        """Return the user and system time of all servers since their first reading, in seconds.

        Raises FsgreenError while a server is starting.
        """
        user_s = system_s = 0.0
        for role, control in self._testbed.simulators().items():
            now = control.processor_s()
            begun = self._begun.setdefault(role, now)
            user_s += now[0] - begun[0]
            system_s += now[1] - begun[1]
        return user_s, system_s


def counters(testbed: Testbed) -> dict[str, float]:
    """Return the counters of the testbed's disk that this machine's kernel lacks, from any thread.

    The keys are columns of `host.parquet`. Those of an SSD are missing while its server starts.
    """
    found = testbed.counters() or {}
    try:
        control = testbed.simulator()
        told = {} if control is None else control.ask("counters")["counters"]
    except FsgreenError:
        return found
    return found | {name: float(told[name]) for name in SSD_COLUMNS if name in told}


@contextmanager
def watched(testbed: Testbed, into: dict[str, Any]) -> Iterator[None]:
    """Watch the simulated disks of a testbed during the `with` block, and write the result `into`.

    `timing` has the requests, how many were on time, their share, and percentiles of the lateness.
    `server_user_s` and `server_system_s` are processor seconds of the server. Rule 10, the table of
    the host and the power model leave them out. `flash` has the same for a simulated flash. Nothing
    is written if all devices are real.

    Raises FsgreenError if a server ended or had no room for data: that is why the work failed.
    """
    with ExitStack() as watches:
        for role, control in testbed.simulators().items():
            watches.enter_context(_watched(control, into, None if role == DISK else role))
        yield


@contextmanager
def _watched(control: Control, into: dict[str, Any], key: str | None) -> Iterator[None]:
    """Watch one disk; write the result under `key`, or directly into the mapping if it is None."""
    control.ask("timing", reset=True)
    before_s = control.processor_s()
    with control.storing():
        yield
    timing = control.ask("timing")
    user_s, system_s = (
        after - before for after, before in zip(control.processor_s(), before_s, strict=True)
    )
    del timing["ok"]
    seen = {"timing": timing, "server_user_s": user_s, "server_system_s": system_s}
    into |= seen if key is None else {key: seen}


def timings(seen: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the timing and the role of each disk, given what `watched` wrote."""
    if seen:
        yield seen["timing"], DISK
    if FLASH in seen:
        yield seen[FLASH]["timing"], FLASH


def parts_j(raw: Path, measure: Phase) -> dict[str, dict[str, float]]:
    """Return the energy of each part of each simulated disk over a phase, in joules.

    The outer key is the name of the meter; the inner key is the part.
    """
    trace = RawTrace(raw)
    return {
        name: simdisk.parts_j(trace.chunks(name), measure.start_s, measure.end_s)
        for name, info in trace.infos.items()
        if info.driver == simdisk.DRIVER.name
    }
