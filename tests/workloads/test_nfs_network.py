"""A network of a rate between an NFS client and its server: it is as slow as asked, and it goes."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from patience import wait_for

from fsgreen import design, paths, workloads
from fsgreen.errors import FsgreenError
from fsgreen.workloads import Workload
from fsgreen.workloads.nfs import PROGRAM, network

MIB = 2**20
SIZE_B = 4 * MIB

needs_network = pytest.mark.skipif(
    os.geteuid() != 0 or not all(paths.program(name) for name in (PROGRAM, *network.TOOLS)),
    reason="makes network namespaces: as root, with apt-get install iproute2, and ./run engine",
)


def reader(**levels: Any) -> Workload:
    """One reader of 4 MiB."""
    plan = design.make_plan(design.load_study("nfstricks03"), "nfs")
    asked = {"heuristic": "default", "table": "large", "transport": "tcp", "readers": 1}
    return workloads.load_workload("nfs", 1 / 64, {**asked, **levels}, plan.workloads)


@needs_network
@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_nothing_is_read_faster_than_the_network_carries_it(tmp_path: Path, transport: str) -> None:
    """What was told of a network of 40 Mbit/s would be told of the loopback."""
    rate_mbit_s = 40
    workload = reader(transport=transport, network_mbit_s=rate_mbit_s)
    workload.check()
    workload.prepare(tmp_path, 1)
    summary = workload.run(tmp_path, 1, 0.0, 300.0).summary
    assert summary.read_b == SIZE_B
    bucket_b = max(network.LEAST_BURST_B, network.BURST_S * rate_mbit_s * 1e6 / 8)
    assert summary.duration_s >= (SIZE_B - bucket_b) * 8 / (rate_mbit_s * 1e6)


HARNESS = """
import time
from fsgreen.workloads.nfs import network
with network.between(100) as way:
    print(way.server, way.client, flush=True)
    time.sleep(600)
"""


@needs_network
def test_nothing_of_a_network_is_left_when_its_harness_is_killed() -> None:
    """The kernel removes devices and rates with the last process of their namespace."""
    here = subprocess.run(["ip", "-brief", "link"], capture_output=True, check=True).stdout
    harness = subprocess.Popen(
        [sys.executable, "-c", HARNESS],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(paths.root())},
    )
    assert harness.stdout is not None
    holders = re.findall(r"/proc/(\d+)/ns/net", harness.stdout.readline())
    assert len(holders) == 2
    for pid in holders:
        assert Path(f"/proc/{pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()
    now = subprocess.run(["ip", "-brief", "link"], capture_output=True, check=True).stdout
    assert now == here, "nothing is made among the devices of this machine"
    harness.kill()
    harness.communicate()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in holders))


def test_a_network_that_cannot_be_is_refused_before_a_trial(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network.check(None)
    with pytest.raises(FsgreenError, match="no network of 0 Mbit/s"):
        network.check(0)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(FsgreenError, match="needs root") as told:
        network.check(100)
    assert "leave network_mbit_s out" in str(told.value.next_step)
