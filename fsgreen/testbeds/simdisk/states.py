"""The states of a simulated disk below a file system: initial and steady.

A disk that rotates remembers nothing but what is in its caches, which the simulator empties before
each trial: initial does nothing, and steady, written in full, differs from it in the label only.
"""

from __future__ import annotations

from fsgreen.testbeds.base import DeviceState
from fsgreen.testbeds.states import SIMULATED, Written


class SimulatedStates(Written):
    """Makes the states of a loop device on a simulated disk; see `Written`."""

    def initial(self) -> DeviceState:
        """Do nothing: there is nothing that the disk could forget."""
        return DeviceState("initial", 0, 0, self._size_b, SIMULATED)

    def steady(self) -> DeviceState:
        """Write all of it once."""
        before_b = self._counters.written_b()
        self._fill()
        written_b = self.require_written(before_b)
        return DeviceState("steady", written_b, 0, self._size_b, SIMULATED)

    def close_holes(self) -> None:
        """Do nothing: a sector that was never written is as fast as any other."""
