"""Numbers in sentences: no power of ten, no `-0`, no `1 cells`, and no endless list of names."""

import math

import pytest

from fsgreen.words import digits, listed, plural


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12345.6, "12,346"),
        (999.7, "1000"),
        (1.2345, "1.23"),
        (0.0000123, "0.0000123"),
        (-0.0, "0"),
        (-2.5, "\N{MINUS SIGN}2.5"),
        (32800.0, "32,800"),
        (math.nan, "?"),
    ],
)
def test_a_number_has_three_digits_and_no_power_of_ten(value: float, text: str) -> None:
    assert digits(value) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 cells"), (1, "1 cell"), (2, "2 cells"), ("1 to 2", "1 to 2 cells")]
)
def test_one_thing_is_no_plural(count: int | str, text: str) -> None:
    assert plural(count, "cell") == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, ""), (2, "a0, a1"), (3, "a0, a1, a2"), (5, "a0, a1, a2 and 2 more")]
)
def test_of_many_names_the_first_stand_for_the_others(count: int, text: str) -> None:
    assert listed(f"a{nth}" for nth in range(count)) == text
