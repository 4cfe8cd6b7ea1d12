"""What lies between client and server: this machine's loopback, or a network of a rate.

Such a network is a pair of virtual Ethernet devices between two network namespaces, each with a
token bucket before it (tc-tbf(8)). Namespaces have no names: the kernel removes them, and all that
is in them, with the processes that hold them, and these end with the harness, however that ends.
"""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fsgreen import commands, paths
from fsgreen.errors import FsgreenError
from fsgreen.workloads import process

DEVICE = "nfs"
SERVER, CLIENT = "192.0.2.1", "192.0.2.2"
"""Addresses that no network of anybody has (RFC 5737)."""

BURST_S = 0.005
"""What may go at once, as the time that it takes at the rate: some ticks of the kernel's clock."""

LEAST_MBIT_S = 0.01
"""Less carries a request in seconds."""

LEAST_BURST_B = 16 * 1024
QUEUE_B = 4 << 20
"""What waits before the device: more than sockets hold, so that nothing is lost there."""

TOOLS = ("unshare", "nsenter", "ip", "tc")


class Network(NamedTuple):
    """A way between a client and a server.

    `address` is that of the server. `server` and `client` are what a command begins with that is to
    run at one end or the other.
    """

    address: str
    server: Sequence[str]
    client: Sequence[str]


LOOPBACK = Network("127.0.0.1", (), ())


def check(mbit_s: float | None) -> None:
    """Raise `FsgreenError` where a network of this rate cannot be had; None is the loopback."""
    if mbit_s is None:
        return
    where = "network_mbit_s"
    if not (math.isfinite(mbit_s) and mbit_s >= LEAST_MBIT_S):
        raise FsgreenError(
            f"there is no network of {mbit_s:g} Mbit/s",
            where=where,
            next_step=f"declare {LEAST_MBIT_S:g} or more; leave it out for no limit",
        )
    if os.geteuid() != 0:
        raise FsgreenError(
            "a network with a rate needs root: it makes network namespaces",
            where=where,
            next_step="run the same command with sudo, or leave network_mbit_s out",
        )
    for name in TOOLS:
        _tool(name)


@contextlib.contextmanager
def between(mbit_s: float | None) -> Iterator[Network]:
    """Have a network of a rate each way while the block lasts; None is the loopback.

    The rate is in millions of bits a second, headers of Ethernet included.

    Raises FsgreenError if it cannot be made: see `check`; or the kernel has no such devices or no
    token bucket.
    """
    if mbit_s is None:
        yield LOOPBACK
        return
    with _namespace() as server, _namespace() as client:
        at_server, at_client = _inside(server), _inside(client)
        peer = ["peer", "name", DEVICE, "netns", str(client)]
        _run(at_server, "ip", "link", "add", DEVICE, "type", "veth", *peer)
        for inside, address in ((at_server, SERVER), (at_client, CLIENT)):
            _run(inside, "ip", "address", "add", f"{address}/30", "dev", DEVICE)
            _run(inside, "ip", "link", "set", DEVICE, "up")
            _run(inside, "tc", "qdisc", "add", "dev", DEVICE, "root", "tbf", *_bucket(mbit_s))
        yield Network(SERVER, at_server, at_client)


def _bucket(mbit_s: float) -> list[str]:
    rate_b_s = mbit_s * 1e6 / 8
    burst_b = max(LEAST_BURST_B, int(rate_b_s * BURST_S))
    asked = {"rate": f"{rate_b_s:.0f}bps", "burst": f"{burst_b}b", "limit": f"{QUEUE_B}b"}
    return [word for pair in asked.items() for word in pair]


@contextlib.contextmanager
def _namespace() -> Iterator[int]:
    """Hold a network namespace while the block lasts; yield the process that does."""
    hold = [_tool("unshare"), "--net", "sh", "-c", "echo; exec sleep infinity"]
    with (
        tempfile.TemporaryFile() as errors,
        process.started([*process.GUARD, *hold], subprocess.PIPE, errors) as holding,
    ):
        assert holding.stdout is not None
        if holding.stdout.readline() != b"\n":
            errors.seek(0)
            raise FsgreenError(
                f"no network namespace: {errors.read().decode(errors='replace').strip()}",
                where="unshare --net",
                next_step="leave network_mbit_s out, or take a machine that allows them",
            )
        yield holding.pid


def _inside(pid: int) -> tuple[str, ...]:
    return (_tool("nsenter"), f"--net=/proc/{pid}/ns/net", "--")


def _run(inside: Sequence[str], name: str, *arguments: str) -> None:
    kernel = "the kernel needs veth and tbf: modprobe veth; modprobe sch_tbf"
    commands.run([*inside, _tool(name), *arguments], next_step=kernel)


def _tool(name: str) -> str:
    path = paths.program(name)
    if path is None:
        raise FsgreenError(f"{name} is not installed", next_step=commands.remedy(name))
    return path
