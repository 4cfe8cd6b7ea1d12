"""The energy of a run by EnergiBridge's counter: all of it, whatever rows were late or lost."""

import pytest
from damaged_files import fuzzed, read, told
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.errors import FsgreenError
from fsgreen.runs.energibridge import FORMAT

START_MS = 1_697_704_464_320
STEP_MS = 200
UNIT_J = 2.0**-14
WRAP_J = 2.0**18
STEPS_J = [(20 + 7 * (nth % 4)) * STEP_MS / 1000 // UNIT_J * UNIT_J + UNIT_J for nth in range(25)]
"""What each interval uses: 20 to 41 W."""


def rows(start_j=100_000.0):
    """A run of 5 s: the first row is taken twice, then one a step."""
    counted, times = [start_j], [START_MS + 1]
    for step_j in STEPS_J:
        counted.append((counted[-1] + step_j) % WRAP_J)
        times.append(times[-1] + STEP_MS)
    waits = [*[STEP_MS] * len(STEPS_J), 0]
    return [(0, START_MS, start_j), *zip(waits, times, counted, strict=True)]


def csv(table, column="PACKAGE_ENERGY (J)"):
    lines = [f"{wait},{time_ms},{value}" for wait, time_ms, value in table]
    return "\n".join([f"Delta,Time,{column}", *lines, ""]).encode()


def late(table, place, by_ms):
    """All rows from `place` on are taken later, which the row before says."""
    wait, time_ms, value = table[place - 1]
    return [
        *table[: place - 1],
        (wait + by_ms, time_ms, value),
        *((wait, time_ms + by_ms, value) for wait, time_ms, value in table[place:]),
    ]


def refused(data):
    with pytest.raises(FsgreenError) as caught:
        read(FORMAT, data)
    assert caught.value.next_step
    return str(caught.value)


@pytest.mark.parametrize("start_j", [100_000.0, WRAP_J - 50])
def test_a_run_has_all_that_its_counter_counted(start_j):
    """Its first interval too, which gives a trace no power: 4 % of 5 s; also over a wrap."""
    (run,) = read(FORMAT, csv(rows(start_j)))
    assert run.values["energy_j"] == pytest.approx(sum(STEPS_J), rel=1e-9)
    assert run.values["duration_s"] == pytest.approx(5)


def test_a_late_sample_does_not_lose_the_run():
    """Usual under load; what a counter counted does not depend on when it was asked."""
    data = csv(late(rows(), 9, by_ms=170))
    (run,) = read(FORMAT, data)
    assert run.values["energy_j"] == pytest.approx(sum(STEPS_J), rel=1e-9)
    assert run.values["duration_s"] == pytest.approx(5.17)
    sentences = told(FORMAT, data)
    assert "1 of 26 readings are marked lost" in sentences
    assert "does not change the energy" in sentences
    assert "does not change" not in told(FORMAT, csv(rows()))


@given(st.sets(st.integers(2, len(STEPS_J)), max_size=6), st.sampled_from([5.0, WRAP_J - 50]))
@fuzzed
def test_rows_that_are_missing_never_change_the_energy(places, start_j):
    """Or the file is refused, where too many are."""
    table = rows(start_j)
    data = csv([row for nth, row in enumerate(table) if nth not in places])
    try:
        (run,) = read(FORMAT, data)
    except FsgreenError as error:
        assert error.next_step
        return
    assert run.values["energy_j"] == pytest.approx(sum(STEPS_J), rel=1e-9)
    assert run.values["duration_s"] == pytest.approx(5)


def test_a_gap_in_which_the_counter_may_have_wrapped_is_refused():
    """At 1000 W it starts again after 262 s: a rise may be that and 262144 J more."""
    assert "started again unseen" in refused(csv(late(rows(), 9, by_ms=300_000)))
    assert read(FORMAT, csv(late(rows(), 9, by_ms=200_000)))


def test_a_late_sample_of_power_is_refused():
    """What was used in between is not known."""
    powers = [(wait, time_ms, 20.5) for wait, time_ms, _ in late(rows(), 9, by_ms=170)]
    assert "marked lost" in refused(csv(powers, "CPU_POWER (Watts)"))


@pytest.mark.parametrize("place", [1, 9, -1])
@pytest.mark.parametrize("value", ["NaN", "1e5", ""])
def test_a_counter_that_cannot_be_read_is_refused(place, value):
    """Where it began or ended most of all."""
    table = rows()
    table[place] = (*table[place][:2], value)
    assert "readings are marked" in refused(csv(table))


def test_a_counter_that_went_back_is_refused():
    table = [(*row[:2], row[2] - 50_000 * (nth > 9)) for nth, row in enumerate(rows())]
    assert "marked reset" in refused(csv(table))
