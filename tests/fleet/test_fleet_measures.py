"""Two testbeds measure one study as real processes over real sockets, whatever becomes of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from fsgreen import campaign, fleet
from fsgreen.fleet import certificates, record
from tests.fleet import strangers
from tests.fleet.conftest import Yard, check_whole, wait_until

pytestmark = pytest.mark.slow


def listens_beyond_this_machine(process: subprocess.Popen[bytes]) -> list[str]:
    """Addresses at which a process listens for other machines."""
    connections = psutil.Process(process.pid).net_connections()
    listening = [one.laddr.ip for one in connections if one.status == psutil.CONN_LISTEN]
    assert listening
    return [ip for ip in listening if ip not in ("127.0.0.1", "::1")]


def test_two_testbeds_measure_and_one_worker_is_killed(
    yard: Callable[..., Yard], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A night of a lab would be lost, or counted twice, if one machine restarts in it."""
    made = yard("one", "two")
    workers = {name: made.worker(name) for name in made.testbeds}
    home = made.home()
    wait_until(made, lambda: bool(made.there("one")))
    os.killpg(workers["one"].pid, signal.SIGKILL)  # with the process that measures
    assert listens_beyond_this_machine(home) == []
    assert listens_beyond_this_machine(workers["two"]) == []
    certificates.make(tmp_path / "other")
    marker = tmp_path / "made by a pickle"
    tried = subprocess.run(
        [sys.executable, strangers.__file__, "fleet.toml", str(tmp_path / "other"), str(marker)],
        cwd=made.folder,
        capture_output=True,
        text=True,
    )
    assert tried.returncode == 0, tried.stderr
    assert tried.stdout == "[]\n"
    before = made.here("one")
    made.worker("one")
    wait_until(made, lambda: home.poll() is not None)
    assert home.returncode == 0, made.said("home")
    assert "one: lost: " in made.said("home")
    assert {*before} <= {*made.here("one")}
    check_whole(made, monkeypatch)
    seeds = {campaign.Campaign(f"asleep-quick.{name}").plan().seed for name in made.testbeds}
    assert len(seeds) == 2, "the order of trials is the same on all testbeds"
    lines = list(fleet.status("asleep-quick"))
    assert [line for line in lines if "done" in line and "4 of 4 trials are here" in line] == [
        line for line in lines if line.startswith(("  one", "  two"))
    ]
    posts = record.read("asleep-quick").posts
    assert all(post.rests_count >= 2 for post in posts.values())
