"""Two testbeds measure one study as real processes over real sockets, whatever becomes of them."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil
import pytest

from fsgreen import campaign, fleet, trial
from fsgreen.fleet import certificates, record
from tests.fleet import strangers
from tests.fleet.conftest import Yard, wait_until

pytestmark = pytest.mark.slow

by_night = pytest.mark.skipif(
    "FSGREEN_NIGHTLY" not in os.environ,
    reason="kills for half an hour: FSGREEN_NIGHTLY=1 ./run test tests/fleet",
)
KILLS = 200
LAST_STARTS = 5
"""A trial that a busy machine spoiled three times is tried again at the next start."""


def check_whole(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost or doubled, and what is at home is what was measured, to the byte."""
    monkeypatch.setenv("FSGREEN_DATA", str(yard.folder / "data"))
    for name in yard.testbeds:
        done = campaign.Campaign(fleet.member("asleep-quick", name))
        whole = trial.list_trials(done.folder)
        assert [one.name for one in whole] == [planned.trial for planned in done.due()]
        assert not done.pending()
        there = yard.folder / "data" / "fleet" / name / "raw" / done.name
        for one in whole:
            one.verify()
            assert one.record.campaign == done.name
            same = there / "trials" / one.name / "trial.json"
            assert (one.folder / "trial.json").read_bytes() == same.read_bytes()
        for file in ("plan.json", "campaign.json", "confounds.json"):
            assert (done.folder / file).read_bytes() == (there / file).read_bytes()
        assert not list((done.folder / "trials").glob(".*"))


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


@by_night
def test_random_kills_lose_and_double_nothing(
    yard: Callable[..., Yard], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers, what measures for them, and home with its scheduler end at any moment."""
    made = yard("one", "two")
    study = made.folder / "studies" / "asleep.yaml"
    study.write_text(study.read_text().replace("blocks: 2", "blocks: 25"))
    start = {
        "home": made.home,
        "one": partial(made.worker, "one"),
        "two": partial(made.worker, "two"),
    }
    running = {name: begin() for name, begin in start.items()}
    moments = random.Random(20100223)
    seen: dict[str, list[str]] = {name: [] for name in made.testbeds}
    for _ in range(KILLS):
        time.sleep(moments.uniform(0.5, 8.0))
        name = moments.choice([*running])
        kill = moments.choice([os.kill, os.killpg])  # alone, or with the process that measures
        with contextlib.suppress(ProcessLookupError):
            kill(running[name].pid, signal.SIGKILL)
        running[name].wait()
        for testbed, before in seen.items():
            assert {*before} <= {*made.here(testbed)}, "a trial that was here is gone"
            seen[testbed] = made.here(testbed)
        running[name] = start[name]()
    for _ in range(LAST_STARTS):
        for folder in (made.folder / "data").rglob("invalid"):
            shutil.rmtree(folder)  # or what a busy machine spoiled would be left out for good
        if running["home"].wait() == 0:
            break
        running["home"] = made.home()
    check_whole(made, monkeypatch)
