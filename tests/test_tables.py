"""Tables in notebooks: nothing is cut off, and no number has more digits than are known."""

import math

import pandas as pd

from fsgreen.tables import MOST_ROWS, as_html, shown

STATEMENT = "Ext2 is faster than Ext3 " * 10
TABLE = pd.DataFrame(
    {
        "statement": [STATEMENT, "<b>"],
        "ratio_x": [1.234567, math.nan],
        "empty": [None, None],
        "verdict": ["reproduced", "reversed"],
    }
)


def test_a_statement_is_shown_whole_and_as_text() -> None:
    text = shown(TABLE).data
    assert STATEMENT.strip() in text and "..." not in text
    assert "&lt;b&gt;" in text and "<b>" not in text
    assert "1.23" in text and "1.234" not in text and "nan" not in text.lower()


def test_what_is_asked_for_comes_first_and_what_has_no_value_is_left_out() -> None:
    text = shown(TABLE, ["verdict", "statement", "empty"]).data
    assert text.index("verdict") < text.index("statement")
    assert "<th>empty</th>" not in text and "<th>ratio_x</th>" not in text


def test_no_rows_are_told() -> None:
    assert "None." in shown(TABLE[TABLE["verdict"] == "broken"]).data


def test_of_a_long_table_it_is_said_what_is_not_shown() -> None:
    assert "3 more rows" in as_html(pd.DataFrame({"n": range(MOST_ROWS + 3)}))
