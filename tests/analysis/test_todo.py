"""What untested claims would take, as the report lists it: a row for each thing to do."""

import pandas as pd

from fsgreen.analysis.todo import to_do
from fsgreen.claims import OTHER_STATE, Found, Part, missing

WAY = "bound the memory (constants: {memory_mib: 2048} in the profile; docs/state.md)"


def row(number, verdict, *parts):
    return {
        "id": f"paper-{number}",
        "slug": f"claim_{number}",
        "verdict": verdict,
        "needs": missing(parts) or None,
    }


def in_another_state(percent):
    found = (
        Found(
            "reads come from the device",
            WAY,
            "device_read_percent",
            "at least 30",
            percent,
            percent,
        ),
        Found("reads come from the device", WAY, "device_request_s", "at least 0.1", 0.01, 0.02),
    )
    return Part("x", OTHER_STATE, found=found)


def test_a_thing_that_many_claims_lack_stands_once_and_first():
    """Twenty claims without Reiserfs once took two pages of the same sentence."""
    meter = Part("x", "not testable here", needs="a meter")
    cells = Part("y", "not testable here", lacks=("web a", "web b", "web c", "web d"))
    found = to_do(
        pd.DataFrame(
            [
                row("01", "not testable here", meter, cells),
                row("02", "not testable here", meter),
                row("03", OTHER_STATE, in_another_state(0.5)),
                row("04", OTHER_STATE, in_another_state(2.0)),
                row("05", OTHER_STATE, in_another_state(2.0), meter),
                row("06", "reproduced", meter),
            ]
        )
    )
    assert [step["count"] for step in found] == ["3", "3", "1"]
    assert found[0] == {
        "take": "a meter",
        "found": "",
        "count": "3",
        "claims": "01 claim 01, 02 claim 02, 05* claim 05",
    }
    assert found[1]["take"] == f"reads come from the device: {WAY}"
    assert found[1]["found"] == (
        "for instance device_read_percent was 0.5, not at least 30, "
        "device_request_s was 0.01 to 0.02, not at least 0.1"
    )
    assert found[2]["take"].endswith("does not have: 4 cells, web a, web b, web c and 1 more")
