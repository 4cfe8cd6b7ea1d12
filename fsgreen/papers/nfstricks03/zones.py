"""The zones of a disk in software, as its file has them: the outermost first."""

from __future__ import annotations

import itertools
import tomllib
from dataclasses import dataclass


@dataclass(frozen=True)
class Zones:
    """Zones with their first and last place on the disk, as shares of its sectors.

    Each entry has begin, end, and sectors of a track.
    """

    entries: tuple[tuple[float, float, int], ...]

    @classmethod
    def of_file(cls, text: str) -> Zones:
        """Return the zones of a disk's file in TOML."""
        zones = tomllib.loads(text)["geometry"]["zones"]
        # Every cylinder has as many heads, so that they do not change the shares.
        sizes = [zone["cylinders"] * zone["sectors_per_track"] for zone in zones]
        edges = [0, *itertools.accumulate(sizes)]
        return cls(
            tuple(
                (begin / edges[-1], end / edges[-1], zone["sectors_per_track"])
                for (begin, end), zone in zip(itertools.pairwise(edges), zones, strict=True)
            )
        )

    def within(self, begin: float, end: float) -> Zones:
        """Return the zones that a part of the disk lies in."""
        return Zones(tuple(zone for zone in self.entries if zone[0] < end and begin < zone[1]))

    @property
    def ratio_x(self) -> float:
        """Return sectors of the outermost track over those of the innermost."""
        return self.entries[0][2] / self.entries[-1][2]
