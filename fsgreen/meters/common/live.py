"""Meters that answer when they are asked, and meters that send by themselves."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import Chunk, DeviceOf, Parser
from fsgreen.trace import MeterInfo, identity_flaws


class Polled:
    """A meter that `ask` asks; it raises FsgreenError where the meter does not answer.

    Questions are due at whole intervals (`MeterInfo.rate_hz`) after the start; those that time has
    run over are left out, which the trace then shows as a gap. An answer as it came is a chunk.
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


class ParserOf(Protocol):
    """A parser's class, or what chooses among several."""

    def __call__(self, info: MeterInfo, /) -> Parser:
        """Return the parser of a meter by its description."""


class Asked(Polled, ABC):
    """A meter that is found by its settings, and again at every start.

    A driver says how it is identified and asked, by which parser its answers are read, and what it
    holds open. Opening identifies the meter and asks it once; raises FsgreenError where the answer
    holds no power.
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
        """Connect where there is no connection, set the meter up, and return what it is."""

    @abstractmethod
    def ask(self) -> bytes:
        """Return the meter's answer as it came."""

    def release(self) -> None:
        """Let go what is open between two questions; harmless when repeated."""
        return

    def start(self) -> None:
        """Identify the meter again, and ask for the first time at the next `read`."""
        try:
            _refuse_another(self._info, self.identify())
        except FsgreenError:
            self.close()
            raise
        super().start()


class Streamed(ABC):
    """A meter that sends, over a line that may be lost: a start then opens it anew.

    Who makes it calls `_identified` and keeps the result as `_info`.
    """

    _info: MeterInfo

    @property
    @abstractmethod
    def is_open(self) -> bool:
        """Whether there is a line; one that failed is not open."""

    @abstractmethod
    def _open(self) -> None:
        """Open the line; raises FsgreenError."""

    @abstractmethod
    def _identify(self) -> MeterInfo:
        """Ask what the meter is; raises FsgreenError."""

    @abstractmethod
    def _begin(self) -> None:
        """Make the meter send."""

    @abstractmethod
    def _end(self) -> None:
        """Make the meter send no more; raises FsgreenError where it is lost."""

    @abstractmethod
    def close(self) -> None:
        """Let the line go; harmless when repeated."""

    def describe(self) -> MeterInfo:
        """Return what the meter said of itself when it was opened."""
        return self._info

    def start(self) -> None:
        """Begin to deliver; a meter that was lost is opened again and must be the same."""
        if not self.is_open:
            found = self._identified()
            try:
                _refuse_another(self._info, found)
            except FsgreenError:
                self.close()
                raise
        self._begin()

    def stop(self) -> None:
        """Cease to deliver; harmless on a stopped or lost meter."""
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
    """Raise FsgreenError where what was found is not the meter that was opened."""
    if flaws := identity_flaws(info, found):
        raise FsgreenError(
            "not the same meter as before: " + "; ".join(flaw.detail for flaw in flaws),
            where=info.title,
            next_step="connect the campaign's meter again, or begin a new campaign",
        )


def _refuse_powerless(info: MeterInfo, parser: Parser, answer: bytes) -> None:
    """Raise where an answer gives no power; a counter gives no reading at its first answer."""
    for reading in parser.feed(Chunk(time.monotonic(), answer)):
        if reading.power_w != reading.power_w:
            raise FsgreenError(
                f"the meter answers but gives no power: {reading.quality}",
                where=f"{info.model}, {info.serial}",
                next_step=f"docs/meters/{info.driver}.md explains this mark",
            )
