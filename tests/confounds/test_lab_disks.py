"""The disks of the lab: in virtual time and in real time the same questions and columns."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fsgreen import confounds
from fsgreen.confounds import KNOWN, disks
from fsgreen.confounds.virtual import VirtualDisk
from fsgreen.devices import image
from fsgreen.errors import FsgreenError
from fsgreen.units import check_columns

COLUMNS = {
    "offset": ["offset_b", "pass", "bandwidth_b_s"],
    "queue": ["queue_depth", "pass", "throughput_ops_s"],
    "scheduler": ["scheduler", "pass", "reader", "read_b", "completion_s"],
    "cache": ["cache", "pass", "bandwidth_b_s"],
    "alignment": ["action", "shift_b", "pass", "throughput_ops_s"],
    "read_ahead": ["pattern", "read_ahead", "pass", "bandwidth_b_s"],
}


@pytest.fixture(scope="module")
def scsi() -> VirtualDisk:
    engine = pytest.importorskip("fsgreen_engine", reason="engine not installed: run ./run engine")
    if not hasattr(engine, "simulate"):
        pytest.skip("the engine is older than the simulator: run ./run engine")
    return VirtualDisk("ddys-t36950n")


def check(table: pd.DataFrame, columns: list[str]) -> None:
    check_columns(table, also=["reader"])
    assert list(table.columns) == columns
    assert len(table)
    assert (table[columns[-1]] > 0).all()


@pytest.mark.parametrize("question", COLUMNS)
def test_a_virtual_disk_answers_with_the_columns_of_the_probes(
    question: str, scsi: VirtualDisk
) -> None:
    """A figure or a size that reads the one must read the other."""
    check(scsi.curve(question), COLUMNS[question])


@pytest.mark.parametrize("question", COLUMNS)
def test_a_real_one_answers_with_the_same_columns(question: str, tmp_path: Path) -> None:
    image.allocate(tmp_path / "file", 64 << 20)
    disk = disks.open_disk(str(tmp_path / "file"), "")
    assert "measured" in disk.basis
    check(disk.curve(question), COLUMNS[question])


def test_the_same_seed_gives_the_same_numbers(scsi: VirtualDisk) -> None:
    """Thirty students who compare notes must not have thirty disks."""
    one, other = (VirtualDisk("ddys-t36950n", seed=3).queue() for _ in range(2))
    pd.testing.assert_frame_equal(one, other)


def test_the_zones_of_the_profile_are_found(scsi: VirtualDisk) -> None:
    """The disk of nfstricks03 reads 36 MB/s at its edge and 21 inside (its profile's source)."""
    found = confounds.zones(scsi.offset())
    speed = found["bandwidth_b_s"].to_numpy()
    assert len(found) > 3
    assert (np.diff(speed) < 0).all()
    assert speed[0] / speed[-1] == pytest.approx(36 / 21, rel=0.1)


def test_a_queue_lets_the_disk_choose(scsi: VirtualDisk) -> None:
    """A disk of today with 32 commands at once against one; `scsi` asks for the engine."""
    rates = VirtualDisk("st4000nm0033").queue().groupby("queue_depth")["throughput_ops_s"].median()
    assert rates[32] > 1.5 * rates[1]


def test_an_elevator_is_unfair_and_n_cscan_is_not(scsi: VirtualDisk) -> None:
    """nfstricks03, section 5.3: last over first 6 to 7 against less than 1.2."""
    runs = scsi.scheduler(("elevator", "n-cscan"))
    ends = runs.groupby(["scheduler", "pass"])["completion_s"].agg(["min", "max"])
    spread = (ends["max"] / ends["min"]).groupby("scheduler").median()
    assert spread["elevator"] > 3
    assert spread["n-cscan"] < 1.5


def test_sectors_of_512_bytes_have_no_alignment(scsi: VirtualDisk) -> None:
    size = confounds.size_of(KNOWN["alignment"], scsi.alignment())
    assert size.by_chance


def test_without_the_engine_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsgreen_engine", None)
    with pytest.raises(FsgreenError, match="no simulator") as caught:
        disks.open_disk("virtual", "ddys-t36950n")
    assert caught.value.next_step == "./run engine"


def test_an_unknown_disk_is_told(scsi: VirtualDisk) -> None:
    with pytest.raises(FsgreenError, match="cannot be simulated"):
        disks.open_disk("virtual", "no-such-disk")


def levels(cold: list[float], warm: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (state, number, speed)
            for state, speeds in (("cold", cold), ("warm", warm))
            for number, speed in enumerate(speeds)
        ],
        columns=["cache", "pass", "bandwidth_b_s"],
    )


STEADY = [10.0, 10.01, 10.02, 10.03, 10.04]


@pytest.mark.parametrize(
    ("warm", "words"),
    [
        ([1.5 * speed for speed in STEADY], "it would have fooled you"),
        ([1.05 * speed for speed in STEADY], "this one is safe"),
        ([11.5, 12.0, 11.7, 12.5, 12.3], "it may have fooled you"),
        (STEADY, "nothing here to be fooled by"),
        ([], "nobody knows"),
    ],
)
def test_the_answer_holds_the_size_against_the_effect(warm: list[float], words: str) -> None:
    assert words in disks.answer("state of the cache", levels(STEADY, warm), 20.0)


def test_without_a_curve_there_is_no_answer() -> None:
    assert "nobody knows" in disks.answer("state of the cache", pd.DataFrame(), 20.0)


def test_scatter_that_could_hide_the_difference_acquits_nothing() -> None:
    """It could be chance, and up to twice as fast: a student must not take it for safe."""
    rows = [
        (depth, number, rate)
        for depth, rates in ((1, (70, 140, 75, 130, 90)), (32, (120, 72, 138, 80, 125)))
        for number, rate in enumerate(rates)
    ]
    curve = pd.DataFrame(rows, columns=["queue_depth", "pass", "throughput_ops_s"])
    assert "may hide 10 %" in disks.answer("requests in flight", curve, 10.0)
    assert "nothing here to be fooled by" in disks.answer("requests in flight", curve, 900.0)
