"""Testbeds share blocks only where numbers show that they are equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import synthetic

from fsgreen import reduce
from fsgreen.campaign import Campaign
from fsgreen.errors import FsgreenError
from fsgreen.fleet import equality
from fsgreen.trial import write_json

BASELINE = synthetic.make_plan(of=synthetic.cells()[:1], blocks=5)
BOUNDS = {"equivalence_percent": 5.0}


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))


def measured(testbed: str, ops: int, **said: Any) -> None:
    """Write the campaign of the baseline on a testbed, whose machine says these things."""
    synthetic.write_raw(f"c-baseline.{testbed}", BASELINE, ops=ops)
    campaign = Campaign(f"c-baseline.{testbed}")
    begun = campaign.identity()
    write_json(campaign.folder / "campaign.json", begun | {"audit": begun["audit"] | said})


def check() -> None:
    equality.check("c", "c-baseline", ["one", "two", "three"])


def test_testbeds_that_are_as_fast_as_each_other_are_equal() -> None:
    for testbed, ops in {"one": 1000, "two": 1010, "three": 990}.items():
        measured(testbed, ops)
    check()
    table = reduce.read_table("c", "equality")
    assert len(table) == 6, "three pairs in two metrics"
    assert table["equal"].all() and (table["n"] == 5).all()
    row = table[(table["testbed"] == "two") & (table["metric"] == "throughput")].iloc[0]
    assert row["ratio_x"] == pytest.approx(1.01)


def test_a_testbed_that_is_faster_is_refused_with_the_numbers() -> None:
    """The cells that it measures would be said of the others."""
    for testbed, ops in {"one": 1000, "two": 1080, "three": 1000}.items():
        measured(testbed, ops)
    with pytest.raises(FsgreenError, match="testbeds are not shown to be equal") as told:
        check()
    assert "throughput: two over one 1.080x" in told.value.what
    assert 'design = "replicate"' in str(told.value.next_step)
    assert Path(str(told.value.where)).name == "equality.csv"
    assert len(reduce.read_table("c", "equality")) == 6, "the numbers are not kept"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"kernel": "Linux 7"}, "kernel: Linux 6, Linux 7"),
        ({"tools": {"mkfs.xfs": "6"}}, "tools.mkfs.xfs: not recorded, 6"),
        ({"disks": {"sda": {"model": "B", "serial": "2"}}}, "disks.sda.model: not recorded, B"),
    ],
)
def test_machines_of_two_kinds_are_refused(said: dict[str, Any], told: str) -> None:
    measured("one", 1000)
    measured("two", 1000, **said)
    measured("three", 1000)
    with pytest.raises(FsgreenError, match="not of one kind") as error:
        check()
    assert told in error.value.what


def identity(**said: Any) -> dict[str, Any]:
    """What a campaign began with on a testbed."""
    audit = {"kernel": "Linux 6", "speed_loops_s": 1000.0}
    return {
        "audit": audit | said.pop("audit", {}),
        "testbed": {"kind": "block", "serial": "1", "device": "sda", "queue_depth": 32},
        "meters": {"wall": {"driver": "scpi", "serial": "1", "gain_error": 0.01}},
        "boundary": "wall",
        **said,
    }


def differences(**said: Any) -> list[str]:
    return [*equality.differences({"one": identity(), "two": identity(**said)}, BOUNDS)]


def test_disks_and_meters_of_one_model_have_serial_numbers_of_their_own() -> None:
    """Twelve machines of one kind have twelve disks."""
    testbed = {"kind": "block", "serial": "2", "device": "sdb", "queue_depth": 32}
    meters = {"wall": {"driver": "scpi", "serial": "2", "gain_error": 0.01}}
    assert differences(testbed=testbed, meters=meters) == []
    disks = [{"sda": {"model": "A", "serial": serial}} for serial in "12"]
    one, two = (identity(audit={"disks": each}) for each in disks)
    assert [*equality.differences({"one": one, "two": two}, BOUNDS)] == []
    assert differences(testbed=testbed | {"queue_depth": 1}) == ["testbed queue_depth: 32, 1"]
    assert differences(meters={"wall": meters["wall"] | {"gain_error": 0.1}}) == [
        "meter wall gain_error: 0.01, 0.1"
    ]


def test_a_machine_that_is_slower_is_told_with_its_speed() -> None:
    assert differences(audit={"speed_loops_s": 960.0}) == []
    [told] = differences(audit={"speed_loops_s": 900.0})
    assert told.startswith("speed of a core: two is 10.0 % slower than one, more than 5 %")


def baseline(factor: float, seed: int) -> pd.DataFrame:
    """Trials of a testbed that is so much faster, with a scatter of 2 %."""
    scatter = np.random.default_rng(seed).lognormal(0.0, 0.02, size=5)
    return pd.DataFrame({"work_ops": 1000 * factor * scatter, "duration_s": 1.0})


def equal_of(factor: float) -> int:
    """Of 200 pairs of testbeds, how many are called equal within 5 %."""
    pairs = (
        {"one": baseline(1.0, 2 * nth), "two": baseline(factor, 2 * nth + 1)} for nth in range(200)
    )
    found = [next(equality.compared(pair, ["throughput"], 0.05)) for pair in pairs]
    return sum(row["equal"] for row in found)


def test_testbeds_that_differ_by_the_bound_are_seldom_called_equal() -> None:
    """At 5 % that is 10 of 200; equal ones are found as such by five trials each."""
    assert equal_of(1 / 0.95) <= 18
    assert equal_of(1.0) >= 180
