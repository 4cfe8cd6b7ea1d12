"""Asking a disk in software: one JSON object a line over the control socket of its server.

The server is the program `fsgreen-simdisk serve`; docs/simdisk.md lists what it can be asked.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fsgreen import processes
from fsgreen.errors import FsgreenError

SCHEDULERS = ("fifo", "elevator", "n-cscan", "sstf", "deadline", "cfq", "bfq")
"""Of the simulator: what kernels have, had, or never had."""

PROGRAM = "fsgreen-simdisk"

TIMEOUT_S = 30.0
"""How long an answer may take: a change of clock waits until nothing is under way on the disk."""

LONGEST_B = 1 << 20


class Control:
    """The control socket of one server. Each question has a connection of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def ask(self, do: str, *, limit_s: float = TIMEOUT_S, **details: Any) -> dict[str, Any]:
        """Return the answer to one question.

        Raises FsgreenError if no server answers within `limit_s`, or it refuses: in its own words.
        """
        line = self.line(do, limit_s=limit_s, **details)
        try:
            answer = json.loads(line)
            refused = not answer["ok"]
        except (ValueError, LookupError, TypeError) as error:
            raise self._silent(f"its answer to {do} is not one: {line[:80]!r}") from error
        if refused:
            raise FsgreenError(
                f"the simulated disk refused {do}: {answer.get('what', 'it does not say why')}",
                where=self.path,
                next_step=answer.get("next"),
            )
        answered: dict[str, Any] = answer
        return answered

    def line(self, do: str, *, limit_s: float = TIMEOUT_S, **details: Any) -> bytes:
        """Return the answer to one question as it came; raises FsgreenError where none comes."""
        question = json.dumps({"do": do, **details}).encode() + b"\n"
        try:
            with self._connection() as server:
                server.settimeout(limit_s)
                server.sendall(question)
                received = b""
                while not received.endswith(b"\n"):
                    part = server.recv(1 << 16)
                    if not part or len(received) > LONGEST_B:
                        raise self._silent(f"its answer to {do} was cut")
                    received += part
                return received
        except OSError as error:
            raise self._silent(f"{do}: {error.strerror or error}") from error

    def processor_s(self) -> tuple[float, float]:
        """Return the seconds in user and in system mode that the server has had so far.

        Raises FsgreenError where there is no server.
        """
        try:
            with self._connection() as connection:
                size_b = struct.calcsize("3i")
                of_peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size_b)
            pid, _, _ = struct.unpack("3i", of_peer)
            server = processes.of(pid)
        except OSError as error:
            raise self._silent(f"{error.strerror or error}") from error
        return server.user_s, server.system_s

    @contextmanager
    def storing(self) -> Iterator[None]:
        """Raise `FsgreenError` if data find no room below meanwhile, rather than what comes of it.

        Raised too where no server answers at the end.
        """
        try:
            yield
        except FsgreenError:
            self._check_store()
            raise
        self._check_store()

    def _check_store(self) -> None:
        fault = self.ask("describe")["store_fault"]
        if fault is not None:
            raise FsgreenError(
                f"the simulated disk lost data: {fault}",
                where=self.path.parent,
                next_step="free space there, name another place with --folder, or lower image_mib "
                "in the profile; then start the same command again",
            )

    def _connection(self) -> socket.socket:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            server.settimeout(TIMEOUT_S)
            server.connect(str(self.path))
        except BaseException:
            server.close()
            raise
        return server

    def _silent(self, why: str) -> FsgreenError:
        return FsgreenError(
            f"the simulated disk does not answer: {why}",
            where=self.path,
            next_step="start the same command again; fsgreen doctor says what is missing",
        )
