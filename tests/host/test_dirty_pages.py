"""The limit of dirty pages: bytes and a percentage are one setting of the kernel."""

from __future__ import annotations

import os

import pytest

from fsgreen import host
from fsgreen.audit import HERE, machine


@pytest.mark.skipif(os.geteuid() != 0, reason="changes the kernel's limit: run as root")
@pytest.mark.parametrize("value", ["268435456", "7%"])
def test_this_machine_has_its_limit_back_whichever_way_it_was_given(value: str) -> None:
    """A percentage that came back as bytes of 0 would let every writer wait."""
    before = machine.dirty_limit(HERE)
    with host.applied([f"dirty={value}"]):
        assert machine.dirty_limit(HERE) == value
    assert machine.dirty_limit(HERE) == before
