"""A campaign that is killed at any moment loses and doubles no trial and leaves nothing behind."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fsgreen import campaign, paths, testbeds, trial
from fsgreen.campaign import stopping

NIGHTLY = "FSGREEN_NIGHTLY" in os.environ
KILLS = 20 if NIGHTLY else 6
LEAST, MOST = 4, 6
"""Trials of two blocks, and with the third, which may hold one cell alone or both."""

LAST_STARTS = 5
"""A trial that a busy machine spoiled three times is tried again at the next start."""

HARNESS = """
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from fsgreen import campaign, design, testbeds
from fsgreen.campaign import drive
from fsgreen.devices import probe
from fsgreen.trial import HarnessCost
from tests.campaign.conftest import QUICK_METERS

HarnessCost.LIMIT_PERCENT = 50  # of a trial this short
drive.ATTEMPTS = drive.COPIES = 20  # a machine may stand still as often
probe.measurements = lambda *given, **named: {}  # or most would be killed while it probes
turns = sys.argv[2] == "in turns"
study = design.load_study("fast10")
quick = replace(
    study.profiles["quick"], matrices=("small",), blocks=2, most_blocks=3,
    idle_s=0.4, warmup_s=0.1, measure_s=2.0 if turns else 1.0, image_b=320 << 20,
    scale={"webserver": 0.005}, windows=design.Windows(2, 1.0, 2) if turns else None,
)
cells = tuple(design.Cell(workload="webserver", file_system=name) for name in ("ext4", "xfs"))
busy = {**study.bounds, "others_percent": 101, "idle_band_percent": 50}
busy["budget_percent"] = 50  # a second is short: few readings, of which the edges cut two
busy["minimum_trials"] = 2
small = replace(study, matrices={"small": cells}, profiles={"quick": quick}, bounds=busy)
plan = design.make_plan(small, "quick")
testbeds.sweep()
with ExitStack() as stack:
    bed, *beside = [
        stack.enter_context(testbeds.open_testbed(
            "loop", folder=Path(sys.argv[1]), in_memory=True, size_b=quick.image_b, scheduler="none"
        ))
        for _ in range(2 if turns else 1)
    ]
    campaign.run(plan, "killed", testbed=bed, beside=beside, meters=QUICK_METERS)
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory for the images, so that those of other harnesses do not matter."""
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="fsgreen-kills-") as folder:
        yield Path(folder)


def start(data: Path, place: Path, how: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(place), how],
        env={**os.environ, "FSGREEN_DATA": str(data)},
        stderr=subprocess.DEVNULL,
    )


def processes_of(data: Path) -> list[str]:
    """Harnesses and what they started: all inherit the folder of the data."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"FSGREEN_DATA={data}\0".encode() in (place / "environ").read_bytes():
                found.append((place / "comm").read_text().strip())
    return found


def whole(folder: Path) -> set[str]:
    found = folder / "trials"
    entries = found.iterdir() if found.is_dir() else ()
    return {entry.name for entry in entries if not entry.name.startswith(".")}


@pytest.mark.loop
@pytest.mark.skipif(os.geteuid() != 0, reason="makes file systems on loop devices: run as root")
@pytest.mark.skipif(
    paths.program("fsgreen-wml") is None, reason="the engine is not installed: ./run engine"
)
@pytest.mark.parametrize(
    "how",
    [
        "one by one",
        pytest.param(
            "in turns",
            marks=pytest.mark.skipif(not NIGHTLY, reason="takes minutes: set FSGREEN_NIGHTLY=1"),
        ),
    ],
)
def test_kills_lose_and_double_nothing(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    folder = paths.raw("killed")
    moments = random.Random(20100223)
    seen: set[str] = set()
    for _ in range(KILLS):
        harness = start(tmp_path, place, how)
        time.sleep(moments.uniform(0.3, 6.0))
        harness.send_signal(signal.SIGKILL)
        harness.wait()
        assert seen <= whole(folder), "a trial that was whole is gone"
        seen = whole(folder)
    killed = campaign.Campaign("killed")
    for _ in range(LAST_STARTS):
        shutil.rmtree(folder / "invalid", ignore_errors=True)  # or it would be left out for good
        status = start(tmp_path, place, how).wait()
        if not killed.pending():
            break
    assert status == 0
    found = trial.list_trials(folder)
    for one in found:
        one.verify()
    assert [one.name for one in found] == [planned.trial for planned in killed.due()]
    assert LEAST <= len(found) <= MOST
    kept = json.loads((folder / "stopping.json").read_text())
    assert kept == stopping.record(killed.plan(), killed.measured())
    assert {entry["ended"] for entry in kept["cells"]} <= {"target", "maximum"}
    assert not list((folder / "trials").glob(".*"))
    testbeds.sweep()
    mounted = Path("/proc/self/mounts").read_text()
    loops = subprocess.run(["losetup", "--list"], capture_output=True, text=True, check=True)
    assert str(place) not in mounted + loops.stdout
    assert list(place.iterdir()) == []
    assert processes_of(tmp_path) == [], "a process of a killed harness goes on"
