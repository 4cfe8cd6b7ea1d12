"""A claim is refused by a part only if it would be whichever of its parts was looked at."""

import math

import numpy as np
import pandas as pd
import pytest

from fsgreen.analysis.claims import refusals
from fsgreen.analysis.claims.checks import share_above, worst
from fsgreen.analysis.claims.together import parts_together
from fsgreen.claims import ABOVE, REFUSED, Band, Part, combine
from fsgreen.stats import Estimate
from tests.parts_of_claims import part_of_a_campaign

MANY = 20
TENTH = Band(math.exp(-0.1), math.exp(0.1), 0)
"""A claim of no more than 10 % on either side."""


def part(log, half, target=ABOVE, **fields):
    ours = Estimate(math.exp(log), math.exp(log - half), math.exp(log + half), 5)
    return Part.judged("", ours, target, "", "measured", **fields)


def verdict(parts):
    return combine(refusals.of_claim(parts))[0]


def test_a_right_claim_of_twenty_parts_is_refused_in_one_of_twenty_campaigns_at_most():
    """By simulation: each part at 5 % by itself refused two right claims in five and more."""
    random, claims = np.random.default_rng(1), 400
    alone = together = 0
    for _ in range(claims):
        # The truth lies at the end of the band, where a refusal by chance is most likely.
        logs = 0.1 + random.normal(0, 0.05, (MANY, 5))
        means, half = logs.mean(1), 2.776 * logs.std(1, ddof=1) / math.sqrt(5)
        parts = [part(log, width, TENTH) for log, width in zip(means, half, strict=True)]
        alone += combine(parts)[0] in REFUSED
        together += verdict(parts) in REFUSED
    assert alone > 0.3 * claims
    assert together <= 0.05 * claims


def test_a_part_that_is_off_by_chance_decides_nothing_and_keeps_its_interval():
    fine, unlucky = part(0.2, 0.05), part(-0.03, 0.02)
    assert unlucky.verdict == "reversed"
    assert verdict([unlucky]) == "reversed", "of one, nothing was chosen"
    *_, found = refusals.of_claim([fine] * (MANY - 1) + [unlucky])
    assert found.verdict == "inconclusive"
    assert found.ours == unlucky.ours
    weak = part(-0.03, 0.02, power=0.1)
    assert refusals.of_claim([fine] * (MANY - 1) + [weak])[-1].verdict == "underpowered"


def test_what_is_off_beyond_doubt_refuses_and_leaves_the_others_fewer_to_be_one_of():
    """Holm: the second is one of one. It is 3 errors off: 2.8 do for one, 3.5 for two."""
    sure, next_one = part(-0.5, 0.02), part(-0.03, 0.0278)
    assert refusals.of_claim([next_one, next_one])[0].verdict == "inconclusive"
    assert [one.verdict for one in refusals.of_claim([next_one, sure])] == ["reversed"] * 2


def test_that_all_parts_hold_takes_no_correction():
    """The claim is no better than its worst part: more parts do not make it easier to confirm."""
    assert verdict([part(0.03, 0.02)] * MANY) == "reproduced"


def test_only_what_trials_might_have_refused_by_chance_is_counted():
    """A table's number, and a cell that did not run, make no other part less sure."""
    off = part(-0.03, 0.02)
    exact = Part.judged("", Estimate.exactly(2), Band(0, 1, 0), "", "published")
    untested = Part("", "not testable here")
    assert refusals.of_claim([exact, untested, off]) == [exact, untested, off]


def test_bounds_that_no_level_widens_refuse_alone_and_among_others_do_not():
    """A share, or a percentile that reaches to zero, has no interval that holds for several."""
    to_zero = Part.judged("", Estimate(0.1, 0.0, 0.2, 5), Band(0.5, 1, 0), "", "measured")
    assert verdict([to_zero]) == "not reproduced"
    assert verdict([to_zero, part(0.2, 0.05)]) == "inconclusive"


def test_the_worst_of_several_is_one_of_all_of_them_over_the_parts_too():
    """Two parts that are the worst of ten each are twenty in all."""
    of_ten = worst([part(0.2, 0.05)] * 9 + [part(-0.094, 0.042)])
    assert (of_ten.verdict, of_ten.among) == ("reversed", 10)
    assert verdict([of_ten]) == "reversed", "it is corrected once"
    assert verdict([of_ten, part(0.2, 0.05)]) == "inconclusive"


def test_shares_of_one_claim_hold_at_once():
    """One of two shares had the certainty of one alone."""
    case = [Estimate(1.04, math.exp(0.001), math.exp(0.079), 5)]
    assert share_above([case]).low == 1
    assert share_above([case], among=2).low == 0


@pytest.mark.parametrize(("others", "expected"), [(0, "reversed"), (MANY, "inconclusive")])
def test_what_campaigns_refuse_together_is_one_of_the_parts_of_its_claim(others, expected):
    """A pooled part was refused by itself, whatever else was pooled."""
    rows = [
        part_of_a_campaign(log, 0.01, part=f"{nth}")
        for nth, log in enumerate([-0.03] + [0.18] * others)
    ]
    table = pd.DataFrame(rows)
    told = {name: table.assign(campaign=name) for name in ("one", "two", "three")}
    assert parts_together(told)["verdict"].iloc[0] == expected
