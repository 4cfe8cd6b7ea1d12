"""What this machine and its guest say to each other, also when one of them says nonsense."""

import os
import socket
from collections.abc import Iterator

import pytest

from fsgreen.devices.vm.wire import Channel, Ended


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    both = socket.socketpair()
    yield both
    for end in both:
        end.close()


def test_messages_arrive_whole_and_in_order(ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    channel = Channel(here.fileno())
    Channel(there.fileno()).send(out="\n\x00\xff")
    there.sendall(b'{"a": 1}\n{"b"')
    assert channel.receive(1) == {"out": "\n\x00\xff"}
    assert channel.waiting()
    assert channel.receive(1) == {"a": 1}
    assert not channel.waiting()
    there.sendall(b": 2}\n")
    assert channel.receive(1) == {"b": 2}


def test_a_guest_that_says_nothing_is_told_from_one_that_has_gone(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    """A hang and an end are reported in different words."""
    here, there = ends
    channel = Channel(here.fileno())
    with pytest.raises(TimeoutError):
        channel.receive(0.01)
    there.sendall(b'{"half": ')
    there.close()
    with pytest.raises(Ended, match="closed"):
        channel.receive(1)
    with pytest.raises(Ended):
        channel.send(do="ping")


def test_garbage_ends_the_connection(ends: tuple[socket.socket, socket.socket]) -> None:
    """A kernel that writes its panic into the line is not taken for an answer."""
    here, there = ends
    there.sendall(b"Kernel panic - not syncing\n")
    with pytest.raises(Ended, match="not a message: b'Kernel panic"):
        Channel(here.fileno()).receive(1)


def test_what_was_read_of_a_lost_connection_is_no_part_of_the_next(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    here, there = ends
    channel = Channel(here.fileno())
    os.write(there.fileno(), b'{"half": ')
    channel.read()
    channel.forget()
    os.write(there.fileno(), b'{"whole": 1}\n')
    assert channel.receive(1) == {"whole": 1}
