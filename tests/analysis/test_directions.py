"""What virtual time decides: no interval there has the error of its model."""

import math
from dataclasses import replace

import pytest

from fsgreen.analysis.claims.directions import REAL_TIME, by_direction
from fsgreen.claims import ABOVE, SIZE_OPEN, Band, Part, by_construction, missing
from fsgreen.stats import Estimate

LARGE, SMALL, EQUAL = Band(1.35, 1.65, 1), Band(0.45, 0.55, -1), Band(0.95, 1.05, 0)


def part(low, high, target, **fields):
    ours = Estimate((low + high) / 2, low, high, 10)
    of = {"cells": ({"readers": 8},), "power": 1.0} | fields
    return Part.judged("something", ours, target, "1.5x", "measured", **of)


@pytest.mark.parametrize(
    ("low", "high", "target", "verdict"),
    [
        (1.01, 1.02, ABOVE, "reproduced"),
        (1.49, 1.51, LARGE, SIZE_OPEN),
        (2.99, 3.01, LARGE, SIZE_OPEN),
        (0.49, 0.51, SMALL, SIZE_OPEN),
        (0.2, 0.21, SMALL, SIZE_OPEN),
        (0.98, 1.01, LARGE, "inconclusive"),
        (0.98, 0.99, LARGE, "reversed"),
        (0.98, 0.99, ABOVE, "reversed"),
        (1.2, 1.3, SMALL, "reversed"),
        (0.99, 1.01, EQUAL, "not testable here"),
        (2.0, 2.1, EQUAL, "not testable here"),
        (1.0, 1.0, EQUAL, "not testable here"),
    ],
)
def test_a_direction_is_decided_and_a_size_is_left_to_real_time(low, high, target, verdict):
    """One clock said 0.8 MiB/s and the other 10; the second had an interval of a thousandth."""
    found = by_direction(part(low, high, target))
    assert found.verdict == verdict
    assert (found.ours.low, found.ours.high) == (low, high), "the number stays, to be looked at"
    undecided = verdict in (SIZE_OPEN, "not testable here")
    assert missing([found]) == (REAL_TIME if undecided else "")


def test_runs_of_a_model_are_no_sample():
    """Their power was 1, and their mean over campaigns had an interval, whatever the model's."""
    found = by_direction(part(1.01, 1.02, ABOVE))
    assert math.isnan(found.power) and math.isnan(found.ours.degrees)
    of_waits = by_direction(part(0.99, 1.01, EQUAL, cells=()))
    assert of_waits.verdict == "reproduced", "what has no cells has no clock to differ from"
    assert math.isnan(of_waits.ours.degrees)


def test_what_follows_from_rules_or_how_a_model_was_made_stays_as_it_was():
    rule = part(127, 127, Band(127, 127, 0), cells=())
    assert by_direction(rule) == rule
    made = by_direction(by_construction(part(0.99, 1.01, EQUAL)))
    assert made.verdict == made.basis == "by construction"
    missed = by_construction(part(2.0, 2.1, LARGE))
    assert missed.verdict == "direction only, size excluded"
    assert by_direction(missed).verdict == "by construction", "of its size nobody knows"


def test_what_was_not_judged_stays_so():
    elsewhere = replace(part(1.2, 1.3, ABOVE), verdict="not in the state of the claim", basis=None)
    assert by_direction(elsewhere) == elsewhere
    assert by_direction(part(math.nan, math.nan, ABOVE)).verdict == "inconclusive"
