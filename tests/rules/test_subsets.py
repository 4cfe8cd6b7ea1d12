"""Rule 6: a reason counts for what it speaks of, in the profiles that it names."""

from dataclasses import replace

import pytest
import sound_campaign
from sound_campaign import answer, with_plan

from fsgreen.design import Cell, load_study, make_plan
from fsgreen.rules import subsets


def told(sound, *what):
    """The sound campaign, left out of which is only this."""
    return with_plan(sound, exclusions=tuple({"what": one, "why": "time"} for one in what))


def with_study(sound, **matrices):
    """The sound campaign of a study that has these matrices, too."""
    return replace(sound, study=sound_campaign.make_study(sound.plan, **matrices))


@pytest.mark.parametrize(
    ("what", "state"),
    [
        ("full file counts", "quiet"),
        ("256 MB in the profile test", "quiet"),
        ("full sizes in the profiles quick and test", "quiet"),
        ("full sizes in all profiles but full", "quiet"),
        ("files in flight", "quiet"),
        ("full file counts in the profiles quick, lab, and test", "quiet"),
        ("full file counts in all profiles but quick, lab, and test", "fired"),
        ("reiserfs", "fired"),
        ("partitions that are full file systems", "fired"),
        ("full file counts in the profiles quick and lab", "fired"),
        ("full file counts in all profiles but test", "fired"),
        ("600 s runs, and full file counts in the profile quick", "fired"),
    ],
)
def test_a_smaller_scale_needs_a_reason_that_speaks_of_it_here(what, state, sound):
    """A reader would be told that reiserfs is why the files are a tenth."""
    found = answer(6, told(sound, what))
    assert found.state == state
    assert "webserver at 0.1" in found.found
    assert ("none speaks of the scale below 1" in found.found) == (state == "fired")


def test_a_scale_of_one_or_more_needs_no_reason(sound):
    """More files than published leave nothing out."""
    profile = replace(sound.plan.profile, scale={"webserver": 12.0})
    assert answer(6, told(with_plan(sound, profile=profile), "reiserfs")).state == "quiet"


@pytest.mark.parametrize(
    ("what", "state"), [("600 s runs", "quiet"), ("full lengths", "quiet"), ("reiserfs", "fired")]
)
def test_runs_shorter_than_those_of_another_profile_need_a_reason(what, state, sound):
    full = replace(sound.plan.profile, name="full", measure_s=600.0)
    study = replace(sound.study, profiles={"test": sound.plan.profile, "full": full})
    found = answer(6, told(replace(sound, study=study), "full file counts", what))
    assert found.state == state
    assert ("10 s measured instead of 600 s" in found.found) == (state == "fired")


@pytest.mark.parametrize(
    ("cell", "what"),
    [
        (Cell(workload="webserver", file_system="btrfs"), "other file systems"),
        (Cell(workload="webserver", file_system="btrfs"), "btrfs, which takes a disk of its own"),
        (
            Cell(workload="webserver", file_system="ext4", option="noatime"),
            "the options outside the matrix of the profile",
        ),
        (Cell(workload="webserver", file_system="xfs", load_ops_s=100.0), "loads"),
        (Cell(workload="open-close", file_system="xfs"), "the micro-benchmarks"),
        (Cell(workload="webserver", file_system="xfs", readers=4), "all counts of readers in test"),
    ],
)
def test_a_matrix_that_was_left_out_needs_a_reason_that_speaks_of_it(cell, what, sound):
    """Nobody could tell an idea without time from a file system that came out badly."""
    less = with_study(sound, more=(sound_campaign.CELLS[0], cell), again=(cell,))
    found = answer(6, less)
    assert found.state == "fired"
    assert found.found.endswith(
        "for profile test none speaks of cells that the study has now (1 of more)"
    )
    assert answer(6, told(less, "full file counts", what)).state == "quiet"


def test_a_combination_of_known_levels_is_set_apart_from_the_nearest_cells(sound):
    """ext4 with an option that only ext3 was given is a matter of options, or of ext4."""
    first, *others = sound_campaign.CELLS
    known = first.but(option="noatime")
    trials = tuple(replace(t, cell=known) if t.cell == others[-1] else t for t in sound.plan.trials)
    plan = replace(sound.plan, trials=trials)
    study = sound_campaign.make_study(plan, more=(others[0].but(option="noatime"),))
    study = replace(study, matrices={"more": study.matrices["more"]})
    assert subsets.without_reason(plan, study) == ["cells that the study has now (1 of more)"]
    for what in ("options", "file systems"):
        spoken = replace(plan, exclusions=(*plan.exclusions, {"what": what, "why": "time"}))
        assert subsets.without_reason(spoken, study) == []


def test_what_a_study_had_is_unknown_without_its_file(sound):
    found = answer(6, replace(sound, study=None))
    assert found.state == "unknown"
    assert "studies/fast10.yaml" in found.found


def test_a_limit_that_readers_do_not_reach_shortens_nothing():
    """Readers end by themselves: 60 s instead of 180 s leaves out nothing."""
    study = load_study("nfstricks03")
    plan = make_plan(study, "quick")
    assert plan.profile.measure_s < study.profiles["full"].measure_s
    assert not any("measured instead" in text for text in subsets.without_reason(plan, study))


def test_a_folder_of_one_file_system_says_so_itself():
    """What `only` leaves out stands among the exclusions that it adds."""
    study = load_study("fast10")
    plan = make_plan(study, "lab", only="overlay")
    assert subsets.without_reason(plan, study) == []
