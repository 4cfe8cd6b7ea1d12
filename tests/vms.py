"""What tests of guests share: a guest where one can be had, else the reason to skip."""

import os

import pytest

from fsgreen.devices.base import GuestAsked
from fsgreen.devices.vm import boot, image
from fsgreen.errors import FsgreenError

DISK_B = 256 << 20
EMULATED = GuestAsked(clock="tcg")

nightly = pytest.mark.skipif(
    "FSGREEN_NIGHTLY" not in os.environ,
    reason="takes minutes: FSGREEN_NIGHTLY=1 ./run test tests/devices/vm tests/testbeds "
    "tests/campaign/test_vm.py",
)


def need_guest() -> image.Image:
    """The image of the guest; skips where it, or QEMU, cannot be had."""
    try:
        boot.require()
        return image.ensure()
    except FsgreenError as error:
        pytest.skip(f"needs a guest: {error.what}; {error.next_step}")
