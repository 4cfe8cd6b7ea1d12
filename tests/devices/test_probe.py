"""The probes of a bare testbed: right columns, right order, nothing changed, and quick."""

from pathlib import Path
from typing import Any

import pytest

from fsgreen.devices import image, probe
from fsgreen.devices.probe import sharing
from fsgreen.devices.probe import target as targets
from fsgreen.errors import FsgreenError
from fsgreen.units import check_columns


@pytest.fixture
def target(tmp_path: Path) -> Path:
    image.allocate(tmp_path / "probed", 64 << 20)
    return tmp_path / "probed"


class SetQueue:
    """A queue whose schedulers are names only."""

    def __init__(self) -> None:
        self.scheduler: str | None = "none"
        self.history: list[str] = []

    def schedulers(self) -> list[str]:
        return ["none", "bfq"]

    def set_scheduler(self, name: str) -> None:
        self.scheduler = name
        self.history.append(name)


def test_allocated_file_has_no_holes_and_is_seeded(target: Path, tmp_path: Path) -> None:
    assert target.stat().st_size == 64 << 20
    assert target.stat().st_blocks * 512 >= 64 << 20
    image.allocate(tmp_path / "again", 64 << 20)
    assert (tmp_path / "again").read_bytes() == target.read_bytes()


def test_throughput_by_offset_covers_the_target_in_random_order(target: Path) -> None:
    table = probe.throughput_by_offset(target, seed=1, count=16, length_b=1 << 20, passes=2)
    check_columns(table)
    assert list(table.columns) == ["offset_b", "pass", "bandwidth_b_s"]
    first = table[table["pass"] == 0]["offset_b"].tolist()
    last_b = (64 << 20) - (1 << 20) - (256 << 10)
    assert len(set(first)) == 16 and min(first) == 0 and max(first) == last_b
    assert first != sorted(first)
    assert (table["bandwidth_b_s"] > 0).all()
    same = probe.throughput_by_offset(target, seed=1, count=16, length_b=1 << 20, passes=1)
    assert same["offset_b"].tolist() == first


def test_slow_disk_gets_fewer_passes_and_shorter_reads_not_half_ones(target: Path) -> None:
    """A disk of 20 MB/s would take minutes for what one in memory does in a second."""
    table = probe.throughput_by_offset(target, seed=1, count=16, passes=5, budget_s=0.0)
    assert table["pass"].unique().tolist() == [0]
    assert len(table) == 16


def test_throughput_by_queue_depth_counts_every_depth(target: Path) -> None:
    table = probe.throughput_by_queue_depth(target, seed=1, passes=2, step_s=0.05)
    check_columns(table)
    assert list(table.columns) == ["queue_depth", "pass", "throughput_ops_s"]
    for number in (0, 1):
        depths = table[table["pass"] == number]["queue_depth"].tolist()
        assert sorted(depths) == [1, 2, 4, 8, 16, 32]
    assert (table["throughput_ops_s"] > 0).all()


def test_every_scheduler_is_tried_and_the_first_put_back(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A probe that leaves its last scheduler behind decides the campaign that follows."""
    monkeypatch.setattr(sharing, "BUDGET_S", 600.0)  # a busy disk would get one pass alone
    queue = SetQueue()
    table = probe.completion_by_scheduler(target, seed=1, queue=queue, readers=4, passes=2)
    assert table.groupby(["scheduler", "pass"])["reader"].apply(list).tolist() == [[1, 2, 3, 4]] * 4
    assert (table["completion_s"] > 0).all()
    assert set(queue.history) == {"none", "bfq"}
    assert queue.scheduler == "none"


def test_readers_below_an_unknown_scheduler_are_measured_as_it_is(target: Path) -> None:
    table = probe.completion_by_scheduler(target, seed=1, passes=1)
    assert table["scheduler"].unique().tolist() == ["as found"]
    assert len(table) == 8


def test_the_scheduler_is_put_back_when_a_reader_fails(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(5, "Input/output error")

    queue = SetQueue()
    queue.set_scheduler("bfq")
    monkeypatch.setattr("fsgreen.devices.probe.sharing.os.preadv", fail)
    with pytest.raises(FsgreenError, match="Input/output error"):
        probe.completion_by_scheduler(target, seed=1, queue=queue)
    assert queue.scheduler == "bfq"


def test_a_cold_cache_is_verified(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files in memory are never cold: their warm speed twice would look like a harmless cache."""
    table = probe.bandwidth_by_cache(target, seed=1, passes=2, step_s=0.05)
    assert table.groupby("cache").size().to_dict() == {"cold": 2, "warm": 2}
    monkeypatch.setattr(targets.os, "posix_fadvise", lambda *_: None)
    target.read_bytes()
    with pytest.raises(FsgreenError, match="cannot be made cold"):
        probe.bandwidth_by_cache(target, seed=1)


def test_alignment_reads_only_unless_it_may_write_and_changes_no_byte(target: Path) -> None:
    before = target.read_bytes()
    reads = probe.throughput_by_alignment(target, seed=1, passes=1, step_s=0.02)
    assert set(reads["action"]) == {"read"}
    both = probe.throughput_by_alignment(
        target, seed=1, passes=1, step_s=0.02, overwriting=lambda: targets.opened_to_rewrite(target)
    )
    assert set(both["action"]) == {"read", "write"}
    assert 0 in set(both["shift_b"])
    assert (both["throughput_ops_s"] > 0).all()
    assert target.read_bytes() == before


def test_read_ahead_is_tried_on_and_off_for_both_patterns(target: Path) -> None:
    table = probe.bandwidth_by_read_ahead(target, seed=1, passes=2, step_s=0.02)
    check_columns(table)
    assert table.groupby(["pattern", "read_ahead"]).size().to_dict() == {
        (pattern, state): 2 for pattern in ("sequential", "stride") for state in ("default", "off")
    }


def test_steps_are_long_enough_for_a_slow_disk_and_short_for_a_fast_one() -> None:
    assert targets.step_length_s(0.010) == 0.3
    assert targets.step_length_s(0.001) == pytest.approx(0.2)
    assert targets.step_length_s(5e-6) == 0.06


def test_a_step_in_which_the_machine_stood_still_has_a_rate_all_the_same(target: Path) -> None:
    """A rate of 0 would make one level slower than another by an infinite factor."""
    parts = probe.measurements(
        target, 1, step_s=0.0, overwriting=lambda: targets.opened_to_rewrite(target)
    )
    for name in ("queue", "alignment"):
        assert (parts[name]()["throughput_ops_s"] > 0).all()
    for name in ("cache", "read_ahead"):
        assert (parts[name]()["bandwidth_b_s"] > 0).all()


def test_what_cannot_be_probed_is_told(tmp_path: Path) -> None:
    with pytest.raises(FsgreenError, match="cannot be read with direct I/O"):
        probe.throughput_by_offset(tmp_path / "missing", seed=1)
    (tmp_path / "small").write_bytes(b"x")
    with pytest.raises(FsgreenError, match="too small to probe"):
        probe.throughput_by_queue_depth(tmp_path / "small", seed=1)


def test_one_part_that_cannot_be_measured_leaves_the_others(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory whose cache cannot be emptied still has its curve by place."""

    def refuse(*_: object, **__: object) -> Any:
        raise FsgreenError("it cannot be made cold")

    for name in ("bandwidth_by_cache", "bandwidth_by_read_ahead", "completion_by_scheduler"):
        monkeypatch.setattr(probe, name, refuse)
    monkeypatch.setattr(probe, "throughput_by_queue_depth", refuse)
    found = probe.probe(target, seed=1)
    assert found["schema"] == 2
    assert found["offset"] and found["alignment"]
    assert found["cache"] == []
    assert found["not_measured"]["cache"] == "it cannot be made cold"
