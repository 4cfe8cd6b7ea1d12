"""Workers, what measures for them, and home end at any moment, and no trial is lost or doubled."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from fsgreen import reduce
from tests.fleet.conftest import Yard, check_whole

pytestmark = pytest.mark.slow

by_night = pytest.mark.skipif(
    "FSGREEN_NIGHTLY" not in os.environ,
    reason="kills for half an hour: FSGREEN_NIGHTLY=1 ./run test tests/fleet/test_fleet_kills.py",
)
LAST_STARTS = 5
"""A trial that a busy machine spoiled three times is tried again at the next start."""


def blocks(yard: Yard, count: int) -> None:
    """Have the study of a yard so many blocks of two trials."""
    study = yard.folder / "studies" / "asleep.yaml"
    study.write_text(study.read_text().replace("blocks: 2", f"blocks: {count}"))


def killed(yard: Yard, kills: int) -> None:
    """Measure to the end, while at random moments processes are killed and started again."""
    start = {
        "home": yard.home,
        "one": partial(yard.worker, "one"),
        "two": partial(yard.worker, "two"),
    }
    running = {name: begin() for name, begin in start.items()}
    moments = random.Random(20100223)
    seen: dict[str, list[str]] = {name: [] for name in yard.testbeds}
    for _ in range(kills):
        time.sleep(moments.uniform(0.5, 8.0))
        name = moments.choice([*running])
        kill = moments.choice([os.kill, os.killpg])  # alone, or with the process that measures
        with contextlib.suppress(ProcessLookupError):
            kill(running[name].pid, signal.SIGKILL)
        running[name].wait()
        for testbed, before in seen.items():
            assert {*before} <= {*yard.here(testbed)}, "a trial that was here is gone"
            seen[testbed] = yard.here(testbed)
        running[name] = start[name]()
    for _ in range(LAST_STARTS):
        if running["home"].wait() == 0:
            return
        for folder in (yard.folder / "data").rglob("invalid"):
            shutil.rmtree(folder)  # or what a busy machine spoiled would be left out for good
        running["home"] = yard.home()
    assert running["home"].wait() == 0, yard.said("home")


def left_behind(folder: Path) -> list[str]:
    """What is still mounted below a folder, and loop devices with a file in it."""
    mounted = Path("/proc/self/mounts").read_text().splitlines()
    attached = subprocess.run(["losetup", "--list"], capture_output=True, text=True, check=True)
    return [line for line in (*mounted, *attached.stdout.splitlines()) if str(folder) in line]


def test_testbeds_share_the_blocks_whoever_ends(
    yard: Callable[..., Yard], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One campaign comes of it, from two machines that restart."""
    made = yard("one", "two", design="share")
    blocks(made, 3)
    killed(made, 3)
    check_whole(made, monkeypatch)
    assert reduce.write("asleep-quick")
    equal = reduce.read_table("asleep-quick", "equality")
    assert equal["equal"].all() and len(equal) == 1


@by_night
@pytest.mark.parametrize("design", ["replicate", "share"])
def test_two_hundred_kills_lose_and_double_nothing(
    yard: Callable[..., Yard], monkeypatch: pytest.MonkeyPatch, design: str
) -> None:
    """A hundred trials in all, by either design."""
    made = yard("one", "two", design=design)
    blocks(made, 50 if design == "share" else 25)
    killed(made, 200)
    check_whole(made, monkeypatch)


@by_night
@pytest.mark.loop
def test_kills_leave_nothing_mounted(
    yard: Callable[..., Yard], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system on a loop device outlives the process that mounted it."""
    made = yard("one", "two", design="share")
    blocks(made, 20)
    kept = made.folder / "quick.toml"
    kept.write_text(
        kept.read_text().replace('kind = "directory"', f'kind = "loop"\nfolder = "{made.folder}"')
    )
    killed(made, 50)
    check_whole(made, monkeypatch)
    assert left_behind(made.folder) == []
