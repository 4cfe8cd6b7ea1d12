"""Tables in notebooks: nothing is cut off, and no number has more digits than are known."""

import math
from pathlib import Path

import pandas as pd
import pytest

from fsgreen.analysis.tables import NOT_RUN, Ours, write_all
from fsgreen.tables import MOST_ROWS, as_html, of_report, shown

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


def test_of_a_report_no_empty_table_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five of six tables of a small campaign said "None.", and not what would fill them."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    ours = {name: Ours(["ours"], f"fsgreen measure {name}") for name in ("some", "none")}
    rows = {"some": ["1", NOT_RUN], "none": [NOT_RUN], "empty": []}
    tables = {
        name: (name, pd.DataFrame({"name": name, "ours": found})) for name, found in rows.items()
    }
    write_all("c", tables, ours)
    told = {name: html.data for name, html in of_report("c")}
    assert [*told] == ["none", "some"]
    assert "<table" in told["some"] and "<table" not in told["none"]
    for name, text in told.items():
        assert "Left out: 1 row of which nothing was run." in text
        assert f"<code>fsgreen measure {name}</code>" in text
