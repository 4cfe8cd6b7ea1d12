"""One row per cell: which interval to read, what the trials look like, and drift."""

import math
from dataclasses import replace

import numpy as np
import pytest
import synthetic

from fsgreen import design, units
from fsgreen.analysis.cells import cells_table, ended_from, interval_to_read, rate_text, steady
from fsgreen.stats import Estimate, coverage

WEB = [design.Cell(workload="webserver", file_system="ext2")]


def row(trials):
    """The row of the only cell."""
    return cells_table(trials, synthetic.BOUNDS).iloc[0]


def with_rates(rates):
    """Trials of one cell with these throughputs, one in each block."""
    trials = synthetic.trials_frame(WEB, blocks=len(rates))
    rates = np.asarray(rates, dtype=float)
    return trials.assign(throughput_ops_s=rates, work_ops=(10 * rates).round().astype(int))


def test_mean_and_median_stand_side_by_side():
    """Rule 31: both centres with both intervals, in a table whose columns have units."""
    cells = cells_table(synthetic.trials_frame(WEB, blocks=8), synthetic.BOUNDS)
    units.check_columns(cells)
    cell = cells.iloc[0]
    for centre in ("mean", "median"):
        low, value, high = (
            cell[f"{centre}_throughput_{end}ops_s"] for end in ("low_", "", "high_")
        )
        assert low < value < high
    assert cell["harmonic_throughput_ops_s"] < cell["mean_throughput_ops_s"]


@pytest.mark.parametrize(
    ("normality_p", "mean", "median", "word"),
    [
        (0.5, True, True, "mean, t"),
        (math.nan, True, False, "mean, t"),
        (0.01, True, True, "median, ranks"),
        (0.01, True, False, "mean, t, starred"),
        (math.nan, False, False, "none"),
    ],
)
def test_the_table_says_which_interval_to_read(normality_p, mean, median, word):
    """A reader must not have to know what normality is for."""
    some, none = Estimate(2, 1, 3, 5), Estimate(2, math.nan, math.nan, 1)
    found = interval_to_read(normality_p, some if mean else none, some if median else none)
    assert found == word


def test_a_long_tail_is_flagged_with_what_the_interval_really_covers():
    """The number in the note is that of the simulated table, not a copy of it."""
    cell = row(with_rates([100, 101, 99, 100.5, 99.5, 102, 98, 100, 101, 400]))
    covered = coverage.rate_percent("ratio of totals", "log-normal", 10)
    assert cell["shape"] == "long-tailed"
    assert cell["interval_to_read"] == "median, ranks"
    assert f"covers about {covered:.0f} %" in cell["interval_note"]
    assert cell["studentised_high_ops_s"] > cell["throughput_high_ops_s"]


def test_an_interval_that_promises_too_much_is_starred():
    """Rule 31: in print a star is all that tells it from one that holds."""
    long = row(with_rates([100, 101, 99, 100.5, 99.5, 102, 98, 100, 101, 400]))
    few = row(with_rates([100, 100.1, 99.9, 100, 400]))
    sound = row(with_rates(np.random.default_rng(2).normal(100, 1, 30)))
    assert [cell["starred"] for cell in (long, few, sound)] == [True, True, False]
    assert rate_text(long).endswith("]*") and rate_text(sound).endswith("]")


def test_no_interval_of_a_rate_reaches_below_zero():
    """-3,000 operations in a second would be nonsense in print."""
    cell = row(with_rates([100, 1, 900, 2, 3]))
    assert cell["throughput_low_ops_s"] < 0
    assert "[0, " in rate_text(cell)


def test_a_cell_without_a_steady_state_is_a_range():
    """Rule 24: not a mean, in print either."""
    cell = row(with_rates([100, 101, 99, 100.5, 99.5]).assign(steady="no steady state"))
    assert rate_text(cell) == "no steady state: 99 to 101"
    assert not steady(cell.to_frame().T).any()


def test_work_per_energy_takes_steady_power_too():
    """What is inconsistent in effects.csv must not have a mean in table 3."""
    cells = cells_table(
        synthetic.trials_frame(WEB).assign(steady_power="no steady state"), synthetic.BOUNDS
    )
    assert steady(cells).all() and not steady(cells, "efficiency").any()


def test_a_cell_that_ended_by_its_interval_is_judged_as_such():
    """Rule 27: stopping when it is narrow favours trials that happen to scatter little.

    The simulation counts from the fewest trials on, not by those that a cell came to have.
    """
    rates = [100, 101, 99, 100.5, 99.5, 102, 98, 100, 101, 400]
    cell = cells_table(with_rates(rates), synthetic.BOUNDS, least_n=5).iloc[0]
    covered = coverage.rate_percent("ratio of totals, sequential stop", "log-normal", 5)
    assert f"{covered:.0f}" != f"{coverage.rate_percent('ratio of totals', 'log-normal', 10):.0f}"
    assert f"covers about {covered:.0f} %" in cell["interval_note"]


@pytest.mark.parametrize(("measured", "least_n"), [(5, None), (6, 5)])
def test_cells_that_all_stopped_at_the_minimum_ended_by_no_interval(measured, least_n):
    """A campaign broken off after its least blocks has a fixed number of trials."""
    plan = synthetic.make_plan(WEB, blocks=5)
    plan = replace(plan, profile=replace(plan.profile, most_blocks=10))
    assert ended_from(plan, synthetic.trials_frame(WEB, blocks=measured)) == least_n
    assert ended_from(synthetic.make_plan(WEB), synthetic.trials_frame(WEB)) is None


def test_two_modes_are_flagged():
    """Rule 33: half of the trials at a third of the speed are no mean."""
    rng = np.random.default_rng(1)
    cell = row(with_rates(rng.permutation([*rng.normal(100, 1, 10), *rng.normal(300, 1, 10)])))
    assert cell["shape"] == "bimodal"
    assert cell["dip_p"] < 0.01


def test_sound_trials_carry_no_note():
    """Notes on every cell would be read on none."""
    rng = np.random.default_rng(3)
    cell = row(with_rates(rng.normal(100, 1, 30)))
    assert (cell["shape"], cell["interval_note"]) == ("unremarkable", "")


def test_five_trials_say_that_they_cannot_tell():
    """At n = 5 a missing flag must not read as a clean bill."""
    cell = row(with_rates([100, 101, 99, 102, 98]))
    assert cell["shape"] == "too few to tell"
    assert cell["interval_note"].startswith("5 trials cannot show a long tail")


@pytest.mark.parametrize("count", [2, 4])
def test_fewer_trials_than_were_simulated_are_not_passed_over(count):
    """Fewer trials must not read as less to worry about."""
    cell = row(with_rates([100, 101, 99, 102][:count]))
    assert cell["interval_note"].startswith(f"{count} trials are fewer than any")


def test_drift_is_sought_over_the_run_order():
    """Rule 25: two trials a block, the later one always slower than any before."""
    trials = synthetic.trials_frame(WEB * 2, blocks=5)
    rates = np.linspace(100, 91, 10)
    trials = trials.assign(throughput_ops_s=rates)
    cell = row(trials.sample(frac=1, random_state=1))
    assert cell["trend_tau_x"] == pytest.approx(-1)
    assert cell["trend_p"] == pytest.approx(2 / math.factorial(10))
    assert cell["trend_percent"] == pytest.approx(-100 * 9 / 95.5)


def test_power_has_a_state_of_its_own():
    """Rule 23: steady throughput at rising power is seen where power was classified."""
    trials = synthetic.trials_frame(WEB).assign(steady_power="no steady state")
    cell = row(trials)
    assert (cell["state"], cell["power_state"]) == ("flat", "inconsistent")


def test_a_cell_that_did_nothing_has_no_logarithm():
    """Zero operations are a result, not a crash."""
    cell = row(with_rates([0.0, 0, 0, 0, 0]))
    assert cell["throughput_ops_s"] == 0
    assert math.isnan(cell["studentised_low_ops_s"])
