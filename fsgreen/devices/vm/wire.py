"""The protocol between this machine and its guest: lines of JSON over virtio-serial.

On the port `CONTROL`, the guest sends `{"ready": ...}` once it is up. After that, each request has
one answer. On each port of `PROGRAMS`, one program runs at a time:

    host    {"run": [...], "now_ns": N}   then   {"in": TEXT}   {"eof": true}   {"signal": N}
    guest   {"out": TEXT}   {"err": TEXT}   {"alive": true}   and at last   {"status": N}

Bytes are sent as texts in Latin-1. A program ends when the connection of its starter ends.
"""

from __future__ import annotations

import json
import os
import select
import time
from typing import Any

CONTROL = "fsgreen.0"
PROGRAMS = tuple(f"fsgreen.{number}" for number in range(1, 5))

ALIVE_S = 5.0
"""Interval at which the guest reports that a program is still running."""

PIECE_B = 1 << 15


class Ended(Exception):
    """The other side is gone."""


def write_whole(fd: int, left: bytes) -> None:
    """Write all bytes, even if each call takes only some of them."""
    while left:
        left = left[os.write(fd, left) :]


class Channel:
    """Messages over a descriptor for reading and writing: a socket, or a port in the guest."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._unread = b""

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._fd

    def send(self, **message: Any) -> None:
        """Send a message. Raises `Ended` if the other side is gone."""
        try:
            write_whole(self._fd, json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise Ended(str(error)) from error

    def receive(self, limit_s: float | None = None) -> dict[str, Any]:
        """Return the next message.

        Raises Ended if the other side is gone. Raises TimeoutError if no message has come after
        `limit_s`.
        """
        deadline_s = None if limit_s is None else time.monotonic() + limit_s
        while b"\n" not in self._unread:
            left_s = None if deadline_s is None else max(0.0, deadline_s - time.monotonic())
            if not select.select([self._fd], [], [], left_s)[0]:
                raise TimeoutError
            self.read()
        line, _, self._unread = self._unread.partition(b"\n")
        try:
            message: dict[str, Any] = json.loads(line)
        except ValueError as error:
            raise Ended(f"not a message: {line[:80]!r}") from error
        return message

    def waiting(self) -> bool:
        """Return whether a whole message has been read already."""
        return b"\n" in self._unread

    def read(self) -> None:
        """Read the available bytes. Raises `Ended` at the end of the connection."""
        try:
            piece = os.read(self._fd, PIECE_B)
        except OSError as error:
            raise Ended(str(error)) from error
        if not piece:
            raise Ended("closed")
        self._unread += piece

    def forget(self) -> None:
        """Drop the unread bytes of a connection that has ended."""
        self._unread = b""
