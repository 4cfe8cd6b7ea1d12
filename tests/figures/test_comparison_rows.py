"""Comparisons of any study, row by row: what the small print says of marks that are drawn."""

import pytest
import synthetic_fast10

from fsgreen.figures import effect_rows


@pytest.mark.parametrize(
    ("blocks", "says", "not_said"),
    [
        (
            2,
            ["no interval: 2 blocks", "band: differences below 5 %"],
            ["filled", "whole interval", "not corrected"],
        ),
        (
            5,
            [
                "95 % intervals, not corrected for their number",
                "filled",
                "equal if the whole interval lies in it",
            ],
            ["no interval"],
        ),
    ],
)
def test_small_print_speaks_of_intervals_and_filled_marks_that_are_there(blocks, says, not_said):
    """Of two blocks it told how an interval is to be read, and none was drawn."""
    _, effects = synthetic_fast10.tables(blocks=blocks)
    effects = effects.assign(gate="passed", boundary="modelled")
    options = effects[(effects["kind"] == "option") & (effects["metric"] == "throughput")]
    small_print = " ".join(effect_rows(options, list(options["option"])).get_supxlabel().split())
    assert all(text in small_print for text in says)
    assert not any(text in small_print for text in not_said)
