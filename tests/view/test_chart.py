"""Charts: numbers as people write them, axes that hold what is drawn, and the same on paper."""

import json
import math
import re

import pytest

from fsgreen.figures import style
from fsgreen.view.explore.chart import (
    Line,
    Panel,
    Panels,
    Row,
    Rows,
    interval,
    number,
    probability,
    to_json,
)
from fsgreen.view.explore.picture import draw
from fsgreen.view.explore.views import ChartView

NAN = math.nan


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (167533.1, "ops/s", "167,533 ops/s"),
        (0.00779, "x", "0.00779x"),
        (1.68449, "", "1.68"),
        (0.0012345, "s", "1.23 ms"),
        (2.5e8, "B/s", "250 MB/s"),
        (0, "W", "0 W"),
        (-3.456, "W", "\N{MINUS SIGN}3.46 W"),
        (-0.0, "W", "0 W"),
        (1e-12, "x", "0.000000000001x"),
        (NAN, "W", "?"),
    ],
)
def test_a_number_is_written_as_people_write_it(value, unit, text):
    assert number(value, unit) == text


def test_an_interval_is_left_out_where_there_is_none():
    assert interval(1.2e-3, 1.1e-3, 1.3e-3, "s") == "1.2 ms [1.1 ms, 1.3 ms]"
    assert interval(5, 4, 6, "W") == "5 W [4, 6]"
    assert interval(5, NAN, NAN, "W") == "5 W"
    assert [probability(p) for p in (1e-9, 0.0312, NAN)] == [
        "p < 0.001",
        "p = 0.031",
        "p not known",
    ]


def bars(*values):
    return Rows("ops", [Row(f"cell {n}", "", *value) for n, value in enumerate(values)])


def test_bars_begin_at_zero_and_all_of_them_fit():
    low, high = bars((100.0, 90.0, 110.0), (50.0, NAN, NAN)).span
    assert low == 0 and 110 < high < 130
    assert bars((100.0, -900.0, 1100.0)).span[1] < 130, "a wild interval does not hide the bars"
    assert bars((NAN, NAN, NAN)).span[1] > 0
    assert bars().span[1] > 0


def test_ratios_are_as_far_from_1_as_their_inverse():
    rows = [Row("a", "", 4.0, 3.5, 4.5), Row("b", "", 0.9, NAN, NAN)]
    low, high = Rows("x", rows, "x", bars=False).span
    assert low == pytest.approx(1 / high) and high > 4.5
    places = [place for place, _ in Rows("x", rows, "x", bars=False).ticks]
    assert 1.0 in places and len(places) >= 3
    assert Rows("x", [Row("a", "", 1e300, NAN, NAN)], "x", bars=False).span[1] <= 1.01e4


def test_the_browser_gets_null_for_what_is_not_known():
    told = to_json(bars((NAN, NAN, NAN)))
    assert told["kind"] == "rows" and told["rows"][0]["value"] is None
    line = Line("a", [0.0, 1.0], [NAN, 2.0])
    told = to_json(Panels("s", [Panel("W", [line])]))
    assert told["panels"][0]["lines"][0]["y"] == [None, 2.0]
    json.dumps(told, allow_nan=False)


@pytest.mark.parametrize(
    "chart",
    [
        bars((100.0, 90.0, 110.0), (NAN, NAN, NAN)),
        bars(),
        Rows(
            "x", [Row("a", "b", 2.0, 1.5, 2.5, band=(0.9, 1.1))], "x", bars=False, mark="modelled"
        ),
        Panels("s", [Panel("W", [Line("a", [0.0, 1.0], [1.0, 1.0])])], phases=[("idle", 0, 1)]),
        Panels(
            "s", [Panel("%", [Line("A", [1e-6, 1.0], [1.0, 0.0], kind="steps")])], "s", log=True
        ),
        Panels("n", [Panel("W", [Line("", [1.0], [3.0], kind="dots", about=["a"])])], picks=True),
        Panels("n", [Panel("W", [])]),
    ],
)
def test_every_chart_can_be_saved(chart):
    """Also one without values: a button that fails is worse than an empty frame."""
    assert style.png(draw(chart, "What it says.")).startswith(b"\x89PNG")
    json.dumps(to_json(chart), allow_nan=False)


def test_nothing_is_fetched_from_the_network():
    assert re.findall(r"\w+://[^\"' ]+", ChartView._esm + ChartView._css) == [
        "http://www.w3.org/2000/svg"
    ], "the name of SVG, which no browser fetches"
    assert "import" not in ChartView._esm
