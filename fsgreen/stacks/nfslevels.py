"""The levels of NFS: what a cell asks of client and network, and what is refused."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fsgreen.devices.levels import PAGE_KIB
from fsgreen.devices.names import Levels
from fsgreen.devices.queue import READ_AHEAD_KIB
from fsgreen.errors import FsgreenError

GUEST = "vm"
"""The kind of device whose kernel has no other exports."""

QUEUED_PACKETS = 100_000
"""Limit of packets in flight in a network with a delay: more than all TCP windows hold."""

MOST_CONNECTIONS = 16
"""The kernel's maximum (nfs(5), nconnect)."""


@dataclass(frozen=True)
class Asked:
    """The settings of client and network for a cell.

    The client has `connections` connections (nconnect) and its own read-ahead. `round_trip_ms` is
    added to the kernel's own time, and `connection_mbit_s` is the limit of each connection in each
    direction, in 10**6 bits per second.
    """

    connections: int = 1
    read_ahead_kib: int = READ_AHEAD_KIB
    round_trip_ms: float = 0
    connection_mbit_s: float | None = None

    @property
    def discipline(self) -> list[str]:
        """The queueing discipline that emulates such a network, as arguments of tc(8)."""
        if self.connection_mbit_s is not None:
            return ["fq", "maxrate", f"{self.connection_mbit_s:f}mbit"]
        if self.round_trip_ms:
            one_way = f"{self.round_trip_ms / 2:f}ms"
            return ["netem", "delay", one_way, "limit", str(QUEUED_PACKETS)]
        return []


FACTORS = {
    "nfs_connections": "connections",
    "nfs_read_ahead_kib": "read_ahead_kib",
    "network_round_trip_ms": "round_trip_ms",
    "connection_mbit_s": "connection_mbit_s",
}
"""The factors that a study declares, and the settings that they set."""


def asked_of(levels: Levels) -> Asked:
    """Return the settings of the levels. Raises `FsgreenError` if one is not possible."""
    told = {to: levels[factor] for factor, to in FACTORS.items() if levels.get(factor) is not None}
    found = Asked(**told)
    if not 1 <= found.connections <= MOST_CONNECTIONS:
        raise _refused(
            f"a client of NFS has 1 to {MOST_CONNECTIONS} connections, not {found.connections:g}",
            "nfs_connections",
        )
    if found.read_ahead_kib < 0 or found.read_ahead_kib % PAGE_KIB:
        raise _refused(
            f"a client reads ahead whole pages of {PAGE_KIB} KiB, not {found.read_ahead_kib:g} KiB",
            "nfs_read_ahead_kib",
        )
    if not 0 <= found.round_trip_ms < math.inf:
        raise _refused(
            f"a network takes 0 ms or more there and back, not {found.round_trip_ms:g} ms",
            "network_round_trip_ms",
        )
    if found.connection_mbit_s is not None:
        if not 0 < found.connection_mbit_s < math.inf:
            raise _refused(
                f"connections of {found.connection_mbit_s:g} Mbit/s let nothing pass",
                "connection_mbit_s",
            )
        if found.round_trip_ms:
            raise _refused(
                "a network has a delay or limits each connection, and the cell asks for both",
                "network_round_trip_ms, connection_mbit_s",
            )
    return found


def check(levels: Levels, *, exported: bool, device: str) -> None:
    """Raise `FsgreenError` if a device has no NFS, and for levels that are not possible.

    `exported` says whether the file system of the cell is NFS, and `device` is the kind of device.
    """
    named = [name for name in FACTORS if levels.get(name) is not None]
    if not exported:
        if named:
            raise FsgreenError(
                f"{levels['file_system']} has no network, but the cell asks for {named[0]}",
                where=f"testbed {device}",
                next_step=f"leave {named[0]} out of cells of {levels['file_system']}",
            )
        return
    if device != GUEST:
        raise FsgreenError(
            "nfs is served by the kernel, which may serve others here: a guest has one of its own",
            where=f"testbed {device}",
            next_step="--testbed vm",
        )
    asked_of(levels)


def _refused(what: str, factors: str) -> FsgreenError:
    return FsgreenError(what, where=f"levels of {factors}", next_step="change it in the study")
