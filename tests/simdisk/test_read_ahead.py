"""Heuristics of one's own: what they remember, and what a server gets by them."""

import json
import re
import sys
from types import SimpleNamespace

import pytest

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.simdisk.read_ahead import NEAR_B, READS, Own, rates

BLOCK_B = 8192


def counts(own, *offsets_b, file=1):
    heuristic = own.begin()
    return [heuristic(file, offset_b, BLOCK_B) for offset_b in offsets_b]


def one_more(count, away_b):
    return count + 1 if away_b == 0 else count // 2


def test_a_rule_gets_the_count_and_how_far_off_a_read_is():
    asked = []
    own = Own(lambda count, away_b: asked.append((count, away_b)) or 5)
    assert counts(own, 0, BLOCK_B, 5 * BLOCK_B, 0) == [1, 5, 5, 5]
    assert asked == [(1, 0), (5, 3 * BLOCK_B), (5, 6 * BLOCK_B)]


def test_no_rule_leads_out_of_the_bounds():
    assert counts(Own(lambda count, away_b: 1000), 0, 0) == [1, 127]
    assert counts(Own(lambda count, away_b: -7), 0, 0) == [1, 0]


def test_several_places_of_a_file_are_counted_apart():
    far_b = 2**20
    strides = [0, far_b, BLOCK_B, far_b + BLOCK_B, 2 * BLOCK_B, far_b + 2 * BLOCK_B]
    assert counts(Own(one_more), *strides) == [1, 0, 0, 0, 0, 0]
    assert counts(Own(one_more, places=2), *strides) == [1, 1, 2, 2, 3, 3]
    near_b = BLOCK_B + NEAR_B
    assert counts(Own(one_more, places=2), 0, near_b) == [1, 0], "it is of the first place"
    assert counts(Own(one_more, places=2), 0, near_b + 1) == [1, 1]


def test_the_place_that_was_not_used_for_longest_is_given_up():
    far_b = 2**20
    own = Own(one_more, places=2)
    assert counts(own, 0, far_b, BLOCK_B, 2 * far_b, 2 * BLOCK_B, far_b + BLOCK_B) == [
        *(1, 1, 2, 1, 3, 1)
    ]


def test_files_are_apart_and_each_run_begins_anew():
    own = Own(one_more)
    heuristic = own.begin()
    assert [heuristic(file, 0, BLOCK_B) for file in (1, 2)] == [1, 1]
    assert heuristic(1, BLOCK_B, BLOCK_B) == 2
    assert own.begin()(1, BLOCK_B, BLOCK_B) == 1


@pytest.fixture
def asked(monkeypatch):
    """What a stand-in of the engine is asked."""
    seen = []

    def simulate(text, own=None):
        seen.append((json.loads(text), own))
        return {"nfs": {"delivered_mb_s": float(len(seen))}}

    engine = SimpleNamespace(simulate=simulate, decisions=None)
    monkeypatch.setitem(sys.modules, "fsgreen_engine", engine)
    return seen


def test_each_heuristic_is_asked_for_each_way_to_read(asked):
    table = rates({"theirs": "cursors", "mine": Own(one_more)}, total_mib=8, slots=4)
    assert list(table.index) == list(READS)
    assert table["theirs"].tolist() == [1, 2, 3, 4, 5, 6]
    assert table["mine"].tolist() == [7, 8, 9, 10, 11, 12]
    assert table.columns.name == "MB/s, simulated"
    (first, no_own), (last, own) = asked[0], asked[-1]
    assert no_own is None
    assert callable(own)
    assert first["work"]["nfs"]["read_ahead"] == {"slots": 4, "heuristic": "cursors"}
    assert last["work"]["nfs"]["read_ahead"] == {"slots": 4}
    assert last["work"]["nfs"]["reads"] == {"total_mib": 8, "order": "random"}


def test_what_the_engine_refuses_is_said(monkeypatch):
    def refuse(text, own=None):
        raise ValueError("streams is 0")

    engine = SimpleNamespace(simulate=refuse, decisions=None)
    monkeypatch.setitem(sys.modules, "fsgreen_engine", engine)
    with pytest.raises(FsgreenError, match="streams is 0") as caught:
        rates({"d": "default"}, {"none": {"streams": 0}})
    assert "streams" in caught.value.where


def needs_engine():
    engine = pytest.importorskip("fsgreen_engine", reason="engine not installed: run ./run engine")
    if not hasattr(engine, "decisions"):
        pytest.skip("the engine is older than this fsgreen: run ./run engine")


def test_slow_down_in_one_line_is_that_of_the_engine():
    """Who writes the heuristic of the paper in Python gets the numbers of the engine."""
    needs_engine()
    slow = Own(lambda n, away_b: n + 1 if away_b == 0 else n if away_b <= NEAR_B else n // 2)
    default = Own(lambda n, away_b: n + 1 if away_b == 0 else int(n > 1))
    names = {"default": "default", "slowdown": "slowdown"}
    table = rates({**names, "mine": default, "slow": slow}, total_mib=8)
    assert table["mine"].equals(table["default"])
    assert table["slow"].equals(table["slowdown"])
    assert table.loc["in order", "default"] > 3 * table.loc["2 strides", "default"]


def test_the_examples_of_the_page_run(capsys):
    """A page whose examples fail is left at the first of them."""
    needs_engine()
    page = (paths.root() / "docs" / "readahead.md").read_text()
    known: dict[str, object] = {}
    for code in re.findall(r"```python [\w-]+\n(.*?)```", page, flags=re.DOTALL):
        exec(code, known)
    assert "mine" in capsys.readouterr().out
