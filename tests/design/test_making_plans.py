"""The plan decides what counts: blocks must be complete and seeded, and exclusions be said."""

import json
import re
from dataclasses import replace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fsgreen import design, paths
from fsgreen.errors import FsgreenError

STUDY = design.load_study("fast10")
STUDIES = [
    design.load_study(file.stem) for file in sorted((paths.root() / "studies").glob("*.yaml"))
]


@pytest.mark.parametrize(
    ("study", "profile"),
    [(study, profile) for study in STUDIES for profile in study.profiles],
    ids=lambda given: getattr(given, "name", given),
)
def test_each_block_is_one_pass_over_all_cells_with_the_baseline(study, profile: str) -> None:
    plan = design.make_plan(study, profile)
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
    seeds = {(t.cell["workload"], t.block, t.seed) for t in plan.trials}
    assert len(seeds) == len({(workload, block) for workload, block, _ in seeds})
    assert len({seed for *_, seed in seeds}) == len(seeds)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_names_of_trials_are_unique_and_fit_a_file_system(study: design.Study) -> None:
    for profile in study.profiles:
        names = [trial.trial for trial in design.make_plan(study, profile).trials]
        assert len(set(names)) == len(names)
        assert all(len(name) < 100 and "/" not in name for name in names)


def test_one_file_system_that_is_there_leaves_out_what_needs_a_device() -> None:
    study = replace(
        STUDY,
        matrices={
            "two_file_systems": (
                STUDY.baseline,
                STUDY.baseline.but(device="aged"),
                STUDY.baseline.but(scheduler="bfq"),
                STUDY.baseline.but(partition=4),
                STUDY.baseline.but(cache="warm"),
            )
        },
    )
    plan = design.make_plan(study, "quick", only="btrfs")
    assert [cell.label for cell in plan.cells] == [
        "webserver-btrfs-default",
        "webserver-btrfs-default-warm",
    ]


def sequential(**blocks: int) -> design.Study:
    return replace(STUDY, profiles={"quick": replace(STUDY.profiles["quick"], **blocks)})


def test_the_plan_holds_every_block_that_there_may_be() -> None:
    """Its hash then covers them, and more blocks do not change those before."""
    plan = design.make_plan(sequential(blocks=5, most_blocks=8), "quick")
    assert {trial.block for trial in plan.trials} == set(range(1, 9))
    fixed = design.make_plan(sequential(blocks=5), "quick")
    assert plan.trials[: len(fixed.trials)] == fixed.trials
    assert plan.hash != fixed.hash
    assert design.Plan.from_json(json.loads(json.dumps(plan.to_json())), "plan.json") == plan


def test_a_profile_may_have_bounds_of_its_own() -> None:
    """A stricter campaign must not change the plan, and so the trials, of those before it."""
    quick = STUDY.profiles["quick"]
    strict = replace(STUDY, profiles={"quick": replace(quick, bounds={"speed_percent": 10})})
    plans = [design.make_plan(study, "quick") for study in (STUDY, strict)]
    assert plans[1].bounds == {**plans[0].bounds, "speed_percent": 10}
    assert plans[0].trials == plans[1].trials
    assert plans[0].hash != plans[1].hash
    assert "bounds" not in plans[0].to_json()["profile"]
    assert design.Plan.from_json(json.loads(json.dumps(plans[1].to_json())), "plan") == plans[1]


def test_unknown_profile_names_those_there_are() -> None:
    with pytest.raises(FsgreenError, match="did you mean quick"):
        design.make_plan(STUDY, "quik")


def test_a_profile_without_the_baseline_is_refused() -> None:
    lone = replace(STUDY, baseline=design.Cell(workload="webserver", file_system="reiserfs"))
    with pytest.raises(FsgreenError, match="leaves out the baseline"):
        design.make_plan(lone, "quick")


def _declared(tmp_path, *exclusions):
    """The smallest study that leaves these things out."""
    study = yaml.safe_load(paths.study("fast10").read_text())
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump({**study, "study": "own", "exclusions": list(exclusions)}))
    return design.read_study(file)


def test_an_exclusion_of_a_factor_says_itself_what_is_left_out(tmp_path) -> None:
    """Nobody has to write the same thing in data and in words."""
    study = _declared(
        tmp_path,
        {"why": "gone", "factor": "file_system", "levels": ["jfs"]},
        {"why": "time", "factor": "scale", "profiles": ["quick", "lab"]},
        {"why": "time", "factor": "option"},
    )
    assert [one["what"] for one in design.make_plan(study, "quick").exclusions] == [
        "file_system jfs",
        "full sizes in quick, lab",
        "levels of option",
    ]


def test_a_profile_is_added_with_its_exclusions_and_other_plans_stay(tmp_path) -> None:
    """They would orphan the trials of campaigns that were measured before."""
    before = design.make_plan(_declared(tmp_path), "quick")
    added = {"what": "jfs", "why": "time", "profiles": ["lab"], "only_there": True}
    study = _declared(tmp_path, added)
    assert design.make_plan(study, "quick").hash == before.hash
    assert [one["what"] for one in design.make_plan(study, "lab").exclusions] == ["jfs"]


def test_exclusions_that_say_the_same_are_one_in_the_plan() -> None:
    """One sentence may cover sizes and lengths."""
    study = STUDY
    whats = [one["what"] for one in design.make_plan(study, "quick").exclusions]
    assert len(whats) == len(set(whats)) < len(study.exclusions)


@pytest.mark.parametrize(
    ("exclusion", "told"),
    [
        ({"why": "x"}, "takes `what`"),
        ({"why": "x", "factor": "filesystem"}, "did you mean file_system"),
        ({"why": "x", "factor": "scale", "levels": [1]}, "no levels"),
        ({"what": "y", "why": "x", "profiles": ["labb"]}, "did you mean lab"),
        ({"what": "y", "why": "x", "levels": ["ext4"]}, "none is named"),
        ({"what": "y", "why": "x", "only_there": True}, "it would be in no plan"),
    ],
)
def test_an_exclusion_that_covers_nothing_is_refused(exclusion, told, tmp_path) -> None:
    """Rule 6 would call a misspelt one no reason."""
    with pytest.raises(FsgreenError, match=re.escape(told)):
        _declared(tmp_path, exclusion)


def test_a_plan_does_not_say_of_a_level_that_it_has_that_it_is_left_out() -> None:
    """An exclusion of other profiles would contradict the cells below it."""
    study = design.load_study("fast10")
    said = {
        profile: {entry["what"] for entry in design.make_plan(study, profile).exclusions}
        for profile in ("campaign", "vm")
    }
    assert "reiserfs" in said["campaign"]
    assert "reiserfs" not in said["vm"]
