"""Home and two testbeds that share the blocks, one of which cannot measure a trial."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import synthetic

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.fleet import given, home
from fsgreen.fleet.home import Home
from fsgreen.fleet.messages import Order, Piece, Refusal, Rest
from fsgreen.fleet.shares import Shares
from fsgreen.fleet.tasks import shelf
from fsgreen.trial import write_json

PLAN = synthetic.make_plan(blocks=4)
ORDER = Order(campaign="c", study="fast10", profile="test", plan_hash=PLAN.hash, design="share")
WHY = "1 of 2 trials broke a rule each time"


class Testbed:
    """A worker without a process: it has the trials of an order at once, but for one of some."""

    def __init__(self, name: str, folder: Path, broken: set[int]) -> None:
        self.name, self.folder, self.broken = name, folder, broken
        folder.mkdir(parents=True)
        write_json(folder / "plan.json", PLAN.to_json())

    async def ask(self, task: str, asked: Any, _schema: object) -> object:
        """Answer as a worker does."""
        await asyncio.sleep(0)
        if task == "shelf":
            return shelf(self.folder)
        if task == "measure":
            return self.measure(asked.blocks)
        file = self.folder / (asked.folder or "") / (asked.trial or "") / asked.file
        data = file.read_bytes()
        return Piece(data=data[asked.offset_b :], size_b=len(data))

    def measure(self, blocks: tuple[int, ...]) -> Rest:
        """Measure what can be."""
        if not blocks:
            return Rest(state="done")
        [block] = blocks
        first, *others = [planned for planned in PLAN.trials if planned.block == block]
        for planned in others if block in self.broken else [first, *others]:
            synthetic.write_trial(self.folder, f"c.{self.name}", PLAN, planned)
        if block in self.broken:
            return Rest(state="refused", why=Refusal(what=WHY))
        return Rest(state="rest")


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(home, "PAUSE_S", 0.0)
    paths.raw("c").mkdir(parents=True)


def measured(
    folder: Path, monkeypatch: pytest.MonkeyPatch, **broken: set[int]
) -> tuple[Shares, dict[str, FsgreenError]]:
    """Have testbeds measure that cannot measure a trial of these blocks; return why some ended."""
    testbeds = {name: Testbed(name, folder / "there" / name, each) for name, each in broken.items()}
    monkeypatch.setattr(home, "Remote", lambda _rpc, said: testbeds[said.rpartition(" ")[2]])
    shared = Shares(ORDER, PLAN, [*testbeds])
    nothing = SimpleNamespace(note=lambda *_given, **_named: None, count=lambda *_given: None)
    registry = SimpleNamespace(address_of=lambda _name: "there", rpc=lambda _address: None)
    at_home = Home(None, shared, nothing)  # type: ignore[arg-type]

    async def all_of_them() -> None:
        each = (at_home._testbed(registry, name) for name in testbeds)  # type: ignore[arg-type]
        await asyncio.wait_for(asyncio.gather(*each), 60)

    asyncio.run(all_of_them())
    return shared, at_home.refused


def test_others_measure_the_block_that_one_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would end the testbed for good, and lack in the campaign where it was the last block."""
    shared, refused = measured(tmp_path, monkeypatch, one={1}, two={4})
    assert shared.is_over and refused == {}
    owners = given.owners("c")
    assert owners[1] == "two" and {*owners.values()} == {"one", "two"}


def test_what_no_testbed_can_measure_is_told_by_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, refused = measured(tmp_path, monkeypatch, one={3}, two={3})
    assert not shared.is_over
    assert {name: error.what for name, error in refused.items()} == {"one": WHY, "two": WHY}
    whole = [paths.raw(f"c.{name}") / "trials" for name in refused]
    trials = {entry.name for folder in whole for entry in folder.iterdir()}
    assert len(trials) == len(PLAN.trials) - 1, "others were given up, too"
