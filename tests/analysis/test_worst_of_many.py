"""A claim on all of several is refused by one only if it would be whichever was looked at."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fsgreen.analysis.claims.checks import worst
from fsgreen.analysis.claims.together import parts_together
from fsgreen.claims import ABOVE, REFUSED, Band, Part
from fsgreen.stats import Estimate
from tests.parts_of_claims import part_of_a_campaign

MANY = 20


def part(name, value, half, n=5, target=ABOVE):
    ours = Estimate(value, value * math.exp(-half), value * math.exp(half), n)
    return Part.judged(name, ours, target, "above", "measured")


def test_one_of_many_that_is_below_by_chance_refuses_nothing():
    """Each of twenty has one chance in forty of it: two claims in five were refused by luck."""
    others = [part(f"{nth}", 1.2, 0.05) for nth in range(MANY - 1)]
    unlucky = part("unlucky", 0.97, 0.02)
    assert unlucky.verdict == "reversed"
    found = worst([*others, unlucky])
    assert (found.what, found.verdict) == ("unlucky", "inconclusive")
    assert found.ours == unlucky.ours, "its own interval is what other campaigns are pooled with"
    assert worst([unlucky]).verdict == "reversed", "of one, nothing was chosen"


def test_what_is_below_beyond_doubt_refuses_though_another_lies_farther_off():
    """The widest of those below once stood for all: corrected alone, it would hide the others."""
    wide, sure = part("wide", 0.5, 0.6), part("sure", 0.9, 0.01)
    assert {one.verdict for one in (wide, sure)} == {"reversed"}
    found = worst([part("fine", 1.2, 0.05), wide, sure])
    assert (found.what, found.verdict) == ("sure", "reversed")


def test_that_all_hold_takes_no_correction():
    """The claim is no better than its worst part, however many there are."""
    barely = part("barely", 1.03, 0.02)
    assert worst([barely] * MANY).verdict == "reproduced"


@pytest.mark.parametrize(("far_x", "expected"), [(0.94, "far"), (1.0, "near")])
def test_of_undecided_cells_the_farthest_off_is_shown_with_the_least_power(far_x, expected):
    """f2fs at 1.03 of ext4 stood for all, and XFS at 0.94 was hidden: its interval was wider.

    That all hold was as improbable as of the wide one, and the claim had the power of the other.
    """
    equal = Band(0.95, 1 / 0.95, 0)
    near = replace(part("near", 1.03, 0.027, target=equal), power=0.9)
    wide = replace(part("far", far_x, 0.1, target=equal), power=0.01, verdict="underpowered")
    assert near.verdict == "inconclusive"
    found = worst([near, wide])
    assert (found.what, found.verdict, found.power) == (expected, "underpowered", 0.01)


@pytest.mark.parametrize("n", [1, 5])
def test_a_number_without_scatter_needs_no_correction(n):
    exact = Part.judged("exact", Estimate(2, 2, 2, n), Band(0, 1, 0), "1", "measured")
    assert worst([exact] * MANY).verdict == "not reproduced"


def test_of_equal_cells_one_in_twenty_claims_is_refused_at_most():
    """By simulation: of twenty equal pairs the worst refused two claims in five."""
    random, refused, claims = np.random.default_rng(1), 0, 200
    for _ in range(claims):
        logs = random.normal(0, 0.05, (MANY, 5))
        means, half = logs.mean(1), 2.776 * logs.std(1, ddof=1) / math.sqrt(5)
        of_claim = [
            part("", math.exp(mean), width) for mean, width in zip(means, half, strict=True)
        ]
        refused += worst(of_claim).verdict == "reversed"
    assert refused <= 0.08 * claims


def test_of_many_campaigns_that_find_another_worst_cell_one_refuses_by_chance():
    """By simulation: one of seven refused more right claims than one in ten, and decided them."""
    random, claims, campaigns = np.random.default_rng(1), 300, 7
    told = {
        f"{name}": pd.DataFrame(
            [_worst_of_equal(random, slug=f"{nth}", campaign=f"{name}") for nth in range(claims)]
        )
        for name in range(campaigns)
    }
    refused = sum(table["verdict"].isin(REFUSED) for table in told.values())
    assert (refused > 0).sum() > 0.1 * claims
    assert parts_together(told)["verdict"].isin(REFUSED).sum() <= 0.05 * claims


@pytest.mark.parametrize(
    ("refusing", "others", "expected"),
    [(1, 1, "reversed"), (1, 2, "inconclusive"), (2, 2, "reversed"), (3, 0, "reversed")],
)
def test_as_many_campaigns_must_refuse_as_chance_does_not_give(refusing, others, expected):
    """One in twenty of two right campaigns refuses, of three one in fourteen."""
    told = ["reversed"] * refusing + ["underpowered"] * others
    tables = {
        f"{nth}": pd.DataFrame(
            [part_of_a_campaign(verdict=verdict, detail=f"{nth}", campaign=f"{nth}")]
        )
        for nth, verdict in enumerate(told)
    }
    assert list(parts_together(tables)["verdict"]) == [expected]


def _worst_of_equal(random, among=4, **fields):
    """What a campaign says of a claim on cells that all lie at the end of what it allows."""
    logs = random.normal(0, 0.05, (among, 5))
    half = 2.776 * logs.std(1, ddof=1) / math.sqrt(5)
    means = zip(logs.mean(1), half, strict=True)
    found = worst([part(f"{nth}", math.exp(log), width) for nth, (log, width) in enumerate(means)])
    told = {
        "detail": found.what,
        "verdict": found.verdict,
        "band_low_x": found.band.low,
        "band_high_x": found.band.high,
        "ours_x": found.ours.value,
        "ours_low_x": found.ours.low,
        "ours_high_x": found.ours.high,
        "degrees_count": 4,
    }
    return part_of_a_campaign(**told | fields)
