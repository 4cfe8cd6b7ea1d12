"""The plan decides what counts: blocks must be complete, seeded, and refuse to change silently."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fsgreen import design, paths
from fsgreen.errors import FsgreenError

STUDY = design.load_study("fast10")


@pytest.mark.parametrize("profile", STUDY.profiles)
def test_each_block_is_one_pass_over_all_cells_with_the_baseline(profile: str) -> None:
    plan = design.make_plan(STUDY, profile)
    for block in range(1, plan.profile.blocks + 1):
        trials = [trial for trial in plan.trials if trial.block == block]
        assert sorted(trial.cell.label for trial in trials) == [c.label for c in plan.cells]
        assert [trial.order for trial in trials] == list(range(1, len(trials) + 1))
        assert plan.baseline in {trial.cell for trial in trials}


@given(seed=st.integers(0, 2**31))
def test_the_same_seed_gives_the_same_plan_and_another_one_another_order(seed: int) -> None:
    plan = design.make_plan(replace(STUDY, seed=seed), "lab")
    assert plan.hash == design.make_plan(replace(STUDY, seed=seed), "lab").hash
    other = design.make_plan(replace(STUDY, seed=seed + 1), "lab")
    assert [t.cell for t in plan.trials] != [t.cell for t in other.trials]


def test_blocks_are_shuffled_differently() -> None:
    plan = design.make_plan(STUDY, "lab")
    orders = {
        tuple(trial.cell.label for trial in plan.trials if trial.block == block)
        for block in range(1, plan.profile.blocks + 1)
    }
    assert len(orders) == plan.profile.blocks


def test_cells_of_a_workload_share_their_seed_within_a_block_only() -> None:
    plan = design.make_plan(STUDY, "quick")
    seeds = {(t.cell.workload, t.block, t.seed) for t in plan.trials}
    assert len(seeds) == len({(workload, block) for workload, block, _ in seeds})
    assert len({seed for *_, seed in seeds}) == len(seeds)


def test_names_of_trials_are_unique_and_fit_a_file_system() -> None:
    names = [trial.trial for trial in design.make_plan(STUDY, "full").trials]
    assert len(set(names)) == len(names)
    assert all(len(name) < 100 and "/" not in name for name in names)


def test_a_plan_survives_its_file() -> None:
    plan = design.make_plan(STUDY, "lab")
    assert design.Plan.from_json(json.loads(json.dumps(plan.to_json())), "plan.json") == plan


def test_an_edited_plan_is_refused() -> None:
    value = design.make_plan(STUDY, "quick").to_json()
    value["trials"][0]["cell"]["option"] = "noatime"
    with pytest.raises(FsgreenError, match="its hash does not fit"):
        design.Plan.from_json(value, "plan.json")


def test_the_difference_of_two_plans_names_the_line() -> None:
    plan = design.make_plan(STUDY, "quick")
    longer = replace(plan, profile=replace(plan.profile, measure_s=99))
    assert longer.difference(plan) == ["profile.measure_s: 9 -> 99"]


def test_unknown_profile_names_those_there_are() -> None:
    with pytest.raises(FsgreenError, match="did you mean quick"):
        design.make_plan(STUDY, "quik")


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.pop("baseline"),
        lambda text: text["matrices"].update(odd={"color": ["red"]}),
        lambda text: text["profiles"]["quick"].update(matrices=["nowhere"]),
        lambda text: text["profiles"]["quick"].update(surprise=1),
        lambda text: text.update(profiles=None),
    ],
    ids=["no baseline", "unknown factor", "unknown matrix", "unknown key", "no profiles"],
)
def test_a_damaged_study_is_an_error_that_names_the_file_or_the_word(
    damage, tmp_path: Path
) -> None:
    text = yaml.safe_load(paths.study("fast10").read_text())
    damage(text)
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(text))
    with pytest.raises(FsgreenError, match=r"not a study|unknown"):
        design.read_study(file)


def test_a_profile_without_the_baseline_is_refused() -> None:
    lone = replace(STUDY, baseline=design.Cell("webserver", "reiserfs"))
    with pytest.raises(FsgreenError, match="leaves out the baseline"):
        design.make_plan(lone, "quick")
