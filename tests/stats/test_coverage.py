"""The table of coverage: what is made from it, and that it is still true of the code."""

import math
import os

import numpy as np
import pytest

from bench import coverage as command
from bench.coverage_cases import CASES, rate
from bench.coverage_trials import DISTRIBUTIONS
from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.stats import coverage

TABLE = coverage.table()
REPETITIONS = 300
FEWEST = 16
DEAR = 2
"""The cost from which on a case is simulated from one distribution by day, and from all by night.

An estimator that changed shows in any of them.
"""


def drawn_from(case):
    """The distributions that a case is simulated from in this run."""
    by_day = case.cost >= DEAR and "FSGREEN_NIGHTLY" not in os.environ
    return case.distributions[:1] if by_day else case.distributions


def test_the_document_holds_the_whole_table():
    """docs/statistics.md is what the file says, and the file has every case."""
    text = (paths.root() / command.DOCUMENT).read_text()
    assert command.written(text, TABLE) == text
    cases = {
        (case.estimator, case.kind, name, n)
        for case in CASES
        for name in case.distributions
        for n in case.counts
    }
    assert (
        set(TABLE[["estimator", "kind", "distribution", "n"]].itertuples(index=False, name=None))
        == cases
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.estimator} ({case.kind})")
def test_the_table_is_true_of_the_code(case):
    """A part simulated again, with another seed: an estimator that changed must show."""
    repetitions = max(FEWEST, REPETITIONS // case.cost**2)
    n = min(case.counts)
    for distribution in drawn_from(case):
        row = TABLE[
            (TABLE["estimator"] == case.estimator)
            & (TABLE["kind"] == case.kind)
            & (TABLE["distribution"] == distribution)
            & (TABLE["n"] == n)
        ].iloc[0]
        found = rate(case, distribution, n, repetitions, seed=2)
        if math.isnan(row["rate_percent"]):
            assert math.isnan(found)
            continue
        # Agresti & Coull: two hits and two misses keep the error of rare events from zero.
        share = (row["rate_percent"] / 100 * repetitions + 2) / (repetitions + 4)
        error = 100 * math.sqrt(
            share * (1 - share) * (1 / repetitions + 1 / row["repetitions_count"])
        )
        assert abs(found - row["rate_percent"]) < 4.5 * error


def test_the_truths_of_the_simulation_are_true():
    """A wrong truth would blame the estimators: mean 1, median and mean logarithm as stated."""
    rng = np.random.default_rng(0)
    for trials in DISTRIBUTIONS.values():
        drawn = trials.draw(rng, 400_000)
        error = drawn.std() / math.sqrt(drawn.size)
        assert drawn.mean() == pytest.approx(1, abs=4.5 * error)
        assert (drawn < trials.median).mean() == pytest.approx(
            0.5, abs=4.5 * 0.5 / math.sqrt(drawn.size)
        )
        logs = np.log(drawn)
        assert logs.mean() == pytest.approx(
            trials.log_mean, abs=4.5 * logs.std() / math.sqrt(drawn.size)
        )


def test_simulations_repeat():
    """The same seed gives the same table."""
    case = CASES[0]
    assert rate(case, "normal", 5, 50, seed=3) == rate(case, "normal", 5, 50, seed=3)
    jobs = list(command.jobs(100, seed=1))
    assert len({job[-1] for job in jobs}) > len(jobs) - 5
    assert list(command.jobs(100, seed=1)) == jobs


def test_what_was_not_simulated_stays_as_it_was():
    """`--only` must neither lose rows nor change their order."""
    fresh = TABLE[TABLE["estimator"] == "dip"].assign(rate_percent=50.0)
    table = command.merged(fresh, TABLE)
    dip = table["estimator"] == "dip"
    assert set(table[dip]["rate_percent"]) == {50.0}
    assert table[~dip].equals(TABLE[~dip])
    assert {CASES[index].estimator for index, *_ in command.jobs(9, 1, only="dip")} == {"dip"}


def test_what_only_leaves_out_must_be_known():
    """An hour of simulation must not end in a missing row."""
    command.check("dip", TABLE)
    with pytest.raises(FsgreenError, match="no estimator has 'dib'"):
        command.check("dib", TABLE)
    with pytest.raises(FsgreenError, match=r"never simulated.*harmonic mean"):
        command.check("dip", TABLE[TABLE["estimator"] != "harmonic mean"])


@pytest.mark.parametrize(
    ("kind", "percent", "verdict"),
    [
        ("interval", 92.9, "short"),
        ("interval", 93.0, "holds"),
        ("interval", 97.1, "long"),
        ("test", 7.1, "liberal"),
        ("test", 5.0, "holds"),
        ("test", 1.0, "strict"),
        ("power", 20.0, ""),
        ("interval", math.nan, ""),
    ],
)
def test_the_bounds_of_what_holds(kind, percent, verdict):
    """93 to 97 % holds; what misleads has a word of its own."""
    assert coverage.verdict(kind, percent) == verdict


def test_a_rate_is_that_of_the_next_smaller_sample():
    """Between the simulated sizes the smaller one is the careful one; below them none is known."""
    at = {n: coverage.rate_percent("mean, Student t", "log-normal", n) for n in (4, 5, 7, 10)}
    assert math.isnan(at[4])
    assert at[5] == at[7] != at[10]


def test_a_document_without_marks_is_not_overwritten():
    """The text around the table is written by people."""
    with pytest.raises(FsgreenError, match="marks"):
        command.written("# Statistics\n", TABLE)


def test_the_command_explains_itself(monkeypatch, capsys):
    """`--help` has an example that can be typed."""
    monkeypatch.setattr("sys.argv", ["coverage", "--help"])
    with pytest.raises(SystemExit, match="0"):
        command.arguments()
    assert "python -m bench.coverage --quick" in capsys.readouterr().out
