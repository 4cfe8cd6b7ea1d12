"""What tests that mount a GreenFS volume ask first."""

import os
from pathlib import Path

import pytest

from fsgreen import paths


def needs_a_mount() -> None:
    """Skip where nothing can be mounted."""
    if paths.program("greenfs") is None:
        pytest.skip("needs the program greenfs: run ./run engine")
    if not Path("/dev/fuse").exists():
        pytest.skip("needs /dev/fuse: modprobe fuse")
    if os.geteuid() and paths.program("fusermount3") is None:
        pytest.skip("needs fusermount3: apt-get install fuse3")
