"""A meter that recorded on its own: its readings must land in the right trial, or nowhere."""

import math
import shutil
from dataclasses import replace

import numpy as np
import pytest
import synthetic
import traces

from fsgreen import reduce, trial
from fsgreen.analysis import standard
from fsgreen.campaign import Campaign
from fsgreen.errors import FsgreenError
from fsgreen.meters import Imported, Readings
from fsgreen.reduce.attach import attach
from fsgreen.trace import pulse_edges, pulse_runs
from fsgreen.trace.pulses import on_time_s

EPOCH_S = 1.8e9
IDLE_W, PULSE_W, WORK_W = 200.0, 60.0, 40.0
MEASURED = (EPOCH_S + 10, EPOCH_S + 20)
INFO = replace(traces.INFO, driver="hoboware", boundary="wall", constant_error_w=0.0)

NAME = f"hoboware_{INFO.serial}"
ENERGY = f"energy_{NAME}_j"


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    """Trials that all measure from second 10 to 20, with pulses before and after."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    synthetic.write_raw("small", synthetic.make_plan())
    return Campaign("small")


def patterns():
    return [
        pulse_edges(EPOCH_S + at_s, pulse_runs(seed, 4.0)) for seed, at_s in ((1, -200), (2, 60))
    ]


def recorded(offset_s=0.0, drift_ppm=0.0):
    """What a meter averages each second that is early by an offset and gains by a drift."""
    meter_s = EPOCH_S + np.arange(-260.0, 260.0)
    host_s = EPOCH_S + (meter_s - EPOCH_S - offset_s) / (1 + 1e-6 * drift_ppm)
    energy_j = IDLE_W * (host_s - EPOCH_S) + WORK_W * on_time_s(MEASURED, host_s)
    energy_j += sum(PULSE_W * on_time_s(edges_s, host_s) for edges_s in patterns())
    power_w = np.diff(energy_j) / np.diff(host_s)
    return Imported(INFO, Readings(meter_s[1:], np.round(power_w, 1)), ())


@pytest.mark.parametrize(("offset_s", "drift_ppm"), [(0.0, 0.0), (12.3, 90.0), (-25.8, -60.0)])
def test_energy_of_a_trial_is_its_own_whatever_the_meters_clock(campaign, offset_s, drift_ppm):
    for edges_s in patterns():
        campaign.note_pulses(edges_s)
    meter, _ = attach("small", recorded(offset_s, drift_ppm))
    assert len(meter.energy) == 4
    said = next(iter(meter.energy.values()))
    budget_j = said.budget.quantisation_j + said.budget.edges_j + said.budget.clock_j
    assert abs(said.energy_j - (IDLE_W + WORK_W) * 10) <= budget_j
    assert meter.clock.offset_s == pytest.approx(offset_s, abs=0.5)
    assert (said.boundary, said.flaws) == ("wall", ())


def test_a_trial_whose_trace_is_flawed_has_a_row_that_says_so(campaign):
    """One reading without a value in hours must not cost the trials that it does not touch."""
    for edges_s in patterns():
        campaign.note_pulses(edges_s)
    gap = recorded()
    power_w = gap.readings.power_w.copy()
    power_w[np.searchsorted(gap.readings.time_s, MEASURED[0] + 5)] = np.nan
    meter, _ = attach("small", replace(gap, readings=replace(gap.readings, power_w=power_w)))
    assert len(meter.energy) == 4
    assert all(math.isnan(said.energy_j) and said.flaws for said in meter.energy.values())
    reduce.write("small")
    assert reduce.read_table("small", "trials")[ENERGY].isna().all()


def test_a_second_meter_does_not_take_the_place_of_the_first(campaign):
    """fast10 had two: of the node, and of its disk."""
    for edges_s in patterns():
        campaign.note_pulses(edges_s)
    other = recorded()
    files = {
        attach("small", replace(other, info=replace(INFO, serial=serial)))[1].name
        for serial in ("21-14", "21-15", "?")
    }
    assert files == {f"energy-hoboware{end}.json" for end in ("_21_14", "_21_15", "")}


def test_a_campaign_of_several_testbeds_takes_the_power_of_none(campaign):
    """What one of them drew would be said of trials that another measured meanwhile."""
    campaign.keep_identity({**campaign.identity(), "testbeds": ["small.one", "small.two"]})
    with pytest.raises(FsgreenError, match="a meter watches one testbed"):
        attach("small", recorded(), synchronised_s=0.5)


def test_a_campaign_without_pulses_takes_no_foreign_power(campaign):
    with pytest.raises(FsgreenError, match="no load pulses"):
        attach("small", recorded())


def test_a_trace_of_another_day_is_refused(campaign):
    for edges_s in patterns():
        campaign.note_pulses([edge_s + 86400 for edge_s in edges_s])
    with pytest.raises(FsgreenError, match="ends before the pulses"):
        attach("small", recorded())


def test_a_trace_without_a_date_is_refused(campaign):
    campaign.note_pulses(patterns()[0])
    undated = recorded()
    readings = replace(undated.readings, time_s=undated.readings.time_s - EPOCH_S)
    with pytest.raises(FsgreenError, match="not on a known clock"):
        attach("small", replace(undated, readings=readings))


def test_a_damaged_record_of_pulses_is_named(campaign):
    (campaign.folder / "pulses.jsonl").write_text('{"edges": [1]}\n')
    with pytest.raises(FsgreenError, match="not a record of pulses"):
        attach("small", recorded())


def test_an_attached_meter_has_columns_like_any_other_and_is_added_to_none(campaign):
    """Its boundary is another one: the sum would be that of nothing."""
    reduce.write("small")
    before = reduce.read_table("small", "trials")
    for edges_s in patterns():
        campaign.note_pulses(edges_s)
    attach("small", recorded())
    for found in trial.list_trials(campaign.folder):
        found.verify()
    reduce.write("small")
    after = reduce.read_table("small", "trials")
    assert after[list(before)].equals(before), "what was there stays"
    assert after[ENERGY].tolist() == pytest.approx([10 * (IDLE_W + WORK_W)] * 4, rel=0.02)
    assert set(after[f"boundary_{NAME}"]) == {"wall"}
    assert set(after["boundary"]) == {"modelled"}


def test_the_efficiency_is_over_an_attached_meter_where_the_study_says_so(tmp_path, monkeypatch):
    """The joules of massie25 are those of a logger with a clock of its own."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    plan = replace(synthetic.make_plan(), efficiency={"boundary": "wall"})
    synthetic.write_raw("small", plan)
    with pytest.raises(FsgreenError, match="no meter has the boundary wall") as caught:
        reduce.write("small")
    assert "fsgreen attach" in caught.value.next_step
    for edges_s in patterns():
        Campaign("small").note_pulses(edges_s)
    attach("small", recorded())
    reduce.write("small")
    rows = reduce.read_table("small", "trials")
    assert set(rows["boundary"]) == {"wall"}
    assert rows["energy_j"].equals(rows[ENERGY])
    assert rows["efficiency_ops_j"].tolist() == pytest.approx((1000 / rows[ENERGY]).tolist())


def test_a_trial_set_aside_that_the_meter_did_not_see_leaves_the_efficiency_of_the_others(
    tmp_path, monkeypatch
):
    """It was measured before the meter was plugged in, and stopped the whole analysis."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    plan = replace(synthetic.make_plan(), efficiency={"boundary": "wall"})
    raw = synthetic.write_raw("small", plan)
    for edges_s in patterns():
        Campaign("small").note_pulses(edges_s)
    attach("small", recorded())
    reduce.write("small")
    [seen, *_] = trial.list_trials(raw)
    aside = trial.place_to_discard(raw, seen.name)
    shutil.copytree(seen.folder, aside)
    clock = {"monotonic_s": 0.0, "unix_s": seen.record.clock.unix_s - 1e5}
    trial.write_json(aside / "trial.json", {**seen.record.to_json(), "clock": clock})
    found = reduce.discarded_trials("small")
    assert found["boundary"].tolist() == ["wall"]
    assert found[["energy_j", "efficiency_ops_j"]].isna().all(axis=None)
    assert found["work_ops"].tolist() == [1000]
    standard.write("small")
    effects = reduce.read_table("small", "effects").set_index("metric")
    assert effects.loc["efficiency", "ratio_x"] == pytest.approx(1.0, rel=0.02)
    assert effects.loc["throughput", "first_outcome"] == effects.loc["throughput", "outcome"]


def test_energies_that_were_edited_are_refused(campaign):
    for edges_s in patterns():
        campaign.note_pulses(edges_s)
    _, file = attach("small", recorded())
    file.write_text(file.read_text().replace('"boundary": "wall"', '"boundary": "cpu"'))
    with pytest.raises(FsgreenError, match="not the file that was written"):
        reduce.write("small")
    file.write_text("[]")
    with pytest.raises(FsgreenError, match="not the energies of an attached meter"):
        reduce.write("small")


def in_zone(imported, hours):
    readings = imported.readings
    return replace(imported, readings=replace(readings, time_s=readings.time_s + 3600 * hours))


@pytest.mark.parametrize(("hours", "told"), [(2, "2:00 h earlier"), (-5.5, "5:30 h later")])
def test_a_wrong_time_zone_is_named_as_such(campaign, hours, told):
    """Nothing else is wrong with the file, and a user would look for pulses that are there."""
    with pytest.raises(FsgreenError, match=f"wrong time zone: {told}"):
        attach("small", in_zone(recorded(), hours), synchronised_s=0.1)
    for edges_s in patterns():
        campaign.note_pulses(edges_s)
    with pytest.raises(FsgreenError, match=f"wrong time zone: {told}") as caught:
        attach("small", in_zone(recorded(3.0), hours))
    assert "gmt_offset" in caught.value.next_step


def test_a_clock_that_ntp_keeps_needs_no_pulses_and_its_uncertainty_is_in_the_budget(campaign):
    meter, _ = attach("small", recorded(offset_s=0.4), synchronised_s=0.5)
    said = next(iter(meter.energy.values()))
    assert meter.clock.offset_error_s == 0.5
    assert said.budget.clock_j > 0
    assert abs(said.energy_j - (IDLE_W + WORK_W) * 10) <= said.budget.total_j
    exact, _ = attach("small", recorded(), synchronised_s=0.0)
    assert next(iter(exact.energy.values())).budget.clock_j == 0


def test_a_clock_that_is_said_to_be_kept_is_held_against_the_pulses(campaign):
    """A logger one hour off has power at the time of every trial: of another hour."""
    for edges_s in patterns():
        campaign.note_pulses(edges_s)
    hours = recorded()
    time_s = EPOCH_S + np.arange(-8000.0, 8000.0)
    power_w = np.interp(time_s, hours.readings.time_s, hours.readings.power_w)
    longer = replace(hours, readings=Readings(time_s, power_w))
    with pytest.raises(FsgreenError, match="wrong time zone: 1:00 h later"):
        attach("small", in_zone(longer, -1), synchronised_s=0.05)
    with pytest.raises(FsgreenError, match=r"\+12\.3.. s off.* and not 0\.5 s") as caught:
        attach("small", recorded(offset_s=12.3), synchronised_s=0.5)
    assert "leave --synchronised out" in caught.value.next_step
    meter, _ = attach("small", recorded(offset_s=0.4), synchronised_s=0.5)
    assert (meter.clock.offset_s, meter.clock.offset_error_s) == (0.0, 0.5)
    assert meter.clock.edges_count > 30


def test_a_clock_that_no_pulses_can_tell_is_taken_as_it_is_said(campaign):
    """The 5 V line of a disk does not feed the processors that make the pulses."""
    for edges_s in patterns():
        campaign.note_pulses(edges_s)
    flat = recorded()
    flat = replace(flat, readings=replace(flat.readings, power_w=flat.readings.power_w * 0 + 5.0))
    meter, _ = attach("small", flat, synchronised_s=0.5)
    assert meter.clock.edges_count == 0


def test_a_burst_in_a_long_row_of_means_is_in_the_energy_of_its_trial(campaign):
    """The trapezoid gave 3882 J of 4050 J, within 64 J, and no flaw."""
    meter_s = EPOCH_S - 260 + np.append(0.0, np.cumsum(np.tile([0.9, 1.1], 260)))
    energy_j = IDLE_W * (meter_s - EPOCH_S) + WORK_W * on_time_s(MEASURED, meter_s)
    energy_j += 1500 * on_time_s((EPOCH_S + 12.9, EPOCH_S + 14), meter_s)
    means = Readings(meter_s[1:], np.diff(energy_j) / np.diff(meter_s))
    meter, _ = attach("small", Imported(INFO, means, (), means=True), synchronised_s=0.0)
    said = next(iter(meter.energy.values()))
    assert said.energy_j == pytest.approx(10 * (IDLE_W + WORK_W) + 1.1 * 1500, rel=1e-6)
    assert (said.budget.edges_j, said.flaws) == (0, ())
    meter, _ = attach("small", Imported(INFO, means, (), means=True), synchronised_s=0.5)
    said = next(iter(meter.energy.values()))
    assert said.budget.clock_j == pytest.approx(0.5 * WORK_W, rel=1e-3)
