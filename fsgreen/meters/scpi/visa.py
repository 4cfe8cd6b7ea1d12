"""A connection to an instrument over VISA; every failure says what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from fsgreen.errors import FsgreenError

TIMEOUT_MS = 3000
MAX_ERRORS = 20


class Visa:
    """The instrument at the VISA `resource`, through the VISA `library`; connected when needed.

    The connection ends after a failure, because a late answer would be taken for the answer to the
    next question.
    """

    def __init__(self, resource: str, library: str) -> None:
        self._resource = resource
        self._library = library
        self._line: Any = None

    @property
    def connected(self) -> bool:
        """Whether there is a connection."""
        return self._line is not None

    def connect(self) -> None:
        """Connect, if there is no connection."""
        if self.connected:
            return
        import pyvisa

        try:
            self._line = pyvisa.ResourceManager(self._library).open_resource(
                self._resource,
                read_termination="\n",
                write_termination="\n",
                timeout=TIMEOUT_MS,
                open_timeout=TIMEOUT_MS,
            )
        except Exception as error:  # PyVISA-py raises plain exceptions if it cannot connect.
            raise self.error(
                f"the analyzer cannot be reached: {error}",
                "check its power, its cable and the setting resource; pyvisa-info tells what "
                "PyVISA finds here",
            ) from error

    def write(self, command: str) -> None:
        """Send a command."""
        with self._told():
            self._line.write(command)

    def ask(self, question: str) -> bytes:
        """Return the answer to a question, with its end of line."""
        with self._told():
            self._line.write(question)
            return bytes(self._line.read_raw())

    def query(self, question: str) -> str:
        """Return the answer to a question as text."""
        return self.ask(question).decode("latin-1").strip()

    def check_errors(self) -> None:
        """Empty the instrument's list of errors; raises FsgreenError if it holds one."""
        errors = []
        for _ in range(MAX_ERRORS):
            answer = self.query(":STATUS:ERROR?")
            if answer.partition(",")[0].strip().lstrip("+-") == "0":
                break
            errors.append(answer)
        if errors:
            raise self.error(
                f"the analyzer reports: {'; '.join(errors)}",
                "set what its manual allows (docs/meters/scpi.md)",
            )

    def close(self) -> None:
        """End the connection. It may be repeated."""
        if self._line is not None:
            # An instrument that has vanished cannot be told to close.
            with suppress(Exception):
                self._line.close()
            self._line = None

    def error(self, what: str, next_step: str) -> FsgreenError:
        """Return an error about this instrument."""
        return FsgreenError(what, where=self._resource, next_step=next_step)

    @contextmanager
    def _told(self) -> Iterator[None]:
        import pyvisa

        try:
            yield
        except (pyvisa.errors.Error, OSError) as error:
            self.close()
            raise self.error(
                f"the analyzer does not answer: {error}",
                "check its power and cable; look at its display for an error",
            ) from error
