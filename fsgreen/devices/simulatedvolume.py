"""The sectors of a simulated disk, and their states: initial and steady."""

from __future__ import annotations

from fsgreen.devices.volume import DeviceState, Volume

SIMULATED = "no state to restore on a simulated disk, which remembers no writes"


class SimulatedVolume(Volume):
    """A part of a simulated disk, which has nothing that it could forget.

    A disk that rotates remembers only what is in its caches, which the simulator empties before
    each trial: steady, written in full, differs from initial in the label only.
    """

    def initial(self) -> DeviceState:
        """Do nothing."""
        return DeviceState("initial", 0, 0, self.size_b, SIMULATED)

    def steady(self) -> DeviceState:
        """Write all of it once."""
        before_b = self.queue.written_b()
        self.fill()
        return DeviceState("steady", self.require_written(before_b), 0, self.size_b, SIMULATED)
