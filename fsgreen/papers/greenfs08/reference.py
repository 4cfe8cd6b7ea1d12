"""What greenfs08 prints: its tables, and what equation 1 makes of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from fsgreen.analysis.printed import PrintedPaper, by

PAPER = "greenfs08"

DISKS = {
    "server_hdd": "greenfs08-server",
    "desktop_hdd": "greenfs08-desktop",
    "notebook_hdd": "greenfs08-notebook",
}
"""Disks of table 2, and the simulated ones that are made of it."""

NETWORKS = ("gigabit_ethernet", "100mbps_ethernet", "802.11g")
TRACES = ("JEFF", "PURCELL")
TRIPS = ("elevator", "stairs")


@dataclass(frozen=True)
class Way:
    """A way for data: a disk that is stopped, or a network interface that is off.

    `name` is as table 2 has it. `startup_j` is the energy until it is ready; power and bandwidth,
    in 10^6 bytes a second, are those while it transfers.
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


class Printed(PrintedPaper):
    """Tables 1 to 6, the values of figures 4 and 5 and the method of greenfs08."""

    paper = PAPER

    costs = by("device", 1)
    """Table 1: price, power and cost of power of a disk."""

    @cached_property
    def ways(self) -> dict[str, Way]:
        """Table 2: what it takes to move data, by device."""
        rows = self.table(2)[["device", "startup_energy_j", "power_w", "bandwidth_mb_s"]]
        return {row[0]: Way(*row) for row in rows.itertuples(index=False, name=None)}

    traces = by("trace", 3)
    """Table 3: operations, hours, share of updates and working set."""

    idle = by("system", 4)
    """Table 4: watts of idle systems with their disk and without."""

    trips = by("trip", 5)
    """Table 5: how long disks were protected on two ways through a building."""

    benefits = by("benefit", 6)
    """Table 6: what is of use to whom."""
