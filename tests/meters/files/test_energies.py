"""The energy of rows that are energies or means of intervals is their sum."""

import math
from dataclasses import replace

import pytest
from test_declared_table import read

from fsgreen.cli import main
from fsgreen.meters.files.energies import energy_of, moment, span_of

JOULES = [10.0, 30.0, 10.0, 30.0, 10.0]
LOG = "".join(f"{n + 1}.0,{joules},Joules,power/energy-pkg/\n" for n, joules in enumerate(JOULES))


def part(begin, end, **options):
    imported = read(LOG, "perf-stat-x", **options)
    return energy_of(imported, span_of(imported, moment(begin, imported), moment(end, imported)))


def test_the_energy_of_intervals_is_their_sum(tmp_path, capsys):
    """The trapezoid over their means gave 85 J of 90 J, within 31 J."""
    said = energy_of(read(LOG, "perf-stat-x"))
    assert said.energy_j == pytest.approx(90.0, rel=1e-12)
    assert said.budget.gain_j == pytest.approx(0.05 * 90)
    assert said.budget.edges_j == 0
    file = tmp_path / "perf.csv"
    file.write_text(LOG)
    asked = ["import", str(file), "--driver", "perf-stat-x", "--set", "gain_error=0.05"]
    assert main(asked) == 0
    shown = capsys.readouterr().out
    assert "energy 90 J" in shown and "the energy is the sum of the rows" in shown
    assert "own counter" not in shown, "it is no second opinion"


@pytest.mark.parametrize(
    ("begin", "end", "energy_j", "edges_j"),
    [
        ("1", "3", 40.0, 0.0),
        ("1.5", "3", 25.0, 15.0),
        ("1.5", "3.25", 32.5, 15.0 + 22.5),
        ("1.25", "1.75", 15.0, 15.0),
        ("1.0000000001", "3", 40.0, 0.0),
    ],
)
def test_an_interval_that_an_edge_cuts_counts_in_proportion_and_may_lie_on_either_side(
    begin, end, energy_j, edges_j
):
    said = part(begin, end)
    assert said.energy_j == pytest.approx(energy_j, rel=1e-6)
    assert said.budget.edges_j == pytest.approx(edges_j, abs=1e-6)


def test_what_the_source_can_give_at_most_bounds_what_an_edge_may_hide():
    """At 40 W a quarter of a second holds 10 J at most; three quarters, at least 20 J of 30 J."""
    said = part("1.75", "3", range_w=40.0)
    assert said.energy_j == pytest.approx(7.5 + 10)
    assert said.budget.edges_j == pytest.approx(7.5)
    said = part("1.25", "3", range_w=40.0)
    assert said.budget.edges_j == pytest.approx(7.5)


def test_of_a_meter_of_no_known_range_all_of_a_cut_interval_may_lie_on_either_side():
    said = part("1.75", "3")
    imported = read(LOG, "perf-stat-x")
    unknown = replace(imported, info=replace(imported.info, range_w=math.nan))
    span = span_of(unknown, moment("1.75", unknown), moment("3", unknown))
    assert energy_of(unknown, span).budget.edges_j == said.budget.edges_j == pytest.approx(22.5)


def test_an_interval_without_a_value_leaves_no_sum_of_the_others():
    text = LOG.replace("3.0,10.0", "3.0,<not counted>")
    assert math.isnan(energy_of(read(text, "perf-stat-x")).energy_j)


def test_means_of_intervals_are_added_where_they_are_declared_as_such():
    rows = "".join(f"{n},{power}\n" for n, power in enumerate([0.5, 10.5, 30.5, 10.5]))
    options = {"time": "t", "time_unit": "s", "power": "p in W", "boundary": "cpu"}
    assert energy_of(read("t,p\n" + rows, **options)).energy_j == pytest.approx(46.5)
    assert energy_of(read("t,p\n" + rows, **options, means=True)).energy_j == pytest.approx(51.5)


def test_turbostat_may_have_written_joules():
    rows = "".join(f"{1_700_000_000 + n}\t{joules}\n" for n, joules in enumerate(JOULES))
    joules = {"power": [], "energy_each": "Pkg_J in J"}
    imported = read("Time_Of_Day_Seconds\tPkg_J\n" + rows, "turbostat", **joules)
    assert energy_of(imported).energy_j == pytest.approx(sum(JOULES[1:]))
