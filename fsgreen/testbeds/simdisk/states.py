"""The states of a simulated disk below a file system: initial and steady.

A disk that rotates remembers nothing but what is in its caches, which the simulator empties before
each trial: initial does nothing there, and steady differs in the label only. An SSD remembers what
was written: it is discarded for initial, and for steady then written in full twice, by its model,
as SNIA's performance test specification asks.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from fsgreen.testbeds import guard
from fsgreen.testbeds.base import DeviceState
from fsgreen.testbeds.states import BLKDISCARD, Written


class SimulatedStates(Written):
    """Makes the states of a loop device on a simulated disk.

    Parameters
    ----------
    device, image : Path
        The loop device, not mounted whenever a method is called, and the disk's file behind it.
    size_b : int
        Its size in bytes.
    remembers : bool
        Whether the disk remembers what was written, as an SSD does.
    in_its_time : callable
        Gives a context in which the disk takes its time instead of none.
    """

    def __init__(
        self,
        device: Path,
        image: Path,
        size_b: int,
        *,
        remembers: bool,
        in_its_time: Callable[[], AbstractContextManager[None]],
    ) -> None:
        super().__init__(device, image, size_b)
        self._remembers = remembers
        self._in_its_time = in_its_time

    def initial(self) -> DeviceState:
        """Discard all of an SSD; nothing is done to a disk."""
        discarded_b = 0
        if self._remembers:
            before_b = self._counters.discarded_b()
            fd = guard.open_to_overwrite(self._device, image=self._image)
            try:
                with self._in_its_time():
                    fcntl.ioctl(fd, BLKDISCARD, struct.pack("=QQ", 0, self._size_b))
            finally:
                os.close(fd)
            discarded_b = self._counters.discarded_b() - before_b
        return DeviceState("initial", 0, discarded_b)

    def steady(self) -> DeviceState:
        """Write all of a disk once; of an SSD twice after it was discarded, by its model."""
        before, before_b = self.initial(), self._counters.written_b()
        if self._remembers:
            with self._in_its_time():
                self._fill()
                self._fill()
        else:
            self._fill()
        return DeviceState("steady", self.require_written(before_b), before.discarded_b)

    def close_holes(self) -> None:
        """Do nothing: a sector that was never written is as fast as any other."""
