"""The verdict between a published number and ours."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fsgreen.claims import (
    ABOVE,
    OTHER_STATE,
    SIZE_EXCLUDED,
    SIZE_OPEN,
    VERDICTS,
    Band,
    Part,
    band,
    by_construction,
    combine,
    judge,
    missing,
    shown,
    written,
)
from fsgreen.stats import Estimate

LOSS = {"op": "exact", "value": -27, "unit": "percent_change"}
NONE = {"op": "indistinguishable", "value": 0, "unit": "percent_change"}


def between(low, high):
    return Estimate((low + high) / 2, low, high, 5)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.70, 0.76, "reproduced"),
        (0.60, 0.76, "direction only, size open"),
        (0.90, 0.95, "direction only, size excluded"),
        (0.98, 1.02, "not reproduced"),
        (1.10, 1.20, "reversed"),
        (0.60, 1.20, "inconclusive"),
    ],
)
def test_a_loss_of_27_percent(low, high, verdict):
    """Every verdict of rule 44 for a published ratio of 0.73."""
    assert judge(between(low, high), band(LOSS, "measured", 0.05)) == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.98, 1.02, "reproduced"), (0.9, 1.1, "inconclusive"), (1.1, 1.2, "not reproduced")],
)
def test_no_difference_needs_equivalence(low, high, verdict):
    """A wide interval around 1 does not show that two cells are equal."""
    assert judge(between(low, high), band(NONE, "measured", 0.05)) == verdict


def test_no_interval_no_verdict():
    """Two trials of the quick profile decide nothing."""
    two = Estimate(0.73, math.nan, math.nan, 2)
    assert judge(two, band(LOSS, "measured", 0.05)) == "inconclusive"
    assert judge(two, ABOVE) == "inconclusive"


def test_no_effect_does_not_agree_with_a_small_one():
    """A published loss of 6 % must not be reproduced by a cell that loses nothing."""
    small = {"op": "exact", "value": -6, "unit": "percent_change"}
    assert judge(between(0.995, 1.005), band(small, "measured", 0.05)) == "not reproduced"


def test_printed_numbers_agree_within_their_rounding():
    """9 stands for 8.5 to 9.5; -64 and -65 per cent are one rounding apart; 29 and 23 are not."""
    nine = band({"op": "approx", "value": 9, "unit": "x"}, "published", 0)
    assert (nine.low, nine.high) == (8.5, 9.5)
    sixty_five = band({"op": "approx", "value": -65, "unit": "percent_change"}, "published", 0)
    assert sixty_five.low <= 0.36 <= sixty_five.high
    more = band({"op": "approx", "value": 29, "unit": "percent_change"}, "published", 0)
    assert not more.low <= 1.23 <= more.high


def test_a_factor_of_one_digit_is_held_no_less_than_a_measured_one():
    """4.5 passed for 4, and 2.5 for 2: half a unit of so short a number is no tolerance."""
    for digit in (2, 4):
        found = band({"op": "approx", "value": digit, "unit": "x"}, "published", 0)
        assert (found.low, found.high) == pytest.approx((0.9 * digit, 1.1 * digit))


def test_no_printed_effect_agrees_with_a_small_one():
    """2 % of a ratio is two thirds of a change by 3 %, which measured ones are held closer to."""
    small = {"op": "approx", "value": 3, "unit": "percent_change"}
    found, measured = (band(small, basis, 0.05) for basis in ("published", "measured"))
    assert (found.low, found.high) == (measured.low, measured.high)
    assert judge(between(1.01, 1.01), found) == "direction only, size excluded"


@pytest.mark.parametrize(
    ("op", "value", "unit", "text"),
    [
        ("approx", 2.5, "x", "2.5x"),
        ("greater_than", 4, "x", "above 4x"),
        ("at_least", 8, "percent_change", "at least +8 %"),
        ("less_than", 0.5, "x", "below 0.5x"),
        ("less_than", 1, "percent_change (absolute value)", "less than 1 % apart"),
        ("approx", 0, "percent_change", "no difference"),
        ("order_of_magnitude", 100, "x", "about 100x"),
    ],
)
def test_a_published_number_is_written_with_what_it_is(op, value, unit, text):
    """What is less than 1 % in either direction was printed as +1 %."""
    assert written({"op": op, "value": value, "unit": unit}) == text


@pytest.mark.parametrize(
    ("op", "value", "low", "high"),
    [
        ("greater_than", 2, 2, math.inf),
        ("at_most", 2, 0, 2),
        ("order_of_magnitude", 100, 31.6, 316.2),
    ],
)
def test_one_sided_claims(op, value, low, high):
    """Bounds are bounds, whatever the tolerance."""
    found = band({"op": op, "value": value, "unit": "x"}, "measured", 0.05)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-3)


@given(st.floats(0.05, 20), st.floats(1.0, 1.5), st.floats(-95, 900).filter(lambda v: v != 0))
def test_every_interval_gets_a_verdict(low, width, value):
    """The ledger has no hole, and mirrored claims get mirrored verdicts of order."""
    number = {"op": "exact", "value": value, "unit": "percent_change"}
    ours = between(low, low * width)
    assert judge(ours, band(number, "measured", 0.05)) in VERDICTS
    assume(1 not in (ours.low, ours.high))  # "above 1" leaves 1 itself to one side
    mirrored = Estimate(1 / ours.value, 1 / ours.high, 1 / ours.low, 5)
    swap = {"reproduced": "reversed", "reversed": "reproduced"}
    verdict = judge(ours, ABOVE)
    assert judge(mirrored, ABOVE) == swap.get(verdict, verdict)


def part(verdict, **more):
    return Part("something", verdict, **more)


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        (["reproduced", "reproduced", "reproduced"], True),
        (["reproduced", "not testable here", "reproduced"], False),
        ([SIZE_OPEN, "reproduced", SIZE_OPEN], True),
        ([SIZE_OPEN, SIZE_EXCLUDED, SIZE_EXCLUDED], True),
        (["underpowered", SIZE_EXCLUDED, "underpowered"], True),
        (["inconclusive", "underpowered", "underpowered"], True),
        (["underpowered", "not in the state of the claim", "underpowered"], False),
        (["not in the state of the claim", "not testable here", OTHER_STATE], False),
        (["reversed", "reversed", "reversed"], True),
        (["reversed", "reproduced", "not reproduced"], True),
        (["reproduced", "inconclusive", "inconclusive"], True),
        (["not testable here", "not testable here", "not testable here"], False),
    ],
)
def test_a_claim_is_the_sum_of_its_parts(verdicts, whole):
    """The third entry is the verdict of the first two; a refuted part refutes the claim."""
    *parts, expected = verdicts
    assert combine([part(verdict) for verdict in parts]) == (expected, whole)


def test_a_claim_is_called_underpowered_where_its_weakest_part_is():
    """A power of 0.1 stood beside "inconclusive", which is "though the power was sufficient"."""
    open_part = part("inconclusive", power=0.7)
    claims = ((0.1, "underpowered"), (0.6, "inconclusive"), (math.nan, "inconclusive"))
    for weak, expected in claims:
        assert combine([open_part, part("reproduced", power=weak)]) == (expected, True)
        assert combine([part("reproduced", power=weak)] * 2) == ("reproduced", True)
        assert combine([part("reversed"), part("reproduced", power=weak)])[0] == "not reproduced"


def test_missing_things_are_named_once():
    """Ten untested cells are one sentence."""
    parts = [part("not testable here", lacks=("web a", "web b"), needs="a meter")] * 2
    text = missing(parts)
    assert text.count("a meter") == 1
    assert text.endswith("web a, web b")


def test_ours_is_written_like_the_published_number():
    """-27 % stands beside -26 %, not beside 0.74x."""
    ours = Estimate(0.74, 0.73, 0.75, 5)
    assert shown(part("reproduced", ours=ours, unit="change")) == "-26 % [-27, -25]"
    assert shown(part("reproduced", ours=ours)) == "0.74x [0.73, 0.75]"
    point = Estimate(8.7, 8.7, 8.7, 1)
    assert shown(part("reproduced", ours=point, band=Band(8, 9, 1))) == "8.7x"
    many = Estimate(32768.0, math.nan, math.nan, 1)
    assert shown(part("reproduced", ours=many)) == "32,768x", "no 3.28e+04"


def test_what_holds_by_construction_is_no_evidence_for_a_claim():
    """Three fitted numbers and one that is free: the claim stands or falls with the free one."""
    fitted = by_construction(Part("fitted", "reproduced"))
    assert fitted.verdict == "by construction"
    for missed in ("reversed", SIZE_EXCLUDED):
        assert by_construction(Part("fitted, and missed", missed)).verdict == missed
    assert combine([fitted, fitted]) == ("by construction", False)
    assert combine([fitted, Part("free", "not reproduced")]) == ("not reproduced", False)
    assert combine([fitted, Part("free", "reproduced")]) == ("reproduced", False)
    assert combine([fitted, Part("absent", "not testable here")]) == ("by construction", False)


@pytest.mark.parametrize(
    ("verdict", "value", "expected"),
    [
        ("underpowered", 1.4, "by construction"),
        ("underpowered", 0.9, "underpowered"),
        ("inconclusive", 1.4, "inconclusive"),
    ],
)
def test_too_few_trials_ask_for_no_more_where_more_would_be_no_evidence(verdict, value, expected):
    """A quick campaign asked for trials of what its model was made to do, and had shown in two."""
    few = Estimate.without_interval(value, 2)
    found = by_construction(Part("made so", verdict, "simulated", band=ABOVE, ours=few, power=0.0))
    assert (found.verdict, found.built) == (expected, True)
    assert found.basis == ("by construction" if expected == "by construction" else "simulated")
