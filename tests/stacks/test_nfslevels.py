"""What a cell of NFS may ask, and what a network is made of. test_vm_nfs.py has it in a guest."""

from __future__ import annotations

from typing import Any

import pytest
from loops import levels

from fsgreen.errors import FsgreenError
from fsgreen.stacks import filesystems, nfslevels
from fsgreen.stacks.nfslevels import Asked


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"nfs_connections": 17}, "1 to 16 connections, not 17"),
        ({"nfs_read_ahead_kib": 6}, "whole pages of 4 KiB, not 6 KiB"),
        ({"nfs_read_ahead_kib": -4}, "whole pages of 4 KiB, not -4 KiB"),
        ({"network_round_trip_ms": -1}, "0 ms or more there and back, not -1 ms"),
        ({"network_round_trip_ms": float("nan")}, "not nan ms"),
        ({"connection_mbit_s": 0}, "let nothing pass"),
        ({"connection_mbit_s": 80, "network_round_trip_ms": 10}, "asks for both"),
    ],
)
def test_what_no_client_or_network_has_is_refused(asked: dict[str, Any], said: str) -> None:
    """Tools would say so in the middle of a campaign, or take something else for it."""
    cell = levels("nfs", **asked)
    nfslevels.check(levels("nfs"), exported=True, device="vm")
    with pytest.raises(FsgreenError) as told:
        nfslevels.check(cell, exported=True, device="vm")
    assert said in told.value.what
    assert next(iter(asked)) in (told.value.where or "")


def test_levels_of_a_network_on_a_file_system_without_one_are_refused() -> None:
    """The cell would be called one with 8 connections, and have none."""
    with pytest.raises(FsgreenError, match="ext4 has no network") as told:
        nfslevels.check(levels("ext4", nfs_connections=8), exported=False, device="vm")
    assert "leave nfs_connections out" in (told.value.next_step or "")
    nfslevels.check(levels("ext4"), exported=False, device="loop")


def test_nothing_is_exported_on_a_machine_of_somebody() -> None:
    with pytest.raises(FsgreenError, match="a guest has one of its own") as told:
        nfslevels.check(levels("nfs"), exported=True, device="loop")
    assert told.value.next_step == "--testbed vm"
    usable, why = filesystems.usable_here(filesystems.file_system("nfs"))
    assert not usable and "--testbed vm" in why


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (Asked(), ""),
        (Asked(round_trip_ms=10), "netem delay 5.000000ms limit 100000"),
        (Asked(connection_mbit_s=80), "fq maxrate 80.000000mbit"),
    ],
)
def test_a_packet_is_delayed_by_half_of_a_round_trip(asked: Asked, words: str) -> None:
    """What goes there and what comes back pass the same queue."""
    assert " ".join(asked.discipline) == words
