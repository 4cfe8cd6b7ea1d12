"""Meters that send by themselves, over a line that may be lost: a start then opens it anew."""

from __future__ import annotations

from abc import ABC, abstractmethod

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.base import refuse_another
from fsgreen.trace import MeterInfo


class Streamed(ABC):
    """One meter; who makes it calls `_identified` and keeps the result as `_info`."""

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
                refuse_another(self._info, found)
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
