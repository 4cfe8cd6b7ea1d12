"""The power state of an NVMe drive: set for a campaign, and put back as it was while awake."""

from collections.abc import Callable

import machines
import pytest
from nvmedrive import STATES, WORKS, identity, plug_in

from fsgreen import host, paths
from fsgreen.audit import nvme
from fsgreen.errors import FsgreenError
from fsgreen.host import journal


@pytest.fixture
def drive(tree: host.Tree) -> Callable[[], tuple[str | None, str | None]]:
    """Have a drive that rests in state 4; return a function for `works` and `now`."""
    return plug_in(tree)


def test_a_drive_that_rested_works_as_before_once_the_campaign_is_over(
    tree: host.Tree, drive: Callable[[], tuple[str | None, str | None]]
) -> None:
    """Put back into the state in which it rested, it would wake into that of the campaign."""
    with host.applied(["power-state=1"], disks=["nvme0n1"], tree=tree) as rows:
        assert [(row.now, row.wanted) for row in rows] == [("0", "1")]
        assert drive() == ("1", "1")
    assert drive() == ("0", "0")
    assert journal.journals(tree) == []


@pytest.mark.parametrize(
    ("word", "disk", "why"),
    [
        ("power-state", "nvme0n1", "which power-state"),
        ("power-state=3", "nvme0n1", "works in the states 0, 1, 2, not in '3'"),
        ("power-state=7", "nvme0n1", "works in the states 0, 1, 2, not in '7'"),
        ("power-state=low", "nvme0n1", "works in the states 0, 1, 2, not in 'low'"),
        ("power-state=1", "sda", "no NVMe drive"),
    ],
)
def test_a_state_in_which_the_drive_does_not_work_is_refused(
    tree: host.Tree,
    drive: Callable[[], tuple[str | None, str | None]],
    word: str,
    disk: str,
    why: str,
) -> None:
    """A request would wake it, and the campaign would be measured in another state."""
    with pytest.raises(FsgreenError, match=why):
        host.apply([word], disks=[disk], tree=tree)
    assert drive()[0] == "0"


def test_the_hint_of_the_workload_beside_the_state_stays(
    tree: host.Tree, drive: Callable[[], tuple[str | None, str | None]]
) -> None:
    """It is the upper part of the same feature: set to 0, it would be lost for good."""
    for name in ("works", "now"):
        machines.write(tree.root, name, str(2 << 5))
    with host.applied(["power-state=1"], disks=["nvme0n1"], tree=tree) as rows:
        assert [(row.now, row.wanted) for row in rows] == [("0", "1")]
        assert drive() == (str(2 << 5 | 1), str(2 << 5 | 1))
    assert drive() == (str(2 << 5), str(2 << 5))


@pytest.mark.usefixtures("drive")
def test_a_drive_of_one_state_offers_no_other(tree: host.Tree) -> None:
    """The drives of QEMU have one."""
    machines.write(tree.root, "identity", identity([WORKS]))
    with pytest.raises(FsgreenError, match="works in the states 0, not in '1'"):
        host.apply(["power-state=1"], disks=["nvme0n1"], tree=tree)


@pytest.mark.usefixtures("drive")
def test_a_state_that_cannot_be_read_says_what_is_missing(
    tree: host.Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines.program(tree.root, "nvme", "echo 'Permission denied' >&2; exit 1")
    [row] = host.look({"power-state": None}, disks=["nvme0n1"], tree=tree)
    assert (row.now, row.obstacle) == (None, "nvme gets no answer here (it needs root)")
    monkeypatch.setattr(paths, "program", lambda name: None)
    [row] = host.look({"power-state": None}, disks=["nvme0n1"], tree=tree)
    assert row.obstacle == "not readable without nvme: apt-get install nvme-cli"


def test_a_path_of_a_drive_has_the_settings_of_its_own_controller(tree: host.Tree) -> None:
    """Of a drive with two ports each path has a controller."""
    for target, controller in (("nvme0n1", 0), ("nvme2n1", 2), ("nvme0c1n1", 1)):
        file = f"sys/class/nvme/nvme{controller}/power/pm_qos_latency_tolerance_us"
        machines.write(tree.root, file, str(controller))
        assert host.SETTINGS["apst"].read(tree, target) == str(controller)
        by_hand = host.SETTINGS["power-state"].by_hand(target, "10")
        assert by_hand == f"nvme set-feature /dev/nvme{controller} --feature-id=2 --value=0xa"


@pytest.mark.parametrize(
    ("said", "states"),
    [
        (identity(STATES), [0, 1, 2]),
        (identity([{"flags": 0}, {"flags": 1}, {"flags": 2}, {"flags": 3}]), [0, 1]),
        (identity([{}, 7, {"flags": "0"}, WORKS]), [3]),
        (identity(7), []),
        ("[]", []),
        ("", []),
        ("[" * 100_000, []),
    ],
)
def test_working_states_are_read_from_every_version_of_nvme_cli(
    said: str, states: list[int]
) -> None:
    """Before 2.6 the bit stands in the flags. What is not said is not taken for work."""
    assert nvme.working_states(said) == states
