"""Cells name the power state and the rest of an NVMe drive: set, told, and put back however."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import machines
import pytest
from nvmedrive import REST, WORKS, identity, plug_in

from fsgreen import host
from fsgreen.devices.levels import refuse_levels
from fsgreen.devices.names import OF_DISKS
from fsgreen.devices.powerstates import KEPT, PowerStates, put_back
from fsgreen.errors import FsgreenError, TrialFailed

States = Callable[[], tuple[str | None, str | None]]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> host.Tree:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return machines.make(tmp_path)


@pytest.fixture
def drive(tree: host.Tree) -> States:
    """Have a drive that rests in state 4, and may do so."""
    machines.write(tree.root, REST, "100000")
    return plug_in(tree)


def of_cells(tree: host.Tree, disk: str = "nvme0n1") -> PowerStates:
    return PowerStates(disk, tree.root, tree=tree)


def test_each_cell_has_its_levels_and_the_drive_its_own_afterwards(
    tree: host.Tree, drive: States
) -> None:
    states = of_cells(tree)
    for levels, told in (
        ({"nvme_power_state": 2}, {"nvme_power_state": 2}),
        ({"nvme_power_state": 1, "apst_us": 0}, {"nvme_power_state": 1, "apst_us": 0}),
        ({}, {"nvme_power_state": 0, "apst_us": 100000}),
        ({"apst_us": 500}, {"nvme_power_state": 0, "apst_us": 500}),
    ):
        states.check(levels)
        states.load(levels)
        assert states.now() == told
        assert drive()[0] == str(told["nvme_power_state"])
        assert tree.text(REST) == str(told.get("apst_us", 100000))
    states.restore()
    assert (drive(), tree.text(REST)) == (("0", "0"), "100000")
    assert put_back(tree.root, tree) == []


def test_a_drive_that_no_cell_names_is_not_even_asked(tree: host.Tree, drive: States) -> None:
    """A read would wake it in each trial of every other study."""
    states = of_cells(tree)
    states.check({})
    states.load({})
    assert states.now() is None
    states.restore()
    assert drive() == ("0", "4")
    assert not tree.path(KEPT).exists()


def test_what_a_killed_harness_has_set_is_put_back(tree: host.Tree, drive: States) -> None:
    machines.write(tree.root, REST, "any")
    of_cells(tree).load({"nvme_power_state": 2, "apst_us": 0})
    assert put_back(tree.root, tree) == [
        "put back nvme_power_state 0 of nvme0n1",
        "put back apst_us any of nvme0n1",
    ]
    assert (drive(), tree.text(REST)) == (("0", "0"), "any")
    assert put_back(tree.root, tree) == []


@pytest.mark.parametrize(
    "file", ["proc/sys/kernel/random/boot_id", "sys/block/nvme0n1/diskseq"], ids=["boot", "drive"]
)
def test_a_drive_that_was_reset_or_is_another_is_left_alone(
    tree: host.Tree, drive: States, file: str
) -> None:
    """What it has is its own, or what a user gave it since."""
    of_cells(tree).load({"nvme_power_state": 2})
    machines.write(tree.root, file, "another")
    assert put_back(tree.root, tree) == []
    assert drive()[0] == "2"


def test_a_drive_that_is_gone_is_left_alone(tree: host.Tree, drive: States) -> None:
    """A kernel before 5.15 does not number disks, and each sweep would fail for ever."""
    place = tree.path("sys/block/nvme0n1")
    (place / "diskseq").unlink()
    of_cells(tree).load({"nvme_power_state": 2})
    place.rename(place.with_name("gone"))
    assert put_back(tree.root, tree) == []


def test_what_cannot_be_put_back_is_told(tree: host.Tree, drive: States) -> None:
    of_cells(tree).load({"nvme_power_state": 2, "apst_us": 0})
    machines.program(tree.root, "nvme", "echo 'No such device' >&2; exit 1")
    with pytest.raises(FsgreenError, match="nvme_power_state 0 of nvme0n1 cannot be put back"):
        put_back(tree.root, tree)
    assert tree.text(REST) == "100000"
    assert tree.path(KEPT).is_file(), "the next sweep could not try again"


@pytest.mark.usefixtures("drive")
@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "null", '{"disk": 7, "identity": "", "found": 1}'],
)
def test_a_damaged_file_stops_no_sweep(tree: host.Tree, text: str) -> None:
    tree.path(KEPT).write_text(text)
    [told] = put_back(tree.root, tree)
    assert told.startswith("could not put back what nvme.json says: ")


def test_a_drive_that_was_reset_meanwhile_spoils_the_trial(tree: host.Tree, drive: States) -> None:
    """It would count for a state in which it was not measured."""
    states = of_cells(tree)
    states.load({"nvme_power_state": 2})
    for name in ("works", "now"):
        machines.write(tree.root, name, "0")
    with pytest.raises(TrialFailed, match="nvme_power_state of nvme0n1 is 0 although 2 was set"):
        states.now()


def test_a_drive_that_does_not_answer_spoils_the_trial_and_not_the_campaign(
    tree: host.Tree, drive: States
) -> None:
    """While it is reset, nobody can say in which state it works."""
    states = of_cells(tree)
    states.load({"nvme_power_state": 2})
    machines.program(tree.root, "nvme", "exit 1")
    with pytest.raises(TrialFailed, match="nvme_power_state of nvme0n1 is not known although 2"):
        states.now()


@pytest.mark.parametrize(
    ("disk", "levels", "why"),
    [
        ("sda", {"nvme_power_state": 0}, "no NVMe drive"),
        ("sda", {"apst_us": 0}, "no NVMe drive"),
        ("nvme0n1", {"nvme_power_state": 3}, "works in the states 0, 1, 2, not in '3'"),
        ("nvme0n1", {"nvme_power_state": 1.5}, "works in the states 0, 1, 2, not in '1.5'"),
        ("nvme0n1", {"apst_us": -1}, "'-1' is no whole number of us"),
        ("nvme0n1", {"apst_us": 0.5}, "'0.5' is no whole number of us"),
        ("nvme1n1", {"apst_us": 0}, "its controller has no APST"),
    ],
)
def test_levels_that_a_drive_cannot_have_are_refused(
    tree: host.Tree, drive: States, disk: str, levels: dict[str, float], why: str
) -> None:
    with pytest.raises(FsgreenError, match=why) as caught:
        of_cells(tree, disk).check(levels)
    assert "docs/ssd.md" in (caught.value.next_step or "")
    assert drive() == ("0", "4")


@pytest.mark.usefixtures("drive")
def test_a_drive_of_one_state_has_no_other(tree: host.Tree) -> None:
    machines.write(tree.root, "identity", identity([WORKS]))
    of_cells(tree).check({"nvme_power_state": 0})
    with pytest.raises(FsgreenError, match="works in the states 0, not in '1'"):
        of_cells(tree).check({"nvme_power_state": 1})


@pytest.mark.usefixtures("drive")
def test_a_state_that_cannot_be_read_is_not_changed(tree: host.Tree) -> None:
    machines.program(tree.root, "nvme", '[ "$1" = set-feature ] && touch {root}/set; exit 1')
    with pytest.raises(FsgreenError, match="the drive tells no nvme_power_state"):
        of_cells(tree).load({"nvme_power_state": 1})
    assert not tree.path("set").exists() and not tree.path(KEPT).exists()


def test_other_testbeds_say_where_such_a_drive_is_taken() -> None:
    """The NVMe drive of a guest has one state, and simulated disks have none."""
    with pytest.raises(FsgreenError, match="which only a real NVMe drive can have") as caught:
        refuse_levels("vm", {"nvme_power_state": 1}, OF_DISKS)
    assert 'kind = "block"' in (caught.value.next_step or "")
