"""What every test shares: deterministic properties, no window, no user configuration."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("fsgreen", deadline=None, derandomize=True)
settings.load_profile("fsgreen")

os.environ["MPLBACKEND"] = "Agg"
os.environ["COLUMNS"] = "100"
# A shell starts background jobs with Ctrl-C ignored, and they pass that on to the harnesses here.
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["JUPYTER_PLATFORM_DIRS"] = "1"


ALONE = (
    "bench",
    "calibration",
    "campaign",
    "cli",
    "host",
    "meters",
    "test_notebooks.py",
    "testbeds",
    "view",
    "workloads",
)
"""Tests that measure or wait for something real: one on the next core would disturb them."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs alone, and skip what needs root, saying how to run it."""
    skip = pytest.mark.skip(reason="makes loop devices: run as root (sudo ./run test -m loop)")
    for item in items:
        if item.path.relative_to(Path(__file__).parent).parts[0] in ALONE:
            item.add_marker(pytest.mark.alone)
        if "loop" in item.keywords and os.geteuid() != 0:
            item.add_marker(skip)
