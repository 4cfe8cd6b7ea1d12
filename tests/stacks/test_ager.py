"""Aged file systems: one seed, one tree; measured, put back as they were, and honest shortfalls."""

import os
import shutil
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import create_autospec

import pytest
from loops import levels, need

from fsgreen.devices import image
from fsgreen.devices.base import Settings
from fsgreen.devices.loop import LoopDevice
from fsgreen.devices.volume import Volume
from fsgreen.errors import FsgreenError
from fsgreen.stacks.aging import aged, ager, snapshot
from fsgreen.stacks.aging.ager import Aging
from fsgreen.stacks.base import Mount
from fsgreen.stacks.kernel import KernelStack
from fsgreen.testbeds import Testbed

pytestmark = pytest.mark.usefixtures("caches_kept")

SIZE_B = {"ext2": 64 << 20, "ext4": 64 << 20, "xfs": 300 << 20, "btrfs": 256 << 20}
AGED = SIZE_B if "FSGREEN_NIGHTLY" in os.environ else ("ext4", "btrfs")
"""By day one that overwrites, and one that checks what it reads."""
QUICK = Aging(layout_score=0.0, most_rounds=2)


def bed_for(file_system: str, aging: Aging = QUICK) -> Testbed:
    need(file_system)
    device = LoopDevice(Settings(size_b=SIZE_B[file_system], in_memory=True))
    return Testbed("loop", device, KernelStack(device, aging))


def tree(mount: Mount) -> dict[str, int]:
    place = mount.directory / ager.FOLDER
    return {
        str(path.relative_to(place)): path.stat().st_size
        for path in place.rglob("*")
        if path.is_file()
    }


def require_readable(mount: Mount) -> None:
    """btrfs checks what it reads: a copy that differed in one block would fail here."""
    expected = bytes(image.filling(0, 1 << 20)) * 8
    for name, size_b in tree(mount).items():
        assert (mount.directory / ager.FOLDER / name).read_bytes() == expected[:size_b]


@pytest.mark.loop
@pytest.mark.parametrize("file_system", AGED)
def test_an_aged_file_system_is_measured_and_comes_back_for_each_trial(file_system: str) -> None:
    with bed_for(file_system) as bed:
        first = bed.prepare(levels(file_system, device="aged"), seed=3)
        files = tree(first)
        found = first.fragmentation
        assert found is not None and found["files_count"] == len(files) > 50
        assert found["extents_per_file_x"] > 1
        assert 0 < found["one_piece_percent"] <= 100
        assert 0 < found["layout_score_x"] < 1
        assert 30 < found["utilisation_percent"] < 70
        assert found["new_file_extents_x"] >= 1
        assert found["rounds_count"] == 2
        assert found["shortfall_x"] == found["layout_score_x"]
        shutil.rmtree(first.directory / ager.FOLDER / "00")
        (first.directory / "workload").write_bytes(b"x" * (8 << 20))
        bed.restore()
        bed.prepare(levels("ext4"))
        second = bed.prepare(levels(file_system, device="aged"), seed=3)
        assert tree(second) == files
        require_readable(second)
        assert not (second.directory / "workload").exists()
        assert second.fragmentation == found
        assert second.state == first.state
        assert second.state is not None and second.state.name == "aged"
        assert second.state.written_b >= bed.describe()["size_b"]
        assert bed.remount().fragmentation == found


@pytest.mark.loop
def test_a_seed_gives_one_tree_and_another_seed_another() -> None:
    trees = []
    for seed in (1, 1, 2):
        with bed_for("ext4") as bed:
            trees.append(tree(bed.prepare(levels("ext4", device="aged"), seed=seed)))
    assert trees[0] == trees[1] != trees[2]


def test_the_images_of_a_block_go_when_the_next_one_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten blocks of them, kept in RAM beside the image, would fill it."""
    monkeypatch.setattr(snapshot, "save", lambda fd, size_b, file: file.touch(exist_ok=False))
    volume = create_autospec(Volume, instance=True, size_b=4 << 20)
    volume.overwriting.return_value = nullcontext(-1)
    images = aged.AgedImages(tmp_path / "aged")
    for seed in (1, 2):
        for file_system in ("ext4", "xfs"):
            key = aged.Key(file_system, "default", seed, volume.size_b)
            assert images.find(key) is None
            kept = images.keep(key, volume, (), {}, {})
            assert images.find(key) is kept
            assert kept.file.exists()
    assert len(list((tmp_path / "aged").iterdir())) == 2
    assert images.find(aged.Key("ext4", "default", 1, volume.size_b)) is None


@pytest.mark.loop
def test_the_agers_files_do_not_hide_whether_the_workloads_are_cached() -> None:
    with bed_for("ext4") as bed:
        place = bed.prepare(levels("ext4", device="aged")).directory
        (place / "file").write_bytes(b"x" * 100_000)
        assert bed.resident_share() == 1
        bed.remount()
        assert bed.resident_share() == 0
        assert bed.warm() == 1


@pytest.mark.loop
def test_a_copy_that_comes_back_otherwise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with bed_for("ext4") as bed:
        mount = bed.prepare(levels("ext4", device="aged"))
        assert mount.fragmentation is not None
        wrong = {**mount.fragmentation, "files_count": 1.0}
        monkeypatch.setattr(ager, "layout", lambda place: wrong)
        with pytest.raises(FsgreenError, match=r"not as it was: files_count is 1.0"):
            bed.prepare(levels("ext4", device="aged"))


@pytest.mark.loop
def test_a_target_that_is_reached_ends_it_without_shortfall() -> None:
    with bed_for("ext4", Aging(layout_score=0.999)) as bed:
        found = bed.prepare(levels("ext4", device="aged")).fragmentation
        assert found is not None
        assert found["layout_score_x"] <= found["target_layout_score_x"] == 0.999
        assert (found["rounds_count"], found["shortfall_x"]) == (1, 0)


@pytest.mark.loop
def test_a_full_file_system_is_an_error_with_a_way_on() -> None:
    with bed_for("ext4", Aging(highest=1.5)) as bed:
        with pytest.raises(FsgreenError, match="the ager cannot go on") as caught:
            bed.prepare(levels("ext4", device="aged"))
        assert "image_mib" in (caught.value.next_step or "")


@pytest.mark.parametrize(
    ("scores", "done"),
    [
        ([], False),
        ([0.95], False),
        ([0.95, 0.9], True),
        ([0.95, 0.95, 0.95], False),
        ([0.95, 0.95, 0.95, 0.949], True),
        ([0.99, 0.98, 0.97, 0.96], False),
        ([0.99, 0.98, 0.97, 0.96, 0.961, 0.96, 0.9595], True),
        ([0.99 - 0.01 * number for number in range(8)], False),
        ([0.9999 - 0.005 * number for number in range(12)], True),
    ],
)
def test_aging_ends_at_the_target_or_when_nothing_moves(scores: list[float], done: bool) -> None:
    assert ager._done(scores, Aging(layout_score=0.9)) == done


def test_files_of_one_block_count_as_whole(tmp_path: Path) -> None:
    """Smith and Seltzer's score leaves them out: they cannot be in pieces."""
    (tmp_path / ager.FOLDER).mkdir()
    assert ager.layout(tmp_path)["layout_score_x"] == 1.0
