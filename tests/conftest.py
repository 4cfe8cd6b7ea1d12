"""What every test shares: deterministic properties, no window, no user configuration."""

import os
import signal

import pytest
from hypothesis import settings

settings.register_profile("fsgreen", deadline=None, derandomize=True)
settings.load_profile("fsgreen")

os.environ["MPLBACKEND"] = "Agg"
os.environ["COLUMNS"] = "100"
# A shell starts background jobs with Ctrl-C ignored, and they pass that on to the harnesses here.
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["JUPYTER_PLATFORM_DIRS"] = "1"
os.environ["FSGREEN_MACHINE"] = f"test-{os.getpid()}"  # its campaigns wait for no others


@pytest.fixture(scope="session")
def alone() -> None:
    """What a fixture asks for that measures something real: who uses it is marked `alone`."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A loop device is shared by all: its tests run alone, and as root or not at all."""
    skip = pytest.mark.skip(reason="makes loop devices: run as root (sudo ./run test -m loop)")
    for item in items:
        if "loop" in item.keywords or "alone" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.alone)
        if "loop" in item.keywords and os.geteuid() != 0:
            item.add_marker(skip)
