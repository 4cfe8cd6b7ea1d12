"""What a simulated disk says must arrive whole, and what it does not say must not pass for it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from simdisks import line, serving

from fsgreen.errors import FsgreenError
from fsgreen.simdisk import Control


def test_an_answer_is_that_of_the_server_however_long(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []

    def answer(question: dict[str, Any]) -> bytes:
        asked.append(question)
        return line(ok=True, zones=["zone"] * 50_000)

    with serving(tmp_path / "control", answer):
        found = Control(tmp_path / "control").ask("clock", to="instant")
    assert asked == [{"do": "clock", "to": "instant"}]
    assert len(found["zones"]) == 50_000


def test_a_refusal_is_told_in_the_servers_words(tmp_path: Path) -> None:
    with (
        serving(tmp_path / "control", lambda _: line(ok=False, what="no such depth", next="32")),
        pytest.raises(FsgreenError, match="refused depth: no such depth") as caught,
    ):
        Control(tmp_path / "control").ask("depth", to=0)
    assert caught.value.next_step == "32"


@pytest.mark.parametrize("said", [b"", b"not json\n", b"[]\n", b"3\n", b"{}\n", b"\xff\n"])
def test_what_is_no_answer_is_an_error(tmp_path: Path, said: bytes) -> None:
    with (
        serving(tmp_path / "control", lambda _: said),
        pytest.raises(FsgreenError, match="the simulated disk does not answer"),
    ):
        Control(tmp_path / "control").ask("energy")


def test_a_disk_that_is_gone_is_told(tmp_path: Path) -> None:
    gone = Control(tmp_path / "control")
    for ask in (lambda: gone.ask("energy"), gone.processor_s):
        with pytest.raises(FsgreenError, match=r"does not answer: .*No such file"):
            ask()


def test_data_that_found_no_room_are_told_of(tmp_path: Path) -> None:
    """The file system would be blamed for files that are not there."""
    faults = iter([None, "No space left on device", "No space left on device"])
    with serving(tmp_path / "control", lambda _: line(ok=True, store_fault=next(faults))):
        control = Control(tmp_path / "control")
        with control.storing():
            pass
        with pytest.raises(FsgreenError, match="lost data: No space left"), control.storing():
            pass
        with (
            pytest.raises(FsgreenError, match="lost data: No space left") as caught,
            control.storing(),
        ):
            raise FsgreenError("mount ended with status 32")
    assert "--folder" in (caught.value.next_step or "")


def test_the_servers_processor_time_is_that_of_its_process(tmp_path: Path) -> None:
    """Rule 10 would blame other programs for it, or not see them."""
    with serving(tmp_path / "control", lambda _: b""):
        control = Control(tmp_path / "control")
        begin_s = sum(control.processor_s())
        until_s = time.process_time() + 0.2
        while time.process_time() < until_s:
            pass
        assert sum(control.processor_s()) - begin_s >= 0.15
        user_s, system_s = control.processor_s()
    assert user_s + system_s == pytest.approx(sum(os.times()[:2]), abs=0.1)
