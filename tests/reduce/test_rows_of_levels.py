"""Which rows of a table have some levels: as Pandas says, column by column."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.reduce import at

COLUMNS = {
    "text": st.sampled_from(["ext4", "xfs", "1"]),
    "text_or_none": st.sampled_from(["ext4", "xfs", None]),
    "whole": st.sampled_from([0, 1, 8]),
    "number_or_none": st.sampled_from([0.0, 1.0, 0.5, float("nan")]),
    "yes": st.booleans(),
}
LEVELS = st.sampled_from(["ext4", "1", "", 0, 1, 0.5, True, None, float("nan")])


@given(
    st.lists(st.fixed_dictionaries(COLUMNS)),
    st.dictionaries(st.sampled_from([*COLUMNS, "of_no_column"]), LEVELS),
)
def test_rows_are_those_that_have_each_level(rows, levels):
    table = pd.DataFrame(rows, columns=[*COLUMNS], index=range(7, 7 + len(rows)))
    wanted = pd.Series(True, index=table.index)
    for name, level in levels.items():
        column = table.get(name, pd.Series(index=table.index, dtype=object))
        wanted &= column.isna() if level is None else column == level
    pd.testing.assert_series_equal(at(table, levels), wanted)


@pytest.mark.parametrize("level", [1, 1.0, True])
def test_a_text_is_no_number_and_a_number_no_text(level):
    table = pd.DataFrame({"text": ["1", "1.0"], "number": [1, 1]})
    assert not at(table, {"text": level}).any()
    assert not at(table, {"number": str(level)}).any()
    assert at(table, {"number": level}).all()
