"""Generated weeks and the policy of GreenFS: rates, spin-ups, and the tables that ship."""

import os
import shutil

import numpy as np
import pytest

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.papers.greenfs08 import virtual
from fsgreen.papers.greenfs08.claims import LIMIT, Days, storage_ratio
from fsgreen.papers.greenfs08.days import (
    DAY_S,
    DAYS,
    Week,
    Woken,
    hostile,
    lacking,
    most_in_a_day,
    trip,
    week,
    woken,
)
from fsgreen.papers.greenfs08.reference import PAPER, Printed
from fsgreen.papers.simulators import simulator

by_night = pytest.mark.skipif(
    "FSGREEN_NIGHTLY" not in os.environ,
    reason="lives through ten weeks, for half a minute: FSGREEN_NIGHTLY=1 ./run test",
)

PRINTED = Printed.load()


def test_generated_weeks_have_the_published_rates():
    row = PRINTED.traces.loc["JEFF"]
    rate = row["operations"] / (row["duration_h"] * 3600)
    made = week(rate, row["update_ops_percent"] / 100, row["working_set_mb"] * 1e6, 1)
    assert made.work_ops / (DAYS * DAY_S) == pytest.approx(rate, rel=0.01)
    assert made.updates_count / made.work_ops == pytest.approx(0.056, rel=0.02)
    assert made.sizes_b.sum() == pytest.approx(649e6, rel=0.001)
    again = week(rate, row["update_ops_percent"] / 100, row["working_set_mb"] * 1e6, 1)
    assert all(
        at_s == other_s and np.array_equal(files, others)
        for (at_s, files), (other_s, others) in zip(made.changed, again.changed, strict=True)
    )


def test_what_a_disk_lacks_falls_to_nothing_when_it_is_woken():
    """A file that changes twice would count twice, or the figure would hide what is at stake."""
    changed = ((900, np.array([0])), (1800, np.array([0, 1])), (2700, np.array([1])))
    of = Week(4, 4, changed, sizes_b=np.array([1_000_000, 2_000_000]))
    at_days, lacking_mb = lacking(of, [Woken(2000, "quiet", 3_000_000)])
    assert lacking_mb == [0, 1, 3, 3, 0, 2]
    assert np.array(at_days) * DAY_S == pytest.approx([0, 900, 1800, 2000, 2000, 2700])


def test_spin_ups_are_counted_in_any_24_hours():
    spins = [Woken(at_s, "quiet", 1) for at_s in (0, DAY_S - 1, DAY_S, 3 * DAY_S)]
    assert most_in_a_day(spins) == 2
    assert most_in_a_day([]) == 0


@pytest.fixture
def policy():
    """The program `greenfs`, of an engine that knows days."""
    if paths.program("greenfs") is None:
        pytest.skip("needs the engine (./run engine)")
    try:
        woken([])
    except FsgreenError as error:
        pytest.skip(f"{error.what}; {error.next_step}")


@pytest.mark.usefixtures("policy")
def test_the_policy_of_greenfs_keeps_its_budget_on_hostile_days():
    """Our own count of what the program says, on the first runs of the shipped days."""
    first = [event for event in hostile(1) if int(event.run[1:]) < 20]
    found = woken(first)
    assert len(found) == 20
    assert 1 < max(map(most_in_a_day, found.values())) <= LIMIT


@pytest.mark.usefixtures("policy")
def test_the_disk_sleeps_on_the_ways_of_table_5():
    for name, row in PRINTED.trips.iterrows():
        events = trip(name, row["trip_time_s"], row["network_available_percent"])
        assert woken(events) == {name: []}


def test_the_shipped_transfers_are_as_near_to_equation_1_as_the_documents_say():
    """Within 1 % at every size, which is what energy per client rests on."""
    rows = virtual.read().transfers
    off = (rows["energy_j"] / rows["equation_j"] - 1).abs()
    assert off.groupby(rows["disk"]).max().round(3).to_dict() == {
        "greenfs08-desktop": 0.004,
        "greenfs08-notebook": 0.008,
        "greenfs08-server": 0.001,
    }


def test_the_shipped_days_spare_what_the_documents_say():
    """One spin-up a day, never more than four, and three fifths of the storage's energy."""
    days = virtual.read()
    assert (days.weeks["spin_ups_count"] == DAYS).all()
    assert (days.weeks["most_in_a_day_count"] == 1).all()
    assert days.budget["days_count"].sum() == 10_000
    assert days.budget["most_in_a_day_count"].max() == LIMIT
    jeff = Days(days, PRINTED, {}).of("JEFF")
    assert storage_ratio(jeff).max() < 0.4


@by_night
@pytest.mark.usefixtures("policy")
def test_the_shipped_tables_are_what_their_command_makes(tmp_path, monkeypatch):
    """Typed by hand, or of an older policy, they would be no result."""
    shipped = paths.virtual(PAPER)
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    made = virtual.simulate(PAPER, "quick")
    for table in virtual.TABLES:
        name = f"{table}.csv"
        assert (made / name).read_bytes() == (shipped / name).read_bytes(), name


def test_tables_that_were_altered_are_refused(tmp_path, monkeypatch):
    """A number changed by hand would become a verdict."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    assert virtual.read() is not None, "those of the package"
    shutil.copytree(paths.virtual(PAPER), paths.own_virtual(PAPER))
    assert virtual.read() is not None
    file = paths.virtual(PAPER) / "budget.csv"
    file.write_text(file.read_text().replace("1000", "1001"))
    with pytest.raises(FsgreenError, match="not whole"):
        virtual.read()


def test_days_belong_to_no_campaign():
    with pytest.raises(FsgreenError, match="belongs to no campaign"):
        simulator(PAPER).simulate(PAPER, "quick", "mine")
