"""The power of a simulated disk over time is the energy of its account, or it is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from simdisks import drawn_fj, line, serving

from fsgreen.errors import FsgreenError
from fsgreen.simdisk import Control, Disk
from fsgreen.simdisk.power import power_since
from tests.testbeds.served import IDE, needs_disk, serve_patiently

SOUND: dict[str, Any] = {"times_ns": [5, 9], "power_uw": [150_000, 0], "until_ns": 12}


@pytest.mark.parametrize(
    "wrong",
    [
        {"times_ns": None},
        {"times_ns": []},
        {"times_ns": [], "power_uw": []},
        {"times_ns": [5]},
        {"times_ns": [8, 9]},
        {"times_ns": [5, 5]},
        {"times_ns": [5, 13]},
        {"times_ns": [-1, 9]},
        {"times_ns": [5, 9.0]},
        {"power_uw": [True, 1]},
        {"power_uw": [1, -1]},
        {"power_uw": [1, 10**9]},
        {"until_ns": None},
        {"until_ns": 2**63},
    ],
)
def test_what_is_no_power_over_time_is_an_error(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with (
        serving(tmp_path / "control", lambda _: line(ok=True, **SOUND | wrong)),
        pytest.raises(FsgreenError, match="something else than its power"),
    ):
        power_since(Control(tmp_path / "control"), 7)


def test_a_span_begins_where_it_was_asked_for(tmp_path: Path) -> None:
    asked: list[int | None] = []

    def answer(question: dict[str, Any]) -> bytes:
        asked.append(question["since_ns"])
        return line(ok=True, **SOUND)

    with serving(tmp_path / "control", answer):
        control = Control(tmp_path / "control")
        assert drawn_fj(power_since(control, 7), 7, 12) == 2 * 150_000
        power_since(control)
    assert asked == [7, None]


@needs_disk
def test_a_served_disk_drew_over_time_what_is_in_its_account(tmp_path: Path) -> None:
    """A meter of 10 kHz would show other joules than the account twenty times a second."""
    with (tmp_path / "lock").open("w") as lock:
        server = serve_patiently(Disk(IDE), tmp_path, lock_fd=lock.fileno())
        try:
            before = server.control.ask("energy")
            with server.file.open("rb") as file:
                for nth in range(20):
                    file.seek(nth << 28)
                    assert len(file.read(4096)) == 4096
            after = server.control.ask("energy")
            trace = power_since(server.control, before["time_ns"])
            with pytest.raises(FsgreenError, match="not kept any more"):
                power_since(server.control, 0)
        finally:
            server.stop()
    assert len(trace.times_ns) > 20
    drawn_uj = drawn_fj(trace, before["time_ns"], after["time_ns"]) / 1e9
    assert abs(drawn_uj - (after["total_uj"] - before["total_uj"])) <= 1
