"""A table whose numbers have no unit must not leave the library."""

import pandas as pd
import pytest

from fsgreen import units
from fsgreen.errors import FsgreenError


def test_a_bare_number_is_refused_by_name() -> None:
    with pytest.raises(FsgreenError, match="columns without a unit: speed"):
        units.check_columns(pd.DataFrame({"power_w": [1.0], "speed": [2.0]}))


def test_texts_flags_and_identifiers_need_no_unit() -> None:
    table = pd.DataFrame({"cell": ["a"], "block": [1], "kept": [True], "energy_j": [1.0]})
    assert units.check_columns(table) is table


@pytest.mark.parametrize(
    ("column", "meaning"),
    [
        ("throughput_ops_s", "operations per second"),
        ("bandwidth_b_s", "bytes per second"),
        ("duration_s", "seconds"),
        ("efficiency_ops_j", "operations per joule"),
        ("label", None),
    ],
)
def test_the_longest_suffix_names_the_unit(column: str, meaning: str | None) -> None:
    assert units.unit_of(column) == meaning
