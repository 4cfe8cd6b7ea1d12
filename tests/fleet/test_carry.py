"""Trials come home whole, once, and as they were recorded, or not at all."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import synthetic

from fsgreen import paths, trial
from fsgreen.campaign import Campaign
from fsgreen.errors import FsgreenError
from fsgreen.fleet.believed import Expected
from fsgreen.fleet.carry import Fetch, carry
from fsgreen.fleet.messages import Piece, Place
from fsgreen.fleet.tasks import shelf
from tests.fleet.conftest import contents

NAME = "c.disk"
PIECE_B = 1000
"""Small pieces, so that a file is many of them."""


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a campaign on the machine of its testbed; the data folder is that of home."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "there"))
    folder = synthetic.write_raw(NAME, synthetic.make_plan())
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "home"))
    return Path(folder)


def fetching(there: Path, before: Callable[[Place], None] = lambda place: None) -> Fetch:
    """What fetches from a folder; `before` is called with each place first."""

    async def fetch(folder, name, file, at_b) -> Piece:
        place = Place(campaign=NAME, folder=folder, trial=name, file=file, offset_b=at_b)
        before(place)
        path = there / (folder or "") / (name or "") / file
        return Piece(data=path.read_bytes()[at_b:][:PIECE_B], size_b=path.stat().st_size)

    return fetch


EXPECTED = Expected(
    lambda value: bool(value == synthetic.make_plan().to_json()),
    lambda name: next((each for each in synthetic.make_plan().trials if each.trial == name), None),
)


def carried(there: Path, fetch: Fetch | None = None) -> list[str]:
    """Carry all that is there, and return what came."""
    return asyncio.run(carry(Campaign(NAME), shelf(there), fetch or fetching(there), EXPECTED))


def test_all_of_a_campaign_comes_home_to_the_byte_and_once(there: Path) -> None:
    names = [one.name for one in trial.list_trials(there)]
    assert sorted(carried(there)) == sorted(names)
    assert contents(paths.raw(NAME)) == contents(there)
    asked: list[Place] = []
    assert carried(there, fetching(there, asked.append)) == []
    assert asked == [], "what is here was asked for again"


def test_a_connection_that_breaks_costs_no_byte_that_came(there: Path) -> None:
    """A trace of an hour would never come through a line that breaks every minute."""
    asked: list[Place] = []

    def breaking(place: Place) -> None:
        asked.append(place)
        if place.folder is not None and len(asked) % 5 == 0:
            raise ConnectionError("the line broke")

    breaks = 0
    while True:
        try:
            carried(there, fetching(there, breaking))
            break
        except ConnectionError:
            breaks += 1
            assert breaks < 1000, "it comes no further"
            whole = trial.list_trials(paths.raw(NAME))
            assert all(one.verify() is None for one in whole), "a trial is here in part"
    assert breaks > 5
    assert contents(paths.raw(NAME)) == contents(there)


def test_bytes_that_changed_on_the_way_are_brought_again_and_never_kept(there: Path) -> None:
    changed: list[Place] = []

    def once(place: Place) -> bool:
        is_first = place.file == "power.parquet" and not changed
        changed.extend([place] if is_first else [])
        return is_first

    async def damaged(folder, name, file, at_b) -> Piece:
        got = await fetching(there)(folder, name, file, at_b)
        place = Place(campaign=NAME, folder=folder, trial=name, file=file, offset_b=at_b)
        return Piece(data=got.data[::-1], size_b=got.size_b) if once(place) else got

    carried(there, damaged)
    assert changed and contents(paths.raw(NAME)) == contents(there)


def test_a_file_that_is_damaged_there_stops_it_and_leaves_no_trial(there: Path) -> None:
    first = trial.list_trials(there)[0]
    (first.folder / "power.parquet").write_bytes(b"not what was recorded")
    with pytest.raises(FsgreenError, match="not the file that was recorded"):
        carried(there)
    assert first.name not in [one.name for one in trial.list_trials(paths.raw(NAME))]


def test_a_trial_that_was_measured_anew_never_takes_the_place_of_the_first(there: Path) -> None:
    """Two trials of one name are two measurements: rule 48 keeps both."""
    carried(there)
    first = trial.list_trials(there)[0]
    record = first.folder / "trial.json"
    record.write_text(record.read_text().replace('"settle_s": ', '"settle_s": 1'))
    before = contents(paths.raw(NAME))
    with pytest.raises(FsgreenError, match="another trial of this name") as told:
        carried(there)
    assert contents(paths.raw(NAME)) == before
    _, source, target = str(told.value.next_step).split(",")[0].split()
    Path(target).parent.mkdir()
    shutil.move(source, target)
    assert carried(there) == [first.name]


def test_what_was_set_aside_at_home_does_not_come_back(there: Path) -> None:
    carried(there)
    first = trial.list_trials(paths.raw(NAME))[0]
    aside = trial.place_to_discard(paths.raw(NAME), first.name)
    aside.parent.mkdir()
    first.folder.rename(aside)
    assert carried(there) == []


def test_trials_that_broke_a_rule_come_with_the_others(there: Path) -> None:
    first = trial.list_trials(there)[0]
    (there / "invalid").mkdir()
    first.folder.rename(there / "invalid" / f"{first.name}.1")
    assert f"{first.name}.1" in carried(there)
    assert [one.name for one in trial.list_invalid(paths.raw(NAME))] == [first.name]


def test_a_campaign_that_a_worker_began_anew_is_not_mixed_with_the_first(there: Path) -> None:
    """After the loss of its disk a testbed would begin again, with another idle power."""
    carried(there)
    file = there / paths.IDENTITY
    begun = json.loads(file.read_text())
    file.write_text(json.dumps(begun | {"preflight": []}))
    carried(there)
    assert "preflight" in Campaign(NAME).identity(), "what each start notes does not come"
    file.write_text(json.dumps(begun | {"started_unix_s": 1.9e9}))
    with pytest.raises(FsgreenError, match="began this campaign anew"):
        carried(there)
    assert Campaign(NAME).identity()["started_unix_s"] == 1.8e9


@pytest.mark.parametrize(
    "name",
    ["../../evil", "..", "/etc/evil", "a/b", ".hidden", "a\x1b[2J", "\u00fc" * 121, "trial.json"],
)
def test_a_record_that_names_files_elsewhere_is_refused(there: Path, name: str) -> None:
    """A worker must not write where it likes on the machine of home."""
    first = trial.list_trials(there)[0]
    record = first.folder / "trial.json"
    told = json.loads(record.read_text())
    record.write_text(json.dumps(told | {"files": {name: "0" * 64}}))
    with pytest.raises(FsgreenError, match="it names a file elsewhere"):
        carried(there)


def test_a_record_of_another_trial_is_refused(there: Path) -> None:
    first, second, *_ = trial.list_trials(there)
    shutil.copy(second.folder / "trial.json", first.folder / "trial.json")
    with pytest.raises(FsgreenError, match="the record is that of trial"):
        carried(there)


def test_a_full_disk_at_home_is_told_as_such(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_place: Place) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(trial.DiskFull, match="the trials so far are whole"):
        carried(there, fetching(there, full))


def test_what_a_terminal_would_obey_is_not_said_of_a_record(there: Path) -> None:
    first = trial.list_trials(there)[0]
    record = first.folder / "trial.json"
    told = json.loads(record.read_text())
    record.write_text(json.dumps(told | {"trial": "t\x1b[2J"}))
    with pytest.raises(FsgreenError, match="the record is that of trial") as error:
        carried(there)
    assert error.value.what.isprintable()


@pytest.mark.parametrize("grows_b", [1, 1 << 40])
def test_a_file_without_an_end_does_not_fill_the_disk_of_home(there: Path, grows_b: int) -> None:
    """A worker that says of each piece that more is to come would be asked for ever."""
    asked = 0

    async def endless(_folder, _name, _file, at_b) -> Piece:
        nonlocal asked
        asked += 1
        assert asked < 100, "it is asked for more and more"
        return Piece(data=b"x" * PIECE_B, size_b=at_b + PIECE_B + grows_b)

    with pytest.raises(FsgreenError, match=r"not the file that was recorded|at most 4,294,967,296"):
        carried(there, endless)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"campaign": "c.other"}, "the record is that of campaign 'c.other'"),
        ({"exit": "invalid", "reason": "rule 9: changed"}, "it broke a rule: 'rule 9: changed'"),
        ({"block": 2}, "not the cell, block and order of b01-001-"),
        ({"cell": {"file_system": "btrfs"}}, "not the cell, block and order of b01-001-"),
        ({"beside": {"trials": [], "order": []}}, "it took turns with others"),
    ],
)
def test_a_trial_that_does_not_count_is_not_taken_for_one_that_does(
    there: Path, said: dict[str, object], why: str
) -> None:
    record = trial.list_trials(there)[0].folder / "trial.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | said))
    with pytest.raises(FsgreenError, match=why):
        carried(there)
    assert trial.list_trials(paths.raw(NAME)) == []


NESTED = "[" * 100_000
PLAN = synthetic.make_plan().to_json()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        *((name, text) for name in ("plan.json", "campaign.json") for text in ("[]", "", NESTED)),
        ("plan.json", json.dumps(PLAN | {"seed": 2})),
        ("plan.json", json.dumps(PLAN | {"profile": []})),
        ("plan.json", '{"factors": [{"name": "evil", "levels": []}]}'),
        ("campaign.json", '{"started_unix_s": "now", "audit": {}, "testbed": {}, "meters": {}}'),
        ("campaign.json", '{"started_unix_s": 1.0, "audit": []}'),
        ("confounds.json", NESTED),
    ],
    ids=lambda text: text[:40],
)
def test_garbage_for_a_file_of_the_campaign_is_refused_and_not_kept(
    there: Path, file: str, text: str
) -> None:
    """Every later start would read it, and end without a word of where it came from."""
    (there / file).write_text(text)
    with pytest.raises(FsgreenError, match=f"{file} that came from the testbed cannot be used"):
        carried(there)
    assert not (paths.raw(NAME) / file).exists()
    assert not list(paths.raw(NAME).glob(".*"))


def test_garbage_for_an_identity_does_not_replace_the_one_that_is_here(there: Path) -> None:
    carried(there)
    before = contents(paths.raw(NAME))
    (there / paths.IDENTITY).write_text(NESTED)
    with pytest.raises(FsgreenError, match="cannot be used"):
        carried(there)
    assert contents(paths.raw(NAME)) == before
