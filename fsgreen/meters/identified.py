"""Polled meters that are identified again at every start: a counter of another part is no good."""

from __future__ import annotations

import time
from collections.abc import Callable

from fsgreen.errors import FsgreenError
from fsgreen.meters.base import Chunk, Parser
from fsgreen.meters.polled import Polled
from fsgreen.trace import MeterInfo, identity_flaws


class Identified(Polled):
    """A polled meter that `identify` describes; at each start it must be the same (rule 21).

    It is asked once when it is opened: one that gives no power is known before a trial begins.
    """

    def __init__(
        self,
        identify: Callable[[], MeterInfo],
        ask: Callable[[], bytes],
        parser: Callable[[MeterInfo], Parser],
        release: Callable[[], None] | None = None,
    ) -> None:
        try:
            info = identify()
            _refuse_powerless(info, parser(info), ask())
        except BaseException:
            if release is not None:
                release()
            raise
        super().__init__(info, ask, release)
        self._identify = identify

    def start(self) -> None:
        """Identify the meter, and ask for the first time at the next `read`."""
        if flaws := identity_flaws(self._info, self._identify()):
            self.close()
            raise FsgreenError(
                "not the same meter as before: " + "; ".join(flaw.detail for flaw in flaws),
                where=self._info.model,
                next_step="bring the campaign's meter back, or begin a new campaign",
            )
        super().start()


def _refuse_powerless(info: MeterInfo, parser: Parser, answer: bytes) -> None:
    """A counter may give no reading yet; another meter must give a power."""
    for reading in parser.feed(Chunk(time.monotonic(), answer)):
        if reading.power_w != reading.power_w:
            raise FsgreenError(
                f"the meter answers but gives no power: {reading.quality}",
                where=f"{info.model}, {info.serial}",
                next_step=f"docs/meters/{info.driver}.md tells what that means",
            )
