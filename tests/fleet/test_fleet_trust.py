"""Home believes neither a campaign that is there nor a worker: it looks at what it has."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import synthetic

from fsgreen import design, fleet, paths, trial
from fsgreen.campaign import Campaign
from fsgreen.errors import FsgreenError
from fsgreen.fleet import given, home, shares
from fsgreen.fleet.home import Home
from fsgreen.fleet.messages import Order, Piece, Rest, Shelf, Which
from fsgreen.fleet.remote import Remote
from fsgreen.fleet.replicate import Replicate
from fsgreen.fleet.shares import Shares
from tests.fleet.conftest import Yard


@pytest.fixture
def made(yard: Callable[..., Yard], monkeypatch: pytest.MonkeyPatch) -> Any:
    """A project of a fleet, in which these tests are, and a home that asks nobody."""
    made = yard("one", "two")
    monkeypatch.chdir(made.folder)
    paths.root.cache_clear()

    async def run(_home: Home) -> None:
        pass

    monkeypatch.setattr(Home, "run", run)
    yield made
    paths.root.cache_clear()


def planned(only: str | None = None) -> design.Plan:
    """The plan of the first testbed."""
    study = design.load_study("asleep")
    own = replace(study, seed=design.derive_seed(study.seed, "one"))
    return design.make_plan(own, "quick", only=only)


def measure() -> list[Campaign]:
    return fleet.measure("asleep", "quick", Path("fleet.toml"))


@pytest.mark.parametrize("only", [None, "ext4"])
def test_trials_of_another_plan_are_not_taken_for_those_of_this(
    made: Yard, only: str | None
) -> None:
    """The old data would be analysed as the answer to the new question."""
    Campaign("asleep-quick.one").adopt(planned(only))
    assert [each.name for each in measure()] == ["asleep-quick.one", "asleep-quick.two"]
    study = made.folder / "studies" / "asleep.yaml"
    study.write_text(study.read_text().replace("blocks: 2", "blocks: 3"))
    with pytest.raises(FsgreenError, match="was begun under another plan") as told:
        measure()
    assert "--name asleep-quick-2" in str(told.value.next_step)


class Board:
    """Where nobody looks."""

    def count(self, *_given: object) -> None:
        """Count nothing."""

    def note(self, *_given: object, **_named: object) -> None:
        """Note nothing."""


class Told:
    """A worker that says at once that it is done."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    async def ask(self, task: str, _arguments: object, _schema: object) -> Shelf | Piece | Rest:
        """Answer without a look."""
        return {
            "shelf": self.shelf,
            "piece": Piece(data=b"text", size_b=4),
            "measure": Rest(state="done"),
        }[task]


class Registry:
    """One worker for each testbed."""

    def address_of(self, _testbed: str) -> str:
        """Where it is."""
        return "there"

    def rpc(self, _address: str) -> None:
        """Nothing is sent."""


def refused(monkeypatch: pytest.MonkeyPatch, shelf: Shelf) -> FsgreenError | None:
    """Why home does not go on with a testbed that has this shelf and says that it is done."""
    order = Order(campaign="c", study="fast10", profile="quick", plan_hash="0" * 64)
    monkeypatch.setattr(home, "Remote", lambda _rpc, _testbed: Told(shelf))
    at_home = Home(None, Replicate(order, ["disk"]), Board())  # type: ignore[arg-type]
    asyncio.run(at_home._testbed(Registry(), "disk"))  # type: ignore[arg-type]
    return at_home.refused.get("disk")


def test_a_testbed_is_done_when_its_trials_are_here_and_not_when_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is set aside at home alone would be left out of the analysis in silence."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    folder = synthetic.write_raw("c.disk", synthetic.make_plan())
    first = trial.list_trials(folder)[0]
    aside = trial.place_to_discard(folder, first.name)
    aside.parent.mkdir()
    first.folder.rename(aside)
    told = refused(monkeypatch, Shelf(files={}, trials={}, invalid={}))
    assert told is not None and f"1 trial of its plan did not come, {first.name} first" in told.what
    assert "at both places" in str(told.next_step)


def test_what_cannot_be_kept_of_one_testbed_does_not_end_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    (paths.raw("c.disk") / "notes").mkdir(parents=True)
    recorded = hashlib.sha256(b"text").hexdigest()
    told = refused(monkeypatch, Shelf(files={"notes": recorded}, trials={}, invalid={}))
    assert told is not None and "cannot be kept here" in told.what


def test_bytes_that_are_no_message_stop_one_testbed_and_not_home() -> None:
    """What decodes messages has errors of its own, of which home would end."""

    class Garbled:
        async def fsgreen(self, **_asked: object) -> None:
            raise ValueError("Unpack failed: recursion limit")

    with pytest.raises(FsgreenError, match="the testbed disk sent what cannot be read"):
        asyncio.run(Remote(Garbled(), "the testbed disk").ask("shelf", Which(campaign="c"), Shelf))


def test_a_testbed_that_is_still_ending_a_trial_keeps_its_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home that came back had another begin the block anew, once that had lasted a minute."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    paths.raw("c").mkdir(parents=True)
    plan = synthetic.make_plan(blocks=1)
    order = Order(campaign="c", study="fast10", profile="test", plan_hash=plan.hash, design="share")
    given.give("c", 1, "one")
    shared = Shares(order, plan, ["one", "two"])
    asked = []

    class Busy:
        async def ask(self, task: str, *_given: object) -> None:
            later_s = time.monotonic() + shares.GIVEN_UP_S + 1
            monkeypatch.setattr(shares, "time", SimpleNamespace(monotonic=lambda: later_s))
            asked.append((task, shared.next("two")))
            raise FsgreenError("enough was asked")

    monkeypatch.setattr(home, "Remote", lambda *_given: Busy())
    asyncio.run(Home(None, shared, Board())._testbed(Registry(), "one"))  # type: ignore[arg-type]
    assert asked == [("shelf", None)]
