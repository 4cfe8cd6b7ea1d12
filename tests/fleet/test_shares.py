"""Blocks go to testbeds that are free, each to one, also where testbeds are lost or home ends."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import synthetic

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.fleet import given, shares
from fsgreen.fleet.messages import Order
from fsgreen.fleet.shares import Shares
from fsgreen.trial import write_json

PLAN = synthetic.make_plan(blocks=3)
ORDER = Order(campaign="c", study="fast10", profile="test", plan_hash=PLAN.hash, design="share")


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    paths.raw("c").mkdir(parents=True)


def started() -> Shares:
    return Shares(ORDER, PLAN, ["one", "two"])


def block_of(shared: Shares, testbed: str) -> int | None:
    """The block that a testbed is to measure; 0 is that nothing is left, None that it waits."""
    order = shared.next(testbed)
    return None if order is None else sum(order.blocks)


def measured(shared: Shares, testbed: str, block: int, trials: int = 2) -> None:
    """Have trials of a block come home from a testbed."""
    folder = paths.raw(f"c.{testbed}")
    folder.mkdir(exist_ok=True)
    write_json(folder / "plan.json", PLAN.to_json())
    for planned in [one for one in PLAN.trials if one.block == block][:trials]:
        if not (folder / "trials" / planned.trial).exists():
            synthetic.write_trial(folder, f"c.{testbed}", PLAN, planned)
    shared.count(testbed)


def test_each_testbed_takes_the_next_block_when_its_own_is_whole() -> None:
    shared = started()
    assert [block_of(shared, name) for name in ("one", "two", "one", "two")] == [1, 2, 1, 2]
    measured(shared, "one", 1, trials=1)
    assert block_of(shared, "one") == 1, "a block is left before it is whole"
    measured(shared, "two", 2)
    assert block_of(shared, "two") == 3
    measured(shared, "two", 3)
    assert not shared.is_over
    shared.answers("one")
    assert block_of(shared, "two") is None, "it does what the other is at"
    measured(shared, "one", 1)
    assert shared.is_over and [block_of(shared, name) for name in ("one", "two")] == [0, 0]


def test_the_block_of_a_lost_testbed_is_begun_anew_where_no_other_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The whole campaign would wait for one machine that does not come back."""
    shared = started()
    for name in ("one", "two"):
        shared.answers(name)
        block_of(shared, name)
    measured(shared, "one", 1, trials=1)
    now_s = [time.monotonic()]
    monkeypatch.setattr(shares, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    shared.is_lost("one", for_good=False)
    measured(shared, "two", 2)
    assert block_of(shared, "two") == 3, "it does not wait for what others may go on with"
    measured(shared, "two", 3)
    assert block_of(shared, "two") is None, "it does not give the other time to come back"
    now_s[0] += shares.GIVEN_UP_S + 1
    shared.is_lost("one", for_good=False)  # each look for it finds that
    assert block_of(shared, "two") == 1
    shared.answers("one")
    assert block_of(shared, "one") is None, "the block has two testbeds"
    measured(shared, "one", 1)
    assert not shared.is_over, "a block counts that was given to another"
    measured(shared, "two", 1)
    assert shared.is_over
    assert given.owners("c") == {1: "two", 2: "two", 3: "two"}


def test_a_testbed_that_refuses_gives_up_its_block_at_once() -> None:
    shared = started()
    for name in ("one", "two"):
        shared.answers(name)
        block_of(shared, name)
    shared.is_lost("one", for_good=True)
    measured(shared, "two", 2)
    measured(shared, "two", block_of(shared, "two") or 0)
    assert block_of(shared, "two") == 1


def test_a_home_that_comes_back_knows_who_has_what() -> None:
    """Or blocks that are under way would be given once more."""
    shared = started()
    for name in ("one", "two"):
        block_of(shared, name)
    measured(shared, "two", 2)
    again = started()
    assert [block_of(again, name) for name in ("two", "one")] == [3, 1]
    file = given.file_of("c")
    file.write_text(file.read_text() + '{"block": 1, "tes')  # a loss of power
    assert given.owners("c") == {1: "one", 2: "two", 3: "two"}
    assert [block_of(started(), name) for name in ("one", "two")] == [1, 3]


def test_a_block_of_a_testbed_that_the_fleet_file_does_not_name_any_more_goes_to_others() -> None:
    shared = started()
    for name in ("one", "two"):
        block_of(shared, name)
    left = Shares(ORDER, PLAN, ["two"])
    for block in (2, 3):
        assert block_of(left, "two") == block
        measured(left, "two", block)
    assert block_of(left, "two") == 1


@pytest.mark.parametrize(
    "text", ["no JSON", '{"block": "1"}', "[]", "\0", "[" * 99_999], ids=lambda text: text[:20]
)
def test_a_damaged_list_of_who_has_what_is_refused(text: str) -> None:
    given.file_of("c").write_text(f"{text}\n")
    with pytest.raises(FsgreenError, match="it does not say which testbed has which block"):
        started()


def test_a_plan_of_another_machine_is_not_taken_for_the_shared_one() -> None:
    shared = started()
    assert shared.is_planned(PLAN.to_json(), "one")
    assert not shared.is_planned(synthetic.make_plan(blocks=4).to_json(), "one")


def test_a_block_that_the_plan_does_not_have_is_refused() -> None:
    """The study was edited after home had begun: it ended with a KeyError."""
    given.give("c", 4, "one")
    with pytest.raises(FsgreenError, match="block 4 was given to one, and the plan has none"):
        started()


REFUSAL = FsgreenError("1 of 2 trials broke a rule each time")


def test_a_testbed_on_which_a_trial_breaks_a_rule_each_time_takes_another_block() -> None:
    """One bad trial in a night ended a testbed, and its block waited for the next start."""
    shared = started()
    assert [block_of(shared, name) for name in ("one", "two")] == [1, 2]
    measured(shared, "one", 1, trials=1)
    shared.gives_up("one", REFUSAL)
    assert block_of(shared, "one") == 3
    measured(shared, "two", 2)
    assert block_of(shared, "two") == 1, "nobody goes on with its block"
    measured(shared, "one", 3)
    assert block_of(shared, "one") is None, "it begins what it gave up, or does not wait for others"
    measured(shared, "two", 1)
    assert shared.is_over and block_of(shared, "one") == 0


def test_a_testbed_that_refuses_everything_ends() -> None:
    """It would refuse one block after the other, each after the minutes of its first idle phase."""
    shared = started()
    block_of(shared, "one")
    with pytest.raises(FsgreenError, match="broke a rule each time"):
        shared.gives_up("one", REFUSAL)
    measured(shared, "one", 1, trials=1)
    shared.gives_up("one", REFUSAL)
    block_of(shared, "one")
    with pytest.raises(FsgreenError, match="broke a rule each time"):
        shared.gives_up("one", REFUSAL)


def test_a_block_that_every_testbed_has_given_up_ends_the_campaign_with_the_reason() -> None:
    """All would wait for each other for ever."""
    shared = started()
    for name, block in {"one": 1, "two": 2}.items():
        assert block_of(shared, name) == block
    measured(shared, "one", 1, trials=1)
    shared.gives_up("one", REFUSAL)
    measured(shared, "two", 2)
    assert [block_of(shared, name) for name in ("one", "two")] == [3, 1]
    measured(shared, "two", 1, trials=1)
    shared.gives_up("two", REFUSAL)
    assert block_of(shared, "two") is None, "it begins what it gave up"
    measured(shared, "one", 3)
    for name in ("one", "two"):
        with pytest.raises(FsgreenError, match="broke a rule each time"):
            shared.next(name)
