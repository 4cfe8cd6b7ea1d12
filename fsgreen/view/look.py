"""How the series of the live view look, on a screen and in a picture alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fsgreen.figures.style import COLOUR
from fsgreen.trace import MeterInfo

COLOURS = tuple(COLOUR[name] for name in ("ext4", "btrfs", "xfs", "reiserfs", "ext2", "ext3"))
"""The palette of all figures, those first that stand out from a white and from a dark page."""

DASHES = ((), (6, 3), (2, 2), (8, 3, 2, 3))
"""Lengths of line and gap, so that the series differ without colour too."""


def series_of(meters: Mapping[str, MeterInfo]) -> list[dict[str, Any]]:
    """Return name, boundary, interval in seconds, colour and dashes of each meter's series."""
    return [
        {
            "name": name,
            "boundary": info.boundary,
            "interval_s": 1 / info.rate_hz,
            "colour": COLOURS[nth % len(COLOURS)],
            "dash": list(DASHES[nth % len(DASHES)]),
        }
        for nth, (name, info) in enumerate(meters.items())
    ]


def boundary_note(meters: Mapping[str, MeterInfo]) -> str:
    """Return "modelled" if any of the meters is (rule 19), else the boundaries by comma."""
    boundaries = {info.boundary for info in meters.values()}
    return "modelled" if "modelled" in boundaries else ", ".join(sorted(boundaries))
