"""Meters that answer when they are asked: one question an interval, whose raw answer is a chunk."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Chunk, Parser, refuse_another
from fsgreen.trace import MeterInfo


class Polled:
    """A meter that `ask` asks; it raises FsgreenError where the meter does not answer.

    Questions are due at whole intervals (`MeterInfo.rate_hz`) after the start; those that time has
    run over are left out, which the trace then shows as a gap.
    """

    def __init__(
        self, info: MeterInfo, ask: Callable[[], bytes], release: Callable[[], None] | None = None
    ) -> None:
        self._info = info
        self._ask = ask
        self._release = release
        self._due_s = float("inf")

    def describe(self) -> MeterInfo:
        """Return what the meter is."""
        return self._info

    def start(self) -> None:
        """Ask for the first time at the next `read`."""
        self._due_s = time.monotonic()

    def read(self, timeout_s: float) -> Chunk | None:
        """Return the next answer with the time in the middle of its question and arrival."""
        now_s = time.monotonic()
        time.sleep(max(0.0, min(self._due_s - now_s, timeout_s)))
        asked_s = time.monotonic()
        if asked_s < self._due_s:
            return None
        answer = self._ask()
        answered_s = time.monotonic()
        interval_s = 1 / self._info.rate_hz
        self._due_s += interval_s * (1 + (answered_s - self._due_s) // interval_s)
        return Chunk((asked_s + answered_s) / 2, answer)

    def stop(self) -> None:
        """Ask no more."""
        self._due_s = float("inf")

    def close(self) -> None:
        """Release what `ask` uses."""
        self.stop()
        if self._release is not None:
            self._release()


class Link(Protocol):
    """The way to one meter. Every method may raise FsgreenError."""

    def identify(self) -> MeterInfo:
        """Connect where there is no connection, set the meter up, and return what it is."""
        ...

    def ask(self) -> bytes:
        """Return the meter's answer as it came."""
        ...

    def close(self) -> None:
        """Let the connection go; harmless when repeated."""
        ...


class Connectionless:
    """A link that holds nothing open between two questions."""

    def close(self) -> None:
        """Do nothing."""


class Remote(Polled):
    """A meter that is asked over `link`.

    Opening identifies the meter and asks it once. It raises FsgreenError where the answer, as
    `parser` reads it, holds no power.
    """

    def __init__(self, link: Link, parser: Callable[[MeterInfo], Parser]) -> None:
        self._link = link
        try:
            info = link.identify()
            super().__init__(info, link.ask, link.close)
            _refuse_powerless(info, parser(info), link.ask())
        except BaseException:
            link.close()
            raise

    def start(self) -> None:
        """Identify the meter again, and ask for the first time at the next `read`."""
        try:
            refuse_another(self._info, self._link.identify())
        except FsgreenError:
            self.close()
            raise
        super().start()


def _refuse_powerless(info: MeterInfo, parser: Parser, answer: bytes) -> None:
    """Raise where an answer gives no power; a counter gives no reading at its first answer."""
    for reading in parser.feed(Chunk(time.monotonic(), answer)):
        if reading.power_w != reading.power_w:
            raise FsgreenError(
                f"the meter answers but gives no power: {reading.quality}",
                where=f"{info.model}, {info.serial}",
                next_step=f"docs/meters/{info.driver}.md tells what that means",
            )
