"""Rule 6: a reason counts for the factor that it names, in the profiles that it names."""

from dataclasses import replace

import pytest
import sound_campaign
from sound_campaign import answer, with_plan

from fsgreen.design import Cell, Exclusion, load_study, make_plan
from fsgreen.rules import subsets

SCALE = Exclusion("full file counts", "time", "scale")
REISERFS = Exclusion("reiserfs", "it is gone", "file_system", ("reiserfs",))


def told(sound, *exclusions):
    """The sound campaign, left out of which is only this."""
    words = tuple({"what": one.what, "why": one.why} for one in exclusions)
    return with_plan(
        replace(sound, study=sound.study and replace(sound.study, exclusions=exclusions)),
        exclusions=words,
    )


def with_study(sound, **matrices):
    """The sound campaign of a study that has these matrices, too."""
    return replace(sound, study=sound_campaign.make_study(sound.plan, **matrices))


@pytest.mark.parametrize(
    ("exclusion", "state"),
    [
        (SCALE, "quiet"),
        (replace(SCALE, profiles=("quick", "test")), "quiet"),
        (replace(SCALE, profiles=("quick", "lab")), "fired"),
        (replace(SCALE, factor=None), "fired"),
        (replace(SCALE, factor="measure_s"), "fired"),
        (REISERFS, "fired"),
    ],
)
def test_a_smaller_scale_needs_a_reason_that_speaks_of_it_here(exclusion, state, sound):
    """A reader would be told that reiserfs is why the files are a tenth."""
    found = answer(6, told(sound, exclusion))
    assert found.state == state
    assert "webserver at 0.1" in found.found
    assert ("none speaks of the scale below 1" in found.found) == (state == "fired")


def test_a_scale_of_one_or_more_needs_no_reason(sound):
    """More files than published leave nothing out."""
    profile = replace(sound.plan.profile, scale={"webserver": 12.0})
    assert answer(6, told(with_plan(sound, profile=profile), REISERFS)).state == "quiet"


def test_what_a_study_says_only_now_is_no_reason_for_an_older_plan(sound):
    """An exclusion is declared before the data, or it is an excuse."""
    excused = replace(sound, study=replace(sound.study, exclusions=(SCALE,)))
    assert answer(6, with_plan(excused, exclusions=({"what": "x", "why": "y"},))).state == "fired"


@pytest.mark.parametrize(
    ("exclusion", "state"),
    [(Exclusion("600 s runs", "time", "measure_s"), "quiet"), (REISERFS, "fired")],
)
def test_runs_shorter_than_those_of_another_profile_need_a_reason(exclusion, state, sound):
    full = replace(sound.plan.profile, name="full", measure_s=600.0)
    study = replace(sound.study, profiles={"test": sound.plan.profile, "full": full})
    found = answer(6, told(replace(sound, study=study), SCALE, exclusion))
    assert found.state == state
    assert ("10 s measured instead of 600 s" in found.found) == (state == "fired")


@pytest.mark.parametrize(
    ("cell", "factor", "levels", "state"),
    [
        (Cell(workload="webserver", file_system="btrfs"), "file_system", (), "quiet"),
        (Cell(workload="webserver", file_system="btrfs"), "file_system", ("btrfs",), "quiet"),
        (Cell(workload="webserver", file_system="btrfs"), "file_system", ("jfs",), "fired"),
        (Cell(workload="webserver", file_system="btrfs"), "option", (), "fired"),
        (Cell(workload="webserver", file_system="ext4", option="noatime"), "option", (), "quiet"),
        (
            Cell(workload="webserver", file_system="xfs", load_ops_s=100.0),
            *("load_ops_s", (100.0,), "quiet"),
        ),
        (Cell(workload="open-close", file_system="xfs"), "workload", (), "quiet"),
        (Cell(workload="webserver", file_system="xfs", readers=4), "readers", (4,), "quiet"),
    ],
)
def test_a_matrix_that_was_left_out_needs_a_reason_that_speaks_of_it(
    cell, factor, levels, state, sound
):
    """Nobody could tell an idea without time from a file system that came out badly."""
    less = with_study(sound, more=(sound_campaign.CELLS[0], cell), again=(cell,))
    found = answer(6, less)
    assert found.state == "fired"
    assert found.found.endswith(
        "for profile test none speaks of cells that the study has now (1 of more)"
    )
    spoken = Exclusion("others", "time", factor, levels)
    assert answer(6, told(less, SCALE, spoken)).state == state


def test_a_combination_of_known_levels_is_set_apart_from_the_nearest_cells(sound):
    """ext4 with an option that only ext3 was given is a matter of options, or of ext4."""
    first, *others = sound_campaign.CELLS
    known = first.but(option="noatime")
    trials = tuple(replace(t, cell=known) if t.cell == others[-1] else t for t in sound.plan.trials)
    plan = replace(sound.plan, trials=trials)
    study = sound_campaign.make_study(plan, more=(others[0].but(option="noatime"),))
    study = replace(study, matrices={"more": study.matrices["more"]})
    assert subsets.without_reason(plan, study) == ["cells that the study has now (1 of more)"]
    for factor in ("option", "file_system"):
        spoken = replace(plan, exclusions=(*plan.exclusions, {"what": "others", "why": "time"}))
        told_of = (*study.exclusions, Exclusion("others", "time", factor))
        assert subsets.without_reason(spoken, replace(study, exclusions=told_of)) == []


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
