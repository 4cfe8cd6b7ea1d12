"""What every test shares: deterministic properties, no window, no user configuration."""

import fcntl
import os
import re
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from fsgreen import paths
from fsgreen.devices import image, mounts

EXAMPLES = 100 if "FSGREEN_NIGHTLY" in os.environ else 40
"""What a property is tried with, where its test does not say."""

settings.register_profile("fsgreen", deadline=None, derandomize=True, max_examples=EXAMPLES)
settings.load_profile("fsgreen")

sys.modules.setdefault("rfc3987_syntax", None)  # as fsgreen.pipeline has it, and why
os.environ["MPLBACKEND"] = "Agg"
os.environ["COLUMNS"] = "100"
# A shell starts background jobs with Ctrl-C ignored, and they pass that on to the harnesses here.
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["JUPYTER_PLATFORM_DIRS"] = "1"
os.environ["FSGREEN_MACHINE"] = f"test-{os.getpid()}"  # its campaigns wait for no others

# Debian 13 has /tmp in memory, where no cache can be made cold.
if mounts.in_memory(Path(tempfile.gettempdir())):
    tempfile.tempdir = os.environ["TMPDIR"] = str(image.DISK)

LONG = ("pipeline", "notebook", "slow")
"""Marks of what takes long, the longest first."""

MAKES_LOOPS = re.compile(r"mark\.loop|needs_disk")
"""What `./run test` finds the files by in which tests are marked `loop`."""


def lacks_for_loops() -> str:
    """Why nothing that makes loop devices runs here; empty where it does."""
    if os.geteuid() != 0:
        return "makes loop devices: run as root (sudo ./run test -m loop)"
    if paths.program("mkfs.ext4") is None:
        return "makes file systems on loop devices: apt-get install e2fsprogs"
    return ""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out loop devices where none can be used, and let what takes long begin first."""
    loops = [item for item in items if item.get_closest_marker("loop")]
    if lacks := lacks_for_loops():
        for item in loops:
            item.add_marker(pytest.mark.skip(reason=lacks))
    files = {item.path for item in loops}
    if lost := [str(file) for file in files if not MAKES_LOOPS.search(file.read_text())]:
        raise pytest.UsageError(f"./run test would leave out what makes loop devices in {lost}")
    items.sort(key=lambda item: [mark not in item.keywords for mark in LONG])


def _page_cache(lock: int) -> Iterator[None]:
    """Hold this file's lock, which every process of a run of the tests can open."""
    with open(__file__) as file:
        fcntl.flock(file, lock)
        yield


@pytest.fixture
def caches_kept() -> Iterator[None]:
    """Let no other test drop the machine's caches while this one looks at what is in them."""
    yield from _page_cache(fcntl.LOCK_SH)


@pytest.fixture
def caches_dropped() -> Iterator[None]:
    """Run a workload that drops the machine's caches while no other test looks at them."""
    yield from _page_cache(fcntl.LOCK_EX)
