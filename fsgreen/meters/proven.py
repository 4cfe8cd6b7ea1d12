"""Meters that need no connection, and a first question that shows whether a meter gives power."""

from __future__ import annotations

import time
from collections.abc import Callable

from fsgreen.errors import FsgreenError
from fsgreen.meters.base import Chunk, Parser
from fsgreen.meters.remote import Link, Remote
from fsgreen.trace import MeterInfo


class Unconnected:
    """The way to a meter that holds nothing open between two questions."""

    def close(self) -> None:
        """Do nothing."""


class Proven(Remote):
    """A meter that is asked once when it is opened, so that one without power is known at once."""

    def __init__(self, link: Link, parser: Callable[[MeterInfo], Parser]) -> None:
        super().__init__(link)
        try:
            _refuse_powerless(self._info, parser(self._info), link.ask())
        except BaseException:
            self.close()
            raise


def _refuse_powerless(info: MeterInfo, parser: Parser, answer: bytes) -> None:
    """A counter may give no reading yet; another meter must give a power."""
    for reading in parser.feed(Chunk(time.monotonic(), answer)):
        if reading.power_w != reading.power_w:
            raise FsgreenError(
                f"the meter answers but gives no power: {reading.quality}",
                where=f"{info.model}, {info.serial}",
                next_step=f"docs/meters/{info.driver}.md tells what that means",
            )
