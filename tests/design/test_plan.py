"""The plan decides what counts: blocks must be complete, seeded, and refuse to change silently."""

import json
import re
from dataclasses import replace
from pathlib import Path

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


def test_the_difference_names_what_is_new_in_the_profile_and_among_the_cells() -> None:
    """Not each of hundreds of trials."""
    plan = design.make_plan(STUDY, "quick")
    aged = design.Cell(workload="oltp", file_system="xfs", device="aged")
    wider = replace(
        STUDY,
        matrices={"two_file_systems": (*STUDY.matrices["two_file_systems"], aged)},
        profiles={"quick": replace(STUDY.profiles["quick"], blocks=5, most_blocks=9)},
    )
    assert design.make_plan(wider, "quick").difference(plan) == [
        "profile.blocks: 2 -> 5",
        "profile.most_blocks: absent -> 9",
        "cell oltp-xfs-default-aged: new",
    ]
    assert "cell oltp-xfs-default-aged: gone" in plan.difference(design.make_plan(wider, "quick"))


def test_another_order_alone_is_a_difference() -> None:
    plan = design.make_plan(STUDY, "quick")
    assert replace(plan, trials=plan.trials[::-1]).difference(plan) == [
        "trials: other ones, or in another order"
    ]
    assert plan.difference(plan) == []


# --- factors that a study may hold constant -----------------------------------------------------


def with_cells(*cells: design.Cell, **constants: str) -> design.Plan:
    study = replace(
        STUDY,
        matrices={"two_file_systems": (STUDY.baseline, *cells)},
        constants={**STUDY.constants, **constants},
    )
    return design.make_plan(study, "quick")


@pytest.mark.parametrize(("profile", "known"), [("lab", "c6f99b137dad"), ("complete", "ba18f3de")])
def test_a_campaign_keeps_the_hash_that_it_was_measured_under(profile: str, known: str) -> None:
    """A factor that came later must not change the plans of those before it."""
    assert design.make_plan(STUDY, profile).hash.startswith(known)


def test_a_disk_its_part_and_its_queue_tell_cells_apart() -> None:
    """Two cells of one label would write one trial over the other."""
    inner = design.Cell(
        workload="oltp", file_system="xfs", readers=8, disk="wd200bb", partition=4, queue_depth=1
    )
    assert inner.label == "oltp-xfs-default-8readers-wd200bb-p4-q1"
    plan = with_cells(inner, inner.but(partition=1), inner.but(readers=None))
    assert len(plan.cells) == 4
    again = design.Plan.from_json(json.loads(json.dumps(plan.to_json())), "plan.json")
    assert again.cells == plan.cells


def test_a_level_that_is_the_constant_does_not_make_a_second_cell() -> None:
    """Otherwise one combination would be measured and compared under two names."""
    base = STUDY.baseline
    plan = with_cells(
        base.but(cache="cold", device="initial", scheduler="none"),
        base.but(cache="warm"),
    )
    assert [cell.label for cell in plan.cells] == [base.label, f"{base.label}-warm"]
    warm_is_usual = with_cells(base.but(cache="warm"), cache="warm")
    assert [cell.label for cell in warm_is_usual.cells] == [base.label]


def test_every_factor_of_a_cell_has_a_level() -> None:
    plan = with_cells(
        design.Cell(workload="oltp", file_system="xfs", device="aged"), scheduler="mq-deadline"
    )
    aged = next(cell for cell in plan.cells if cell.get("device"))
    assert plan.levels(aged) == {
        "workload": "oltp",
        "file_system": "xfs",
        "option": "default",
        "load_ops_s": None,
        "cache": "cold",
        "device": "aged",
        "scheduler": "mq-deadline",
        "readers": None,
        "disk": None,
        "partition": None,
        "queue_depth": None,
        "memory_mib": None,
    }


@pytest.mark.parametrize(
    ("levels", "constants", "message"),
    [
        ({"cache": ["hot"]}, {}, "level of cache 'hot'"),
        ({"device": ["age"]}, {}, "did you mean aged"),
        ({}, {"device": "fresh"}, "level of device 'fresh'"),
        ({"partition": [5]}, {}, "level of partition '5'"),
        ({"disk": ["my/disk.toml"]}, {}, "a level of disk is a name"),
        ({"readers": [0]}, {}, "level of readers is a whole number"),
        ({"queue_depth": [True]}, {}, "level of queue_depth is a whole"),
    ],
)
def test_levels_that_there_are_not_are_refused_with_their_line(
    levels, constants, message, tmp_path: Path
) -> None:
    text = yaml.safe_load(paths.study("fast10").read_text())
    text["matrices"]["two_file_systems"] |= levels
    text["constants"] |= constants
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(text))
    with pytest.raises(FsgreenError, match=f"line [0-9]+: .*{message}"):
        design.read_study(file)


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


# --- a maximum of blocks ------------------------------------------------------------------------


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


@pytest.mark.parametrize("blocks", [{"blocks": 0}, {"blocks": 5, "most_blocks": 4}])
def test_a_study_with_an_impossible_number_of_blocks_is_refused(blocks, tmp_path: Path) -> None:
    text = yaml.safe_load(paths.study("fast10").read_text())
    text["profiles"]["quick"].update(blocks)
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(text))
    with pytest.raises(FsgreenError, match="blocks"):
        design.read_study(file)


@pytest.mark.parametrize("place", ["study", "profile"])
def test_a_study_that_concludes_from_few_trials_is_refused(place, tmp_path: Path) -> None:
    """Rule 26 is no matter of taste: with 2, two lucky trials would tell file systems apart."""
    text = yaml.safe_load(paths.study("fast10").read_text())
    owner = text if place == "study" else text["profiles"]["quick"].setdefault("bounds", {})
    (owner["bounds"] if place == "study" else owner)["minimum_trials"] = 2
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(text))
    with pytest.raises(FsgreenError, match=r"minimum_trials is 2(.|\n)*rule 26"):
        design.read_study(file)


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


def test_memory_shrinks_with_the_scale_so_that_data_over_memory_stays() -> None:
    profile = STUDY.profiles["quick"]
    bounded = replace(
        STUDY,
        profiles={
            name: replace(
                profile, name=name, scale={**profile.scale, "webserver": scale}, constants=constants
            )
            for name, scale, constants in (
                ("full", 1.0, {"memory_mib": 2048}),
                ("small", 0.25, {"memory_mib": 2048}),
                ("all", 0.25, None),
            )
        },
    )
    limits_b = {}
    for name in bounded.profiles:
        plan = design.make_plan(bounded, name)
        limits_b[name] = plan.memory_limit_b(plan.baseline)
        assert design.Plan.from_json(plan.to_json(), "here").constants == plan.constants
    assert limits_b == {"full": 2 << 30, "small": 512 << 20, "all": None}


def test_a_plan_does_not_say_of_a_level_that_it_has_that_it_is_left_out() -> None:
    """An exclusion of other profiles would contradict the cells below it."""
    study = design.load_study("fast10")
    said = {
        profile: {entry["what"] for entry in design.make_plan(study, profile).exclusions}
        for profile in ("campaign", "vm")
    }
    assert "reiserfs" in said["campaign"]
    assert "reiserfs" not in said["vm"]


def test_a_factor_of_its_own_that_a_study_holds_constant_reaches_its_cells() -> None:
    """The command of a workload would lose the argument that it stands in."""
    plan = design.make_plan(design.load_study("massie25"), "quick")
    assert {plan.levels(cell)["file_mib"] for cell in plan.cells} == {512}
