"""A plan must not change silently, keeps its cells apart, and comes from a sound study only."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from fsgreen import design, paths
from fsgreen.errors import FsgreenError

STUDY = design.load_study("fast10")


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


def test_a_factor_of_its_own_that_a_study_holds_constant_reaches_its_cells() -> None:
    """The command of a workload would lose the argument that it stands in."""
    plan = design.make_plan(design.load_study("massie25"), "quick")
    assert {plan.levels(cell)["file_mib"] for cell in plan.cells} == {512}
