"""Base classes of live meters: those that answer requests, and those that send by themselves."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Chunk, DeviceOf, Parser
from fsgreen.trace import MeterInfo, identity_flaws


class Polled:
    """A meter that answers requests. `ask` requests an answer, or raises FsgreenError.

    Requests are due at whole intervals (`MeterInfo.rate_hz`) after the start. A request that is
    late by an interval or more is skipped, which the trace then shows as a gap. Each unchanged
    answer is a chunk.
    """

    def __init__(
        self, info: MeterInfo, ask: Callable[[], bytes], release: Callable[[], None] | None = None
    ) -> None:
        self._info = info
        self._ask = ask
        self._release = release
        self._due_s = float("inf")

    def describe(self) -> MeterInfo:
        """Return the description of the meter."""
        return self._info

    def start(self) -> None:
        """Make the first request due at the next `read`."""
        self._due_s = time.monotonic()

    def read(self, timeout_s: float) -> Chunk | None:
        """Return the next answer. Its time is the middle between the request and its arrival."""
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
        """Send no more requests."""
        self._due_s = float("inf")

    def close(self) -> None:
        """Release the resources of `ask`."""
        self.stop()
        if self._release is not None:
            self._release()


class ParserOf(Protocol):
    """The class of a parser, or a function that chooses among several."""

    def __call__(self, info: MeterInfo, /) -> Parser:
        """Return the parser of a meter, given its description."""


class Asked(Polled, ABC):
    """A polled meter that its settings identify, at opening and again at every start.

    A driver defines how to identify the meter, how to request an answer, which parser reads it, and
    what must be released. Opening identifies the meter and requests one answer. It raises
    FsgreenError if that answer has no power.
    """

    parser: ClassVar[ParserOf]

    def __init__(self, settings: Any, _: DeviceOf | None = None) -> None:
        self.settings = settings
        try:
            info = self.identify()
            super().__init__(info, self.ask, self.release)
            _refuse_powerless(info, self.parser(info), self.ask())
        except BaseException:
            self.release()
            raise

    @abstractmethod
    def identify(self) -> MeterInfo:
        """Connect if necessary, set the meter up, and return its description."""

    @abstractmethod
    def ask(self) -> bytes:
        """Request an answer, and return it unchanged."""

    def release(self) -> None:
        """Release what is open between two requests. It may be repeated."""
        return

    def start(self) -> None:
        """Identify the meter again, and make the first request due at the next `read`."""
        try:
            _refuse_another(self._info, self.identify())
        except FsgreenError:
            self.close()
            raise
        super().start()


class Streamed(ABC):
    """A meter that sends by itself over a line. If the line was lost, a start opens it again.

    The constructor of a subclass calls `_identified` and keeps the result as `_info`.
    """

    _info: MeterInfo

    @property
    @abstractmethod
    def is_open(self) -> bool:
        """Whether the line is open. A line that has failed is not."""

    @abstractmethod
    def _open(self) -> None:
        """Open the line. It may raise FsgreenError."""

    @abstractmethod
    def _identify(self) -> MeterInfo:
        """Identify the meter. It may raise FsgreenError."""

    @abstractmethod
    def _begin(self) -> None:
        """Make the meter send."""

    @abstractmethod
    def _end(self) -> None:
        """Make the meter stop sending. Raises FsgreenError if it is lost."""

    @abstractmethod
    def close(self) -> None:
        """Close the line. It may be repeated."""

    def describe(self) -> MeterInfo:
        """Return the description of the meter, as identified when it was opened."""
        return self._info

    def start(self) -> None:
        """Begin to deliver bytes. A lost meter is opened again, and must be the same one."""
        if not self.is_open:
            found = self._identified()
            try:
                _refuse_another(self._info, found)
            except FsgreenError:
                self.close()
                raise
        self._begin()

    def stop(self) -> None:
        """Stop delivering bytes. It may be called on a stopped or lost meter."""
        if self.is_open:
            try:
                self._end()
            except FsgreenError:
                self.close()

    def _identified(self) -> MeterInfo:
        self._open()
        try:
            return self._identify()
        except BaseException:
            self.close()
            raise


def _refuse_another(info: MeterInfo, found: MeterInfo) -> None:
    """Raise FsgreenError if the meter that was found is not the one that was opened."""
    if flaws := identity_flaws(info, found):
        raise FsgreenError(
            "not the same meter as before: " + "; ".join(flaw.detail for flaw in flaws),
            where=info.title,
            next_step="connect the campaign's meter again, or begin a new campaign",
        )


def _refuse_powerless(info: MeterInfo, parser: Parser, answer: bytes) -> None:
    """Raise FsgreenError if a reading of an answer has no power.

    The first answer of a counter gives no reading, which is no error.
    """
    for reading in parser.feed(Chunk(time.monotonic(), answer)):
        if reading.power_w != reading.power_w:
            raise FsgreenError(
                f"the meter answers but gives no power: {reading.quality}",
                where=f"{info.model}, {info.serial}",
                next_step=f"docs/meters/{info.driver}.md explains this mark",
            )
