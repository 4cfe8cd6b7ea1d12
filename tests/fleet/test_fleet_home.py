"""Home: alone, on an address of its own, and what it says of its testbeds."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import synthetic

from fsgreen import cli, fleet, gathered, paths
from fsgreen.campaign import Campaign
from fsgreen.errors import FsgreenError
from fsgreen.fleet import record
from fsgreen.fleet.messages import Order
from fsgreen.fleet.record import Board, Post, Record
from fsgreen.fleet.replicate import Replicate
from fsgreen.fleet.tally import Count
from fsgreen.fleet.together import together
from tests.fleet.conftest import Yard
from tests.gathered import sending


@pytest.fixture
def made(yard: Callable[..., Yard], monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    """A project of a fleet, in which these tests are."""
    made = yard("one", "two")
    monkeypatch.chdir(made.folder)
    paths.root.cache_clear()
    yield made
    paths.root.cache_clear()


def measure() -> None:
    fleet.measure("asleep", "quick", Path("fleet.toml"))


def test_a_second_home_is_refused_while_the_first_measures(made: Yard) -> None:
    """Two would carry trials into one folder."""
    with (
        Campaign("asleep-quick").alone(),
        pytest.raises(FsgreenError, match="another fsgreen is measuring this campaign") as told,
    ):
        measure()
    assert "fsgreen status asleep-quick" in str(told.value.next_step)


def test_a_home_of_another_campaign_is_refused_at_the_same_address(made: Yard) -> None:
    """It would take the workers of the first."""
    with socket.create_server(("127.0.0.1", made.port)):
        assert made.home("another").wait() == 1
    told = made.said("home")
    assert f"home cannot listen at localhost:{made.port}: " in told
    assert "if another fsgreen measures with this fleet, wait for it" in told


def test_a_campaign_of_one_testbed_does_not_become_one_of_a_fleet(made: Yard) -> None:
    Campaign("asleep-quick").folder.mkdir(parents=True)
    (Campaign("asleep-quick").folder / "plan.json").write_text("{}")
    with pytest.raises(FsgreenError, match="was begun on one testbed") as told:
        measure()
    assert "--name asleep-quick-fleet" in str(told.value.next_step)


@pytest.mark.parametrize("option", ["--in-memory", "--testbed=loop", "--disk=d", "--folder=/tmp"])
def test_home_does_not_say_what_a_testbed_is(
    made: Yard, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    """It would be ignored in silence: the worker was told another testbed."""
    assert cli.main(["measure", "asleep", "--fleet", "fleet.toml", option]) == 1
    assert "are those of its worker" in capsys.readouterr().err


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def begun(name: str) -> Board:
    """A fleet of two testbeds, of which the first is half done."""
    plan = synthetic.make_plan()
    folder = synthetic.write_raw(f"{name}.disk", plan)
    for planned in plan.trials[len(plan.trials) // 2 :]:
        (folder / "trials" / planned.trial).rename(folder / f".{planned.trial}")
    paths.raw(name).mkdir(parents=True)
    posts = {"disk": Post(), "memory": Post()}
    return Board(name, Record(study=plan.study, profile=plan.profile.name, posts=posts))


def test_status_says_who_does_what_and_what_is_to_go(data: Path) -> None:
    board = begun("c")
    order = Order(campaign="c", study="fast10", profile="test", plan_hash="0" * 64)
    for name in ("disk", "memory"):
        board.count(name, Replicate(order, ["disk", "memory"]).count(name))
    board.note("disk", "brings", rested_s=0.02)
    board.note("disk", "measures", rested_s=0.04)
    board.note("memory", "lost", "its worker does not answer")
    with Campaign("c").alone():
        told = "\n".join(fleet.status("c"))
    trials = len(synthetic.make_plan().trials)
    assert f"disk  measures for 0 s; {trials // 2} of {trials} trials are here" in told
    assert "rests 0.03 s between two trials" in told
    assert "memory  lost for 0 s (its worker does not answer); none of its trials is here" in told
    assert "to go     at least " in told
    assert "stopped" not in told


def test_status_of_testbeds_that_share_says_when_they_are_done_together(data: Path) -> None:
    """Two that take an hour and half an hour alone take twenty minutes together; one is lost."""
    paths.raw("c").mkdir(parents=True)
    posts = {"disk": Post(), "memory": Post(), "gone": Post()}
    board = Board("c", Record(study="fast10", profile="quick", design="share", posts=posts))
    for name, to_go_s in {"disk": 3600.0, "memory": 1800.0, "gone": 60.0}.items():
        board.count(name, Count(3, 0, to_go_s))
    board.note("disk", "measures", "block 7")
    board.note("memory", "waits", "others are at all the blocks that are left")
    board.note("gone", "lost", "its worker does not answer")
    with Campaign("c").alone():
        told = "\n".join(fleet.status("c"))
    assert "on 3 testbeds that share the blocks" in told
    assert "to go     about 20 min on 2 testbeds" in told
    assert "disk  measures for 0 s (block 7); 3 trials are here" in told


def test_to_ask_for_the_status_keeps_nobody_from_measuring(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took the lock of the campaign for a moment, in which a measure was refused."""
    begun("c")
    alone, taken = Campaign.alone, list[str]()
    monkeypatch.setattr(Campaign, "alone", lambda it: taken.append(it.name) or alone(it))
    list(fleet.status("c"))
    assert taken == []


def test_status_of_a_home_that_was_killed_does_not_say_that_it_measures(data: Path) -> None:
    begun("c").note("disk", "measures")
    told = "\n".join(fleet.status("c"))
    assert "nobody measures: the same command as before goes on" in told
    assert "disk  stopped; " in told and "measures for" not in told


def test_the_command_knows_a_fleet_from_its_testbeds(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun("c")
    assert cli.main(["status", "c"]) == 0
    assert "c: fast10, profile" in capsys.readouterr().out
    assert cli.main(["status", "c.disk"]) == 0
    assert "trials measured" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "[]", '{"study": 1}', "\0"])
def test_a_damaged_record_is_told_with_what_to_do(data: Path, text: str) -> None:
    begun("c")
    record.file_of("c").write_text(text)
    with pytest.raises(FsgreenError, match="not the record of a fleet"):
        list(fleet.status("c"))


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a fleet of two testbeds, which both are analysed."""
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(folder))
        sending.analyse("c.disk", 1, 1.0)
        sending.analyse("c.memory", 2, 1.2)
    return folder


@pytest.fixture
def fleet_data(analysed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(analysed))


@pytest.mark.usefixtures("fleet_data")
def test_testbeds_are_pooled_as_machines_are() -> None:
    """How far they differ is the result of a fleet; a mean without it would be of no machine."""
    pooled, files = together("c", ["c.disk", "c.memory"])
    assert {file.name for file in files} >= {"together.csv", "machines.csv", "gathered.txt"}
    assert [file.name for file in pooled.files] == ["c.disk.results.json", "c.memory.results.json"]
    row = pooled.together[pooled.together["metric"] == "throughput"].iloc[0]
    assert row["files_count"] == 2 and row["spread_percent"] > 0
    assert row["next_low_x"] < row["ratio_low_x"] < row["ratio_high_x"] < row["next_high_x"]
    again, _ = together("c", ["c.disk", "c.memory"])
    assert again.together.equals(pooled.together)
    assert json.loads((paths.results("c.disk") / "c.disk.results.json").read_text())["sha256"]


@pytest.mark.usefixtures("fleet_data")
def test_testbeds_without_a_comparison_are_kept_with_empty_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A directory has one file system: its trials are whole, and no step behind may fail."""
    results = gathered.results_of("c.disk").model_copy(update={"effects": ()})
    monkeypatch.setattr(gathered, "results_of", lambda name: results)
    pooled, files = together("c", ["c.disk"])
    assert pooled.together.empty and pooled.each.empty
    assert {file.name for file in files} == {"gathered.txt", "machines.csv", "together.csv"}
