"""What a trial keeps of a simulated disk: whether it kept its time, and what its server took."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fsgreen.meters import simdisk
from fsgreen.meters.core.rawtrace import RawTrace
from fsgreen.testbeds import Testbed
from fsgreen.trial import Phase


@contextmanager
def watched(testbed: Testbed, into: dict[str, Any]) -> Iterator[None]:
    """Watch the simulated disk of a testbed meanwhile; put what was seen `into` a record.

    `timing`: requests, how many were on time, their share, and percentiles of the lateness.
    `server_user_s`, `server_system_s`: processor seconds of the server, which rule 10, the table of
    the host and the power model leave out. Nothing is put where the device is real.

    Raises
    ------
    FsgreenError
        If the server ended meanwhile or had no room for data, which then is why the work failed.
    """
    control = testbed.simulator()
    if control is None:
        yield
        return
    control.ask("timing", reset=True)
    before_s = control.processor_s()
    with control.storing():
        yield
    timing = control.ask("timing")
    user_s, system_s = (
        after - before for after, before in zip(control.processor_s(), before_s, strict=True)
    )
    del timing["ok"]
    into |= {"timing": timing, "server_user_s": user_s, "server_system_s": system_s}


def parts_j(raw: Path, measure: Phase) -> dict[str, dict[str, float]]:
    """Return the joules of each part of each simulated disk over a phase."""
    trace = RawTrace(raw)
    return {
        name: simdisk.parts_j(trace.chunks(name), measure.start_s, measure.end_s)
        for name, info in trace.infos.items()
        if info.driver == simdisk.DRIVER.name
    }
