"""The disks that are served for tests of the testbed, and what that takes."""

import os
from pathlib import Path

import pytest

from fsgreen import paths
from fsgreen.simdisk import PROGRAM

IDE, SCSI = "wd200bb", "ddys-t36950n"
SIZE_B = 320 << 20

needs_disk = pytest.mark.skipif(
    os.geteuid() != 0 or paths.program(PROGRAM) is None or not Path("/dev/fuse").exists(),
    reason="serves a disk through FUSE: as root, with the engine built (./run engine)",
)
