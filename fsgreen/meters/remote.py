"""Meters behind a connection that may be lost: every start identifies them anew."""

from __future__ import annotations

from typing import Protocol

from fsgreen.errors import FsgreenError
from fsgreen.meters.polled import Polled
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


class Remote(Polled):
    """A meter that is asked over `link`; opening identifies it."""

    def __init__(self, link: Link) -> None:
        self._link = link
        try:
            info = link.identify()
        except BaseException:
            link.close()
            raise
        super().__init__(info, link.ask, link.close)

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
