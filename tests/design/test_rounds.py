"""Turns must be fair: every trial that is ready has one in every round, in an order of chance."""

from dataclasses import replace

import pytest
import synthetic
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fsgreen import design
from fsgreen.design import Windows
from fsgreen.design.overview import describe
from fsgreen.errors import FsgreenError

FILE_SYSTEMS = ("ext2", "ext3", "ext4", "xfs", "btrfs")


def plan_of(count=3, ready=4, cells=None, seed=1, blocks=2):
    plan = synthetic.make_plan(cells or synthetic.cells(file_systems=FILE_SYSTEMS[:3]), blocks)
    profile = replace(plan.profile, windows=Windows(count, 2.0, ready), measure_s=2.0 * count)
    return replace(plan, profile=profile, seed=seed)


plans = st.builds(
    plan_of,
    count=st.integers(1, 30),
    ready=st.integers(1, 7),
    cells=st.builds(
        synthetic.cells,
        workloads=st.sampled_from([("webserver",), ("webserver", "varmail")]),
        file_systems=st.integers(1, 5).map(lambda most: FILE_SYSTEMS[:most]),
        options=st.sampled_from([("default",), ("default", "noatime"), ("default", "a", "b")]),
    ),
    seed=st.integers(0, 2**31),
)


@given(plan=plans)
def test_every_trial_is_in_one_group_of_its_block_and_workload(plan):
    """One in two groups would be measured twice, one in none never."""
    groups = design.groups(plan, plan.trials)
    together = [planned for group in groups for planned in group]
    assert sorted(planned.trial for planned in together) == sorted(
        planned.trial for planned in plan.trials
    )
    for group in groups:
        assert 1 <= len(group) <= plan.profile.windows.ready
        assert len({(planned.block, planned.cell["workload"]) for planned in group}) == 1
    assert [group[0].block for group in groups] == sorted(group[0].block for group in groups)
    assert design.most_ready(plan) == max(map(len, groups))


@given(plan=plans)
def test_every_ready_cell_has_one_window_in_each_round(plan):
    """A cell that had more of them early would have more of what the host did early."""
    for group in design.groups(plan, plan.trials):
        rounds = design.rounds(plan, group)
        assert len(rounds) == plan.profile.windows.count
        for one in rounds:
            assert set(one) == set(group) and len(one) == len(group)
        assert rounds == design.rounds(plan, group)


@given(seed=st.integers(0, 2**31))
def test_the_order_is_of_the_seed_and_differs_between_rounds_and_blocks(seed):
    plan = plan_of(count=20, seed=seed)
    first, second = (design.rounds(plan, group) for group in design.groups(plan, plan.trials))
    assert len(set(first)) > 1
    places = [[planned.cell.label for planned in one] for one in first]
    assert places != [[planned.cell.label for planned in one] for one in second]
    other = design.rounds(replace(plan, seed=seed + 1), design.groups(plan, plan.trials)[0])
    assert first != other


def test_each_place_of_a_round_is_as_likely_for_each_cell():
    """The first of a round follows another's flush as the others do, yet may differ from them."""
    plan = plan_of(count=3000, blocks=1)
    (group,) = design.groups(plan, plan.trials)
    firsts = [one[0].trial for one in design.rounds(plan, group)]
    for planned in group:
        assert firsts.count(planned.trial) == pytest.approx(1000, abs=5 * 26)


def test_without_windows_each_trial_is_alone_and_the_hash_is_what_it_was():
    plan = synthetic.make_plan()
    assert design.groups(plan, plan.trials) == [(planned,) for planned in plan.trials]
    assert "windows" not in plan.to_json()["profile"]


def test_a_plan_with_windows_is_read_back_as_it_was():
    plan = plan_of()
    again = design.Plan.from_json(plan.to_json(), "here")
    assert again.profile.windows == plan.profile.windows
    assert again.hash == plan.hash


def test_the_overview_says_how_much_is_ready_and_when_that_is_too_few():
    study = design.load_study("fast10")
    enough = "\n".join(describe(plan_of(ready=3), study))
    assert "each trial is 3 windows of 2 s" in enough
    assert "3 ready at once, images of 3072 MiB together" in enough
    assert "would do" not in enough
    assert "`ready: 3` would do" in "\n".join(describe(plan_of(ready=2), study))


STUDY = """
study: turns
title: Turns
question: Which?
seed: 1
baseline: {workload: webserver, file_system: ext4}
matrices:
  all: {workload: [webserver], file_system: [ext4, xfs]}
profiles:
  quick:
    matrices: [all]
    blocks: 1
    phases: {idle_s: 1, warmup_s: 1, settle_limit_s: 60}
    image_mib: 320
    windows: {count: 20, length_s: 2, ready: 2}
"""


def profile_of(tmp_path, **changes):
    study = yaml.safe_load(STUDY)
    study["profiles"]["quick"] |= changes
    file = tmp_path / "turns.yaml"
    file.write_text(yaml.safe_dump(study))
    return design.read_study(file).profiles["quick"]


def test_a_profile_says_windows_in_place_of_a_length(tmp_path):
    profile = profile_of(tmp_path)
    assert profile.windows == Windows(20, 2.0, 2)
    assert profile.measure_s == 40
    assert profile.interval_s == 2
    assert profile.least_trial_s == 1 + 1 + 40


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"phases": {"idle_s": 1, "warmup_s": 1, "measure_s": 9, "settle_limit_s": 60}},
            "measure_s and windows are two lengths",
        ),
        ({"windows": None}, "phases lacks measure_s"),
        ({"windows": {"count": 0, "length_s": 2, "ready": 2}}, "count"),
        ({"windows": {"count": 2, "length_s": -1, "ready": 2}}, "length_s"),
        ({"windows": {"count": 2, "lenght_s": 1, "ready": 2}}, "lenght_s"),
        (
            {"events": [{"phase": "measure", "at_s": 1, "do": "stack.leave"}]},
            "events happen within one phase",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(tmp_path, changes, said):
    with pytest.raises(FsgreenError) as caught:
        profile_of(tmp_path, **changes)
    assert said in str(caught.value)
