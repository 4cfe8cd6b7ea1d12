"""The disk probes: right columns, right order, right size, and quick."""

import time
from pathlib import Path

import pytest

from fsgreen.errors import FsgreenError
from fsgreen.testbeds import image, probe
from fsgreen.units import check_columns


@pytest.fixture
def target(tmp_path: Path) -> Path:
    image.allocate(tmp_path / "probed", 64 << 20)
    return tmp_path / "probed"


def test_allocated_file_has_no_holes_and_is_seeded(target: Path, tmp_path: Path) -> None:
    assert target.stat().st_size == 64 << 20
    assert target.stat().st_blocks * 512 >= 64 << 20
    image.allocate(tmp_path / "again", 64 << 20)
    assert (tmp_path / "again").read_bytes() == target.read_bytes()


def test_throughput_by_offset_covers_the_target_in_random_order(target: Path) -> None:
    table = probe.throughput_by_offset(target, seed=1, count=16, length_b=2 << 20, passes=2)
    check_columns(table)
    assert list(table.columns) == ["offset_b", "pass", "bandwidth_b_s"]
    first = table[table["pass"] == 0]["offset_b"].tolist()
    assert len(set(first)) == 16 and min(first) == 0 and max(first) == (64 - 2) << 20
    assert first != sorted(first)
    assert (table["bandwidth_b_s"] > 0).all()
    same = probe.throughput_by_offset(target, seed=1, count=16, length_b=2 << 20, passes=1)
    assert same["offset_b"].tolist() == first


def test_slow_disk_gets_fewer_passes_not_half_ones(target: Path) -> None:
    table = probe.throughput_by_offset(
        target, seed=1, count=16, length_b=2 << 20, passes=5, budget_s=0.0
    )
    assert table["pass"].unique().tolist() == [0]
    assert len(table) == 16


def test_throughput_by_queue_depth_counts_every_depth(target: Path) -> None:
    began_s = time.monotonic()
    table = probe.throughput_by_queue_depth(target, seed=1, passes=2, step_s=0.05)
    assert time.monotonic() - began_s < 10
    check_columns(table)
    assert list(table.columns) == ["queue_depth", "pass", "throughput_ops_s"]
    for number in (0, 1):
        depths = table[table["pass"] == number]["queue_depth"].tolist()
        assert sorted(depths) == [1, 2, 4, 8, 16, 32]
    assert (table["throughput_ops_s"] > 0).all()


def test_what_cannot_be_probed_is_told(tmp_path: Path) -> None:
    with pytest.raises(FsgreenError, match="cannot be read with direct I/O"):
        probe.throughput_by_offset(tmp_path / "missing", seed=1)
    (tmp_path / "small").write_bytes(b"x")
    with pytest.raises(FsgreenError, match="too small to probe"):
        probe.throughput_by_queue_depth(tmp_path / "small", seed=1)
