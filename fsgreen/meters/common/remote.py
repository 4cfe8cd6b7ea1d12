"""Meters behind a connection that may be lost: every start identifies them anew."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.polled import Polled
from fsgreen.meters.core.base import Chunk, Parser
from fsgreen.trace import MeterInfo, identity_flaws


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
        if flaws := identity_flaws(self._info, self._link.identify()):
            self.close()
            raise FsgreenError(
                "not the same meter as before: " + "; ".join(flaw.detail for flaw in flaws),
                where=f"{self._info.model}, serial {self._info.serial}",
                next_step="connect the campaign's meter again, or begin a new campaign",
            )
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
