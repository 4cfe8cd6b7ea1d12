"""Rule 46 before anything is measured: what a plan can decide, by the scatter of a pilot."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import synthetic

from fsgreen import paths
from fsgreen.analysis.claims import Claims, Source
from fsgreen.analysis.claims.assay import Precision, power
from fsgreen.analysis.claims.ledger import judge_claims, parts_table
from fsgreen.analysis.planned import Pilot, Planned, blocks_for, prospects, tellings, widest_percent
from fsgreen.analysis.planned.reach import Reach
from fsgreen.campaign.pace import Pace, foretold_s
from fsgreen.claims import ABOVE, Band
from fsgreen.design import Cell, Comparison, Windows
from fsgreen.stats import TurnComponents

BOUND = 0.05
SYSTEMS = ["ext2", "ext3", "ext4", "xfs", "btrfs"]
CELLS = synthetic.cells(["webserver"], SYSTEMS)
CLAIMS = """
small:
  statement: ext4 is 30 % above ext3.
  numbers: [{metric: throughput, op: approx, value: 1.3, unit: x}]
  where: {workload: webserver}
  ratio: [{number: 0, of: ext4, against: ext3}]
ordered:
  statement: xfs is above ext3.
  where: {workload: webserver}
  order: [{of: [xfs, ext3], metric: throughput}]
made:
  statement: xfs was made to be 30 % above ext2.
  numbers: [{metric: throughput, op: approx, value: 1.3, unit: x}]
  where: {workload: webserver}
  built: true
  ratio: [{number: 0, of: xfs, against: ext2}]
elsewhere:
  statement: ext4 is 30 % above ext3 on a mail server.
  numbers: [{metric: throughput, op: approx, value: 1.3, unit: x}]
  where: {workload: varmail}
  ratio: [{number: 0, of: ext4, against: ext3}]
from_disk:
  statement: btrfs is 30 % below ext3, from a disk.
  numbers: [{metric: throughput, op: approx, value: -30, unit: percent_change}]
  where: {workload: webserver}
  state: [from-disk]
  ratio: [{number: 0, of: btrfs, against: ext3}]
"""
STATES = """
from-disk:
  says: reads come from a disk
  holds: {device_read_percent: {at_least: 50}}
  way: fsgreen measure own --profile disk
"""


@pytest.fixture
def claims(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    folder = tmp_path / "studies" / "own"
    folder.mkdir(parents=True)
    (folder / "claims.yaml").write_text(CLAIMS)
    (folder / "states.yaml").write_text(STATES)
    return Claims.of("own")


def pilot_of(blocks=5, scatter=0.02, windows=None, turns=None, **state):
    trials = synthetic.trials_frame(CELLS, blocks, scatter=scatter).assign(**state)
    plan = synthetic.make_plan(CELLS, blocks)
    if windows is not None:
        plan = replace(plan, profile=replace(plan.profile, windows=windows))
    return Pilot("pilot", plan, "loop", Source(trials, BOUND, {}), turns=turns or {})


def planned_of(pilot, blocks=5, cells=CELLS):
    plan = synthetic.make_plan(cells, blocks)
    return Planned.of(plan, pilot, {}, ["file_system", "option"])


def by_slug(claims, planned):
    return {one.slug: one for one in prospects(claims, planned)}


@pytest.mark.parametrize("scatter", [0.01, 0.03])
def test_the_same_blocks_have_the_power_that_stands_beside_the_verdict(claims, scatter):
    """Two numbers of one name that differ would each make the other a lie."""
    pilot = pilot_of(scatter=scatter)
    table = parts_table(judge_claims(claims, {"loop": pilot.source}, {}, {})).set_index("slug")
    found = by_slug(claims, planned_of(pilot))
    for slug in ("small", "ordered"):
        assert found[slug].power(5) == pytest.approx(table.loc[slug, "power_p"], abs=1e-6)


def test_a_pilot_of_two_blocks_tells_by_the_scatter_of_all_its_cells(claims):
    """Two blocks give no interval of a pair, and five cells in them four degrees of freedom."""
    pilot = pilot_of(blocks=2)
    found = by_slug(claims, planned_of(pilot, blocks=10))["small"]
    table = pilot.source.trials.pivot_table("throughput_ops_s", "file_system", "block")
    logs = np.log(table.to_numpy())
    left = logs - logs.mean(axis=1, keepdims=True) - logs.mean(axis=0) + logs.mean()
    sd = math.sqrt((left**2).sum() / 4)
    known = Precision(math.sqrt(2 * math.expm1(sd**2) / 10), 4 * 9)
    assert found.power(10) == pytest.approx(power(Band(1.17, 1.43, 1), known, BOUND), abs=1e-9)
    assert found.power(4) == 0


@pytest.mark.parametrize("band", [Band(0.9, 1.1, 1), Band(0.95, 1 / 0.95, 0), ABOVE])
@pytest.mark.parametrize("error", [0.02, 0.1, 0.5])
def test_more_blocks_never_lower_the_power(band, error):
    """Else a plan would be told to measure less in order to know more."""
    reach = Reach(error, 4)
    powers = [power(band, reach.after(blocks), BOUND) for blocks in range(5, 200, 5)]
    assert all(after >= before - 1e-9 for before, after in pairwise(powers))


def test_the_blocks_that_are_asked_for_do_and_one_fewer_does_not(claims):
    found = by_slug(claims, planned_of(pilot_of(scatter=0.06)))["small"]
    assert 5 < found.blocks < 1000
    assert found.power(found.blocks - 1) < 0.8 <= found.power(found.blocks)
    assert blocks_for([found], 1.0) == found.blocks


def test_what_was_made_so_is_no_prospect_and_what_is_not_planned_says_what_it_lacks(claims):
    found = by_slug(claims, planned_of(pilot_of()))
    assert "made" not in found
    assert not found["elsewhere"].decidable
    assert found["elsewhere"].part.lacks == ("varmail ext4/default", "varmail ext3/default")
    assert found["small"].two_sided and not found["ordered"].two_sided


def test_a_pilot_in_another_state_decides_nothing_however_many_blocks(claims):
    memory = by_slug(claims, planned_of(pilot_of(device_read_percent=1.0)))["from_disk"]
    assert memory.out_of_state and memory.power(1000) == 0
    disk = by_slug(claims, planned_of(pilot_of(device_read_percent=80.0)))["from_disk"]
    assert not disk.part.found and disk.power(40) > 0.8
    assert blocks_for([memory, disk], 0.5) == disk.blocks
    assert blocks_for([memory, disk], 1.0) is None


def test_the_state_is_open_where_the_files_have_another_size(claims):
    """Files ten times as large may come from the disk; the pilot cannot tell."""
    pilot = pilot_of(device_read_percent=1.0)
    plan = synthetic.make_plan(CELLS, 40)
    plan = replace(plan, profile=replace(plan.profile, scale={"webserver": 1.0}))
    planned = Planned.of(plan, pilot, {}, ["file_system", "option"])
    found = by_slug(claims, planned)["from_disk"]
    assert found.state_open and not found.out_of_state
    assert found.power(40) > 0.8


@pytest.mark.usefixtures("claims")
@pytest.mark.parametrize(("scale", "outside"), [(0.1, True), (1.0, False)])
def test_a_state_of_the_files_is_told_by_the_scale_of_the_plan(scale, outside, tmp_path):
    """Files of a tenth decided nothing in the pilot; those of the plan may be whole."""
    told = STATES.replace("device_read_percent: {at_least: 50}", "files_b: {at_least: 1000}")
    (tmp_path / "studies" / "own" / "states.yaml").write_text(told)
    plan = synthetic.make_plan(CELLS, 40)
    plan = replace(plan, profile=replace(plan.profile, scale={"webserver": scale}))
    planned = Planned.of(plan, pilot_of(files_b=100.0), {}, ["file_system", "option"])
    found = by_slug(Claims.of("own"), planned)["from_disk"]
    assert found.out_of_state == outside
    assert bool(found.part.found) == outside


def test_without_a_pilot_nothing_is_promised_but_the_width_that_would_do(claims):
    found = by_slug(claims, planned_of(None))
    assert math.isnan(found["small"].power(100))
    assert found["small"].blocks is None
    widest = widest_percent(found["small"].part.band, BOUND)
    error = math.log1p(widest / 100) / 1.98  # Student's t of many degrees
    assert power(found["small"].part.band, Precision(error, 100), BOUND) == pytest.approx(
        0.8, abs=0.02
    )


def test_cells_that_no_claim_asks_for_are_known(claims):
    planned = planned_of(pilot_of())
    prospects(claims, planned)
    assert planned.asked == {
        f"webserver-{system}-default" for system in SYSTEMS if system != "ext2"
    }
    fewer = planned.under(labels=planned.asked, blocks=9)
    assert len(fewer.cells) == 4 and fewer.blocks == 9


def test_windows_narrow_what_scatters_between_them_and_not_the_makings(claims):
    """Who buys windows where the making dominates would wait for nothing."""
    windows = Windows(count=10, length_s=2.0, ready=4)
    more = replace(windows, count=40)
    for making, window, left in ((0.0, 6.0, 0.5), (6.0, 0.0, 1.0)):
        turns = {"webserver": TurnComponents(1.0, making, 1.0, window, 10, 5, 5)}
        pilot = pilot_of(windows=windows, turns=turns)
        assert pilot.by_turns_x("webserver", more) == pytest.approx(left)
        assert pilot.by_turns_x("webserver", windows) == 1
        assert pilot.by_turns_x("webserver", None) == 1


def test_the_smallest_difference_of_a_study_without_claims():
    """80 % power of a t test: the shift is about t(0.975) + t(0.8), times the error of a ratio."""
    planned = planned_of(pilot_of(blocks=30, scatter=0.03), blocks=10)
    compared = [Comparison("file_system")]
    (told,) = tellings(planned, compared, ["throughput"])
    assert (told.workload, told.metric, told.comparisons) == ("webserver", "throughput", 10)
    reach = planned.shared_reach("throughput", Cell(workload="webserver"))
    assert reach.error == pytest.approx(0.03 * math.sqrt(2), rel=0.15)
    known = reach.after(10)
    alone = 100 * math.expm1((2.028 + 0.853) * known.error)
    assert told.alone_percent == pytest.approx(alone, rel=0.02)
    assert told.smallest_percent > told.alone_percent > told.half_width_percent
    (unknown,) = tellings(planned_of(None), compared, ["throughput"])
    assert math.isnan(unknown.smallest_percent)


def test_the_time_is_that_of_the_pilot_under_the_phases_of_the_plan():
    """4 s beside the phases of the pilot; files ten times as large take ten times as long."""
    seen = synthetic.make_plan(CELLS, 5)
    pace = Pace(seen)
    for cell in CELLS:
        pace.add(cell, seen.profile.least_trial_s + 4, counts=True)
    longer = replace(seen, profile=replace(seen.profile, measure_s=100, scale={"webserver": 1.0}))
    told_s = foretold_s(longer, CELLS, seen, pace)
    assert told_s == pytest.approx(5 * (longer.profile.least_trial_s + 40))
