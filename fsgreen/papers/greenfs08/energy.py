"""Equation 1 of greenfs08: what it takes to move data, and where the network is cheaper."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    """A way for data: a disk that is stopped, or a network interface that is off.

    Attributes
    ----------
    name : str
        As table 2 has it.
    startup_j : float
        Energy until it is ready.
    power_w, bandwidth_mb_s : float
        While it transfers; 10^6 bytes a second.
    """

    name: str
    startup_j: float
    power_w: float
    bandwidth_mb_s: float

    @property
    def per_mb_j(self) -> float:
        """Return the energy of a further megabyte."""
        return self.power_w / self.bandwidth_mb_s

    def energy_j(self, size_mb: float) -> float:
        """Return the energy of a transfer: U = U_up + P S / B (equation 1)."""
        return self.startup_j + self.per_mb_j * size_mb


def crossover_mb(disk: Way, network: Way) -> float:
    """Return the size up to which a network costs less than a stopped disk, in MB.

    Infinite where it always does. What the server at the other end takes is not counted, as in
    greenfs08.
    """
    saved_j = disk.startup_j - network.startup_j
    dearer_j = network.per_mb_j - disk.per_mb_j
    if dearer_j <= 0:
        return math.inf if saved_j > 0 else 0.0
    return max(saved_j / dearer_j, 0.0)
