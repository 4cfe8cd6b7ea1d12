"""A worker does the tasks of a fleet by name, one at a time, and nothing else that it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import synthetic
from hypothesis import given, settings
from hypothesis import strategies as st

from fsgreen import design
from fsgreen.errors import FsgreenError
from fsgreen.fleet import harness
from fsgreen.fleet.harness import Harness
from fsgreen.fleet.messages import Order, Rest, Shelf, Which, parsed
from fsgreen.fleet.record import Record
from fsgreen.fleet.tasks import Tasks

ORDER = Order(campaign="c", study="fast10", profile="quick", plan_hash="0" * 64)

RESTS = """
import sys
trials = int(sys.argv[2])
for nth in range(trials):
    print('{"state": "rest", "rested_s": %d}' % nth, flush=True)
    if not sys.stdin.readline():
        open(sys.argv[1], "a").close()
        sys.exit(130)
print('{"state": "done", "rested_s": 0}', flush=True)
"""
"""A process that measures so many trials in no time, and makes a file where it was let go."""


def measuring(monkeypatch: pytest.MonkeyPatch, code: str, file: Path) -> Harness:
    """A harness whose process runs some code, which is told a file and to measure two trials."""
    monkeypatch.setattr(harness, "CHILD", ("-c", code))
    return Harness(str(file), "2", file.parent / "data")


@pytest.fixture
def measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
    return measuring(monkeypatch, RESTS, tmp_path / "let go")


def tasks(folder: Path) -> Tasks:
    return Tasks("disk", Harness("disk", "directory", folder), folder)


def asked(folder: Path, task: object, arguments: object) -> dict[str, Any]:
    return asyncio.run(tasks(folder).perform(task, arguments))


@pytest.mark.parametrize("task", ["run", "", None, 7, "_measure", "perform", "__init__"])
def test_a_task_that_is_not_ours_is_refused(tmp_path: Path, task: object) -> None:
    told = asked(tmp_path, task, {"code": "1"})["refused"]
    assert "unknown task" in told["what"] and "measure, piece, shelf" in told["what"]


def test_home_cannot_have_a_testbed_measure_what_that_does_not_know(tmp_path: Path) -> None:
    """A study can run commands: those of the testbed's own file, not what somebody sends."""
    told = asked(tmp_path, "measure", ORDER.model_dump())["refused"]
    mine = design.make_plan(design.load_study("fast10"), "quick").hash
    assert f"home has {'0' * 12}, the testbed disk {mine[:12]}" in told["what"]
    told = asked(tmp_path, "measure", {**ORDER.model_dump(), "study": "nobodys"})["refused"]
    assert "unknown study" in told["what"]


@pytest.mark.parametrize(
    "changed",
    [
        {"campaign": "../c"},
        {"campaign": "c/../../d"},
        {"folder": "discarded", "trial": "t"},
        {"folder": "trials", "trial": ".."},
        {"file": "../plan.json"},
        {"file": ""},
        {"file": ".hidden"},
        {"file": "a\0b"},
        {"file": "a\x1b[2J"},
        {"file": "a" * 241},
        {"offset_b": -1},
        {"offset_b": "0"},
        {"more": 1},
    ],
)
def test_a_file_outside_of_the_campaign_is_read_for_nobody(
    tmp_path: Path, changed: dict[str, object]
) -> None:
    place = {"campaign": "c", "folder": None, "trial": None, "file": "plan.json", "offset_b": 0}
    secret = tmp_path / "raw" / "c.disk" / "plan.json"
    secret.parent.mkdir(parents=True)
    secret.write_bytes(b"text")
    assert asked(tmp_path, "piece", place)["done"] == {"data": b"text", "size_b": 4}
    assert "home sent no Place" in asked(tmp_path, "piece", {**place, **changed})["refused"]["what"]


def test_what_is_half_written_is_not_on_the_shelf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    folder = synthetic.write_raw("c.disk", synthetic.make_plan(blocks=1))
    (folder / "trials" / ".next.partial").mkdir()
    (folder / ".idle.raw").write_bytes(b"")
    done = parsed(Shelf, asked(tmp_path, "shelf", {"campaign": "c"})["done"], "the worker")
    assert sorted(done.files) == ["campaign.json", "confounds.json", "plan.json"]
    assert sorted(done.trials) == sorted(
        entry.name for entry in (folder / "trials").iterdir() if entry.name[0] != "."
    )
    nothing = asked(tmp_path, "shelf", {"campaign": "unknown"})["done"]
    assert nothing == {"files": {}, "trials": {}, "invalid": {}}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=8,
)


@settings(max_examples=200)
@given(task=st.sampled_from(["measure", "shelf", "piece"]) | VALUES, arguments=VALUES)
def test_garbage_is_refused_and_never_raises(task: object, arguments: object) -> None:
    assert [*asked(Path("/nowhere"), task, arguments)] in (["done"], ["refused"])


@settings(max_examples=200)
@given(values=VALUES)
def test_garbage_of_a_worker_is_refused_at_home(values: object) -> None:
    for schema in (Rest, Shelf, Which, Record):
        try:
            parsed(schema, values, "the testbed")
        except FsgreenError as error:
            assert error.next_step


def both(make: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(make(), 60))


def test_it_measures_from_rest_to_rest_as_it_is_let(measures: Harness) -> None:
    async def go() -> None:
        heard = [(await measures.go_on(ORDER)).state for _ in range(3)]
        assert heard == ["rest", "rest", "done"]
        assert (await measures.go_on(ORDER)).state == "rest", "a second order is not begun"
        await measures.stop()

    both(go)


def test_one_that_was_let_go_ends_before_another_begins(measures: Harness, tmp_path: Path) -> None:
    """When home comes back, the trial that ran meanwhile is kept, and nothing runs twice."""

    async def go() -> None:
        await measures.go_on(ORDER)
        measures.let_go()
        rest = await measures.go_on(ORDER)
        assert (tmp_path / "let go").exists(), "the first had not ended"
        assert (rest.state, rest.rested_s) == ("rest", 0.0)
        await measures.stop()

    both(go)


def test_nothing_is_sent_before_one_that_was_let_go_has_ended(
    measures: Harness, tmp_path: Path
) -> None:
    """A home that is back would disturb the trial that ran on without it."""

    async def go() -> None:
        await measures.go_on(ORDER)
        measures.let_go()
        await Tasks("disk", measures, tmp_path).perform("shelf", {"campaign": "c"})
        assert (tmp_path / "let go").exists(), "it had not ended"
        await measures.stop()

    both(go)


@pytest.mark.parametrize("folder", ["trials", "invalid", "discarded"])
def test_a_folder_of_a_campaign_is_no_file_of_it(folder: str) -> None:
    """Home would write a file where it keeps trials."""
    with pytest.raises(FsgreenError, match="is a folder of a campaign, not a file"):
        parsed(Shelf, {"files": {folder: "0" * 64}, "trials": {}, "invalid": {}}, "the testbed")


def test_two_who_ask_at_once_do_not_both_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measures = measuring(monkeypatch, "import time; time.sleep(60)", tmp_path / "f")

    async def go() -> None:
        first = asyncio.create_task(measures.go_on(ORDER))
        await asyncio.sleep(0)
        with pytest.raises(FsgreenError, match="measuring for somebody else"):
            await measures.go_on(ORDER)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await measures.stop()

    both(go)


@pytest.mark.parametrize(
    "code", ["raise SystemExit(3)", "print('no JSON')", 'print(\'{"state": "fast"}\')']
)
def test_a_process_without_a_word_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    measures = measuring(monkeypatch, code, tmp_path / "f")

    async def go() -> None:
        rest = await measures.go_on(ORDER)
        assert rest.state == "fell" and rest.why is not None
        assert "ended with status" in rest.why.what

    both(go)
