"""What a trial keeps of a simulated disk: whether it kept its time, and what its server took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from fsgreen.devices.base import FLASH
from fsgreen.meters import simdisk
from fsgreen.meters.core.rawtrace import RawTrace
from fsgreen.simdisk import Control
from fsgreen.stacks.base import DISK
from fsgreen.testbeds import Testbed
from fsgreen.trial import Phase


class Servers:
    """What serves the simulated disks of a testbed, each from when it was first asked for."""

    def __init__(self, testbed: Testbed) -> None:
        self._testbed = testbed
        self._begun: dict[str, tuple[float, float]] = {}

    def processor_s(self) -> tuple[float, float]:
        """Return the seconds in user and in system mode that all servers have had since then.

        Raises FsgreenError while one is being started.
        """
        user_s = system_s = 0.0
        for role, control in self._testbed.simulators().items():
            now = control.processor_s()
            begun = self._begun.setdefault(role, now)
            user_s += now[0] - begun[0]
            system_s += now[1] - begun[1]
        return user_s, system_s


@contextmanager
def watched(testbed: Testbed, into: dict[str, Any]) -> Iterator[None]:
    """Watch the simulated disks of a testbed meanwhile; put what was seen `into` a record.

    `timing`: requests, how many were on time, their share, and percentiles of the lateness.
    `server_user_s`, `server_system_s`: processor seconds of the server, which rule 10, the table of
    the host and the power model leave out. `flash` has the same of a simulated flash. Nothing is
    put where the devices are real.

    Raises
    ------
    FsgreenError
        If a server ended meanwhile or had no room for data, which then is why the work failed.
    """
    with ExitStack() as watches:
        for role, control in testbed.simulators().items():
            watches.enter_context(_watched(control, into, None if role == DISK else role))
        yield


@contextmanager
def _watched(control: Control, into: dict[str, Any], key: str | None) -> Iterator[None]:
    """Watch one disk; put what was seen under a key, all of it beside each other without one."""
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
    """Yield how each disk kept its time, and what it is to the cell, of what `watched` put."""
    if seen:
        yield seen["timing"], DISK
    if FLASH in seen:
        yield seen[FLASH]["timing"], FLASH


def parts_j(raw: Path, measure: Phase) -> dict[str, dict[str, float]]:
    """Return the joules of each part of each simulated disk over a phase."""
    trace = RawTrace(raw)
    return {
        name: simdisk.parts_j(trace.chunks(name), measure.start_s, measure.end_s)
        for name, info in trace.infos.items()
        if info.driver == simdisk.DRIVER.name
    }
