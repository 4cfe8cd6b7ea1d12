"""Blocks that testbeds shared become one campaign: each trial once, and analysed as any."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import synthetic

from fsgreen import paths, reduce, trial
from fsgreen.campaign import Campaign
from fsgreen.errors import FsgreenError
from fsgreen.fleet.given import Given
from fsgreen.fleet.joined import join
from fsgreen.trial import write_json
from tests.fleet.conftest import contents

PLAN = synthetic.make_plan(blocks=3)
LINES = [Given(block=block, testbed=name) for block, name in [(1, "one"), (2, "one"), (3, "two")]]
LINES.append(Given(block=2, testbed="two"))  # one was lost


def measured(testbed: str, trials: list[int], disk: str, **machine: Any) -> Path:
    """Have trials of the plan, by their number, come home from a testbed."""
    folder = Path(synthetic.begin(f"c.{testbed}", PLAN))
    begun = Campaign(folder.name).identity()
    disks = {"disks": {"sda": {"model": "A", "serial": disk}}}
    audit = begun["audit"] | {"speed_loops_s": 1000.0 + len(disk)} | disks | machine
    write_json(
        folder / "campaign.json",
        begun | {"plan_hash": PLAN.hash, "campaign": folder.name, "audit": audit},
    )
    for nth in trials:
        planned = PLAN.trials[nth]
        synthetic.write_trial(folder, folder.name, PLAN, planned, machine=disks | machine)
    return folder


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))


def shared(**machine: Any) -> Campaign:
    """A campaign of three blocks, the second begun by both; a trial of it broke a rule on both."""
    one = measured("one", [0, 1, 2], "S1")
    two = measured("two", [2, 3, 4, 5], "S22", **machine)
    for folder in (one, two):
        (folder / "invalid").mkdir()
        copy = folder / "invalid" / f"{PLAN.trials[2].trial}.1"
        shutil.copytree(folder / "trials" / PLAN.trials[2].trial, copy)
        record = copy / "trial.json"
        record.write_text(record.read_text().replace('"exit": "ok"', '"exit": "invalid"'))
    return join("c", LINES)


def test_each_trial_counts_once_and_what_was_begun_twice_is_kept_aside() -> None:
    made = shared()
    whole = trial.list_trials(made.folder)
    assert [one.name for one in whole] == [planned.trial for planned in PLAN.trials]
    assert not made.pending()
    assert [one.record.campaign for one in whole] == ["c.one"] * 2 + ["c.two"] * 4
    for one in whole:
        one.verify()
    (aside,) = trial.list_superseded(made.folder)
    assert (aside.name, aside.record.campaign) == (PLAN.trials[2].trial, "c.one")
    assert trial.list_discarded(made.folder) == [], "as if somebody had looked at it"
    assert made.identity()["blocks"] == {"c.one": [1, 2], "c.two": [3, 2]}
    assert len(trial.list_invalid(made.folder)) == 2, "one took the place of the other"
    before = contents(made.folder)
    join("c", LINES)
    assert contents(made.folder) == before


def test_files_take_no_room_twice() -> None:
    made = shared()
    name = PLAN.trials[0].trial
    here, there = (paths.raw(each) / "trials" / name / "power.parquet" for each in ("c", "c.one"))
    assert here.samefile(there)
    assert made.folder.name == "c"


def test_it_is_analysed_as_one_campaign_although_each_testbed_has_a_disk_of_its_own() -> None:
    """Days of measuring would end with the word that trials are never pooled."""
    made = shared()
    reduce.write("c")
    table = reduce.read_table("c", "trials")
    assert table.groupby("block")["campaign"].unique().map(list).to_dict() == {
        1: ["c.one"],
        2: ["c.two"],
        3: ["c.two"],
    }
    begun = made.identity()
    assert begun["audit"]["disks"]["sda"]["serial"] == "S22", "not that of the fastest"
    assert (begun["campaign"], begun["testbeds"]) == ("c", ["c.one", "c.two"])
    assert begun["speeds_loops_s"] == {"c.one": 1002.0, "c.two": 1003.0}


def test_testbeds_of_two_kinds_are_still_not_pooled() -> None:
    shared(kernel="Linux 7")
    with pytest.raises(FsgreenError, match="kernel: "):
        reduce.write("c")


def test_a_disk_that_was_exchanged_on_one_testbed_is_still_found() -> None:
    shared()
    folder = paths.raw("c.two")
    shutil.rmtree(folder / "trials" / PLAN.trials[5].trial)
    shutil.rmtree(paths.raw("c"))
    disks = {"sda": {"model": "A", "serial": "S3"}}
    synthetic.write_trial(folder, "c.two", PLAN, PLAN.trials[5], machine={"disks": disks})
    join("c", LINES)
    with pytest.raises(FsgreenError, match="disks"):
        reduce.write("c")


def test_a_trial_that_somebody_set_aside_does_not_come_back() -> None:
    made = shared()
    first = trial.list_trials(made.folder)[0]
    aside = trial.place_to_discard(made.folder, first.name)
    aside.parent.mkdir()
    first.folder.rename(aside)
    with pytest.raises(FsgreenError, match=f"1 trial of the plan did not come, {first.name}"):
        join("c", LINES)
    assert [planned.trial for planned in made.pending()] == [first.name]


def test_a_trial_that_was_measured_anew_does_not_take_the_place_of_the_first() -> None:
    shared()
    record = paths.raw("c.two") / "trials" / PLAN.trials[5].trial / "trial.json"
    text = record.read_text().replace('"settle_s": ', '"settle_s": 1')
    record.unlink()  # it is a file of both
    record.write_text(text)
    with pytest.raises(FsgreenError, match="another trial of this name"):
        join("c", LINES)


def test_testbeds_with_two_plans_are_not_joined() -> None:
    measured("one", [0, 1], "S1")
    folder = measured("two", [], "S2")
    write_json(folder / "plan.json", synthetic.make_plan(blocks=4).to_json())
    with pytest.raises(FsgreenError, match="the plan changed"):
        join("c", LINES)


def test_a_start_that_was_killed_half_way_is_made_good() -> None:
    made = shared()
    before = contents(made.folder)
    for lost in ("campaign.json", "confounds.json"):
        (made.folder / lost).unlink()
    partial = made.folder / "trials" / f".{PLAN.trials[0].trial}.partial"
    (made.folder / "trials" / PLAN.trials[0].trial).rename(partial)
    join("c", LINES)
    assert contents(made.folder) == before


def test_two_do_not_join_at_once() -> None:
    """One would remove what the other has half copied."""
    made = shared()
    with made.alone(), pytest.raises(FsgreenError, match="another fsgreen is measuring"):
        join("c", LINES)
