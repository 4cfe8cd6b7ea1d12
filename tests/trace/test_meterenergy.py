"""The energy of a trial by each of its meters: computed once, kept as JSON, checked again."""

import math
from dataclasses import replace

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError
from traces import INFO, sampled, whole_budget, whole_energy_j

from fsgreen import trace
from fsgreen.errors import FsgreenError
from fsgreen.meters.core.powertable import write_power
from fsgreen.meters.core.readings import Readings
from fsgreen.trace import ClockFit, MeterEnergy, MeterTrace, meter_energies, sum_energies
from fsgreen.trace.meterenergy import meter_energy

RECORDED = TypeAdapter(MeterEnergy)
WALL = replace(INFO, boundary="wall", covers=("server",))
RAIL = replace(INFO, boundary="dc-rail", covers=("drive",), rate_hz=100.0, resolution_w=0.001)
MEASURE = (120.4, 180.9)
IDLES = [(102.0, 118.0), (183.0, 200.0)]


def walls():
    """A server that works in the middle, a reading a second."""
    return sampled(
        lambda t: np.where((t > 120) & (t <= 181), 250.0, 200.0), np.arange(100.0, 202.0)
    )


def rails():
    """A drive's rail, a hundred readings a second, which draws the same all the time."""
    return sampled(lambda t: 0 * t + 3.0, np.arange(100.0, 201.0, 0.01)).assign(energy_wh=np.nan)


def readings_of(table):
    columns = {name: table[name].to_numpy() for name in ("time_s", "power_w", "energy_wh")}
    return Readings(**columns)


@pytest.fixture
def file(tmp_path):
    meters = {"wall": [readings_of(walls())], "rail": [readings_of(rails())]}
    write_power(tmp_path / "power.parquet", meters)
    return tmp_path / "power.parquet"


@pytest.fixture
def energies(file):
    return meter_energies(file, {"wall": WALL, "rail": RAIL}, [MEASURE], IDLES)


def test_wall_and_rail_of_one_trial_have_each_its_energy(energies):
    """A study of drives wants both, and neither may be lost in a sum."""
    wall, rail = energies["wall"], energies["rail"]
    assert (wall.boundary, rail.boundary) == ("wall", "dc-rail")
    assert wall.energy_j == pytest.approx(whole_energy_j(walls(), *MEASURE), rel=1e-12)
    assert vars(wall.budget) == pytest.approx(vars(whole_budget(walls(), *MEASURE, WALL)))
    assert rail.energy_j == pytest.approx(3.0 * 60.5)
    assert rail.power_w == pytest.approx(3.0)
    assert (wall.flaws, rail.flaws) == ((), ())


def test_idle_power_is_that_of_the_phases_as_far_as_the_trace_reaches(energies):
    wall, rail = energies["wall"], energies["rail"]
    assert wall.idle_power_before_w == wall.idle_power_after_w == pytest.approx(200.0)
    assert wall.energy_above_idle_j == pytest.approx(wall.energy_j - 200.0 * 60.5)
    assert rail.idle_power_w == pytest.approx(3.0)
    assert rail.energy_above_idle_j == pytest.approx(0.0, abs=1e-6)


def test_phases_that_were_not_there_have_no_idle_power(file):
    wall = meter_energies(file, {"wall": WALL}, [MEASURE], IDLES[:1])["wall"]
    assert wall.idle_power_before_w == pytest.approx(200.0)
    assert math.isnan(wall.idle_power_after_w)


def test_record_keeps_every_number_to_the_bit(energies):
    for energy in energies.values():
        kept = RECORDED.dump_json(energy)
        assert RECORDED.dump_json(RECORDED.validate_json(kept, strict=True)) == kept
        assert RECORDED.validate_json(kept).energy_j == energy.energy_j


@pytest.mark.parametrize(
    "spoil",
    [
        lambda kept: kept.pop("energy_j"),
        lambda kept: kept.update(boundary="roof"),
        lambda kept: kept.update(energy_j="many"),
        lambda kept: kept["budget"].pop("gain_j"),
        lambda kept: kept.update(budget=None),
        lambda kept: kept.update(flaws=[{"rule": 13}]),
    ],
)
def test_record_that_is_none_is_refused(energies, spoil):
    kept = RECORDED.dump_python(energies["wall"], mode="json")
    spoil(kept)
    with pytest.raises(ValidationError):
        RECORDED.validate_python(kept)


def test_trace_without_an_energy_says_why_and_has_no_number(tmp_path):
    """Half a phase must never be taken for a whole one."""
    half = walls()[lambda table: table["time_s"] < 150]
    write_power(tmp_path / "power.parquet", {"wall": [readings_of(half)]})
    wall = meter_energies(tmp_path / "power.parquet", {"wall": WALL}, [MEASURE], IDLES)["wall"]
    assert math.isnan(wall.energy_j) and math.isnan(wall.budget.total_j)
    assert math.isnan(wall.idle_power_after_w)
    assert 13 in {flaw.rule for flaw in wall.flaws}
    kept = RECORDED.dump_json(wall)
    assert math.isnan(RECORDED.validate_json(kept, strict=True).energy_j)
    silent = meter_energies(tmp_path / "power.parquet", {"other": WALL}, [MEASURE])["other"]
    assert math.isnan(silent.energy_j) and silent.flaws


def test_windows_add_up_and_what_is_between_them_is_no_part_of_them(file):
    """A server that idles between the windows of a trial would be charged to it."""
    windows = [(125.0, 135.0), (150.0, 165.0), (190.0, 195.0)]
    alone = [meter_energies(file, {"wall": WALL}, [window], IDLES)["wall"] for window in windows]
    whole = meter_energies(file, {"wall": WALL}, windows, IDLES)["wall"]
    assert whole.duration_s == 30.0
    assert whole.energy_j == sum(one.energy_j for one in alone)
    assert whole.energy_j == pytest.approx(25 * 250.0 + 5 * 200.0)
    assert whole.counter_energy_j == sum(one.counter_energy_j for one in alone)
    assert whole.idle_power_w == alone[0].idle_power_w
    for term, limit_j in vars(whole.budget).items():
        assert limit_j == pytest.approx(sum(getattr(one.budget, term) for one in alone))


def test_one_window_that_the_trace_does_not_cover_leaves_no_energy_of_all(tmp_path):
    """The others would pass for the whole trial."""
    half = walls()[lambda table: table["time_s"] < 150]
    write_power(tmp_path / "power.parquet", {"wall": [readings_of(half)]})
    windows = [(125.0, 135.0), (155.0, 165.0)]
    wall = meter_energies(tmp_path / "power.parquet", {"wall": WALL}, windows)["wall"]
    assert math.isnan(wall.energy_j) and math.isnan(wall.budget.total_j)
    assert wall.flaws


def test_meter_that_was_attached_later_gives_the_same_row_with_its_clock():
    fit = ClockFit(100.0, 3.0, 20.0, 0.01, 0.4, 5.0, 0.99, 8)
    spans = [MEASURE, *IDLES]
    attached = MeterTrace.of(walls(), WALL, spans, clock=fit)
    wall = meter_energy("hobo", WALL, attached, [MEASURE], len(IDLES))
    budget = whole_budget(walls(), *MEASURE, WALL, fit)
    assert vars(wall.budget) == pytest.approx(vars(budget), rel=1e-9)
    assert wall.budget.clock_j > 0
    assert wall.idle_power_before_w == pytest.approx(200.0)


def test_only_energies_of_one_boundary_and_of_parts_that_differ_are_added(energies):
    wall = energies["wall"]
    other = replace(wall, meter="disk", covers=("disk",), flaws=(trace.Flaw(13, "gap", "2 s"),))
    both = sum_energies([wall, other])
    assert both.meter == "wall+disk"
    assert both.covers == ("server", "disk")
    assert both.energy_j == 2 * wall.energy_j
    assert both.idle_power_w == 2 * wall.idle_power_w
    assert both.budget.gain_j == 2 * wall.budget.gain_j
    assert [flaw.detail for flaw in both.flaws] == ["disk: 2 s"]
    with pytest.raises(FsgreenError, match="different boundaries"):
        sum_energies([wall, energies["rail"]])
    with pytest.raises(FsgreenError, match="cover the same part"):
        sum_energies([wall, wall])
    with pytest.raises(FsgreenError, match="no meter"):
        sum_energies([])
