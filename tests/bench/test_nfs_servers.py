"""The scripts that measure the NFS server: what they ask for is what programs take."""

import argparse
import os
import tomllib
from pathlib import Path

import pytest

from bench import nfs, nfs_read_ahead, nfs_throughput
from bench.nfs_read_ahead import LARGE, LOADS, SMALL, STRIDES, WAYS, Way
from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.simdisk import parameters
from fsgreen.workloads.nfs import PROGRAM

needs_server = pytest.mark.skipif(
    paths.program(PROGRAM) is None, reason="engine not installed: run ./run engine"
)
needs_disk = pytest.mark.skipif(
    paths.program("fsgreen-simdisk") is None, reason="engine not installed: run ./run engine"
)


@needs_server
@pytest.mark.parametrize("load", LOADS)
def test_every_load_is_read_whole(load: str, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(os.urandom(1 << 20))
    with nfs.serving(tmp_path, ["--heuristic", "cursors"]) as (address, summary):
        report = nfs.read(address, ["one"], LOADS[load])
    assert report["read_b"] == 1 << 20
    assert summary["reads_count"] == (1 << 20) // 8192
    assert summary["ahead_b"] > 0


@needs_server
def test_a_server_that_does_not_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FsgreenError, match="nfs failed"), nfs.serving(tmp_path / "none", []):
        pass


def test_every_ratio_is_of_ways_that_are_measured() -> None:
    for load in LOADS:
        assert {Way(load, "default"), Way(load, "slowdown")} <= set(WAYS)
    assert {Way(f"{strides} strides", "cursors") for strides in STRIDES} <= set(WAYS)
    assert {Way("8 files", "default", table) for table in (SMALL, LARGE)} <= set(WAYS)


@needs_disk
def test_only_the_read_ahead_of_the_disk_is_another(tmp_path: Path) -> None:
    asked = argparse.Namespace(disk="wd200bb", disk_ahead_kib=12)
    changed = tomllib.loads(Path(nfs_read_ahead.profile(asked, tmp_path)).read_text())
    original = tomllib.loads(parameters("wd200bb"))
    differing = {key for key in original if original[key] != changed[key]}
    assert differing == {"cache"}
    assert changed["cache"] == {**original["cache"], "read_ahead_kib": 12}


def test_ports_that_are_free_differ_and_nobody_listens_there() -> None:
    ports = nfs_throughput.free_ports(2)
    assert len(set(ports)) == 2
    assert not any(map(nfs_throughput.is_listening, ports))
