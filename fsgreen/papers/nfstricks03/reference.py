"""What nfstricks03 measured on, by the names of its figures, and what it prints."""

from __future__ import annotations

from collections.abc import Mapping

from fsgreen.analysis.printed import PrintedPaper
from fsgreen.design import Cell

READERS = (1, 2, 4, 8, 16, 32)
EIGHT = 8
"""Readers of figure 3."""

DISKS: Mapping[str, str] = {"ide": "wd200bb", "scsi": "ddys-t36950n"}
"""The simulated disks by what the paper calls them."""

TAGS = 64
"""Depth of the tagged queue of the SCSI disk; the IDE disk has none."""

OUTER, INNER = 1, 4

FIGURE_1 = ("ide1", "ide4", "scsi1 tags", "scsi4 tags")
FIGURE_2 = ("scsi1 tags", "scsi4 tags", "scsi1 no tags", "scsi4 no tags")
FIGURE_3 = ("ide1", "scsi1 no tags", "scsi1 tags")
"""Series by disk, partition and queue; figure 3 has each with both schedulers."""


class Printed(PrintedPaper):
    """The values of the figures and the method of nfstricks03."""

    paper = "nfstricks03"


def setup(name: str, readers: int = EIGHT, scheduler: str = "elevator") -> Cell:
    """Return the setup of a series: `ide1`, `scsi4 tags`, `scsi1 no tags`."""
    place, _, queue = name.partition(" ")
    depth = TAGS if queue == "tags" else 1
    return Cell(
        disk=DISKS[place[:-1]],
        partition=int(place[-1]),
        queue_depth=depth,
        scheduler=scheduler,
        readers=readers,
    )
