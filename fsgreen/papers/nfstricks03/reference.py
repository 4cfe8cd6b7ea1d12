"""What nfstricks03 measured on, by the names of its figures, and what it prints."""

from __future__ import annotations

from functools import cache

from fsgreen.analysis.claims.declared import cells_of
from fsgreen.analysis.claims.kinds import Levels
from fsgreen.analysis.printed import PrintedPaper
from fsgreen.design import Cell
from fsgreen.papers.nfstricks03.experiments import EIGHT

PAPER = "nfstricks03"

READERS = (1, 2, 4, 8, 16, 32)
FILE_SYSTEMS = ("ext2", "ext4", "xfs")
"""Those that the eight readers of figure 3 are run on; the others of the paper on the first."""

FIGURE_1 = ("ide1", "ide4", "scsi1 tags", "scsi4 tags")
FIGURE_2 = ("scsi1 tags", "scsi4 tags", "scsi1 no tags", "scsi4 no tags")
FIGURE_3 = ("ide1", "scsi1 no tags", "scsi1 tags")
"""Series by disk, partition and queue (`cells.yaml`); figure 3 has each with both schedulers."""


class Printed(PrintedPaper):
    """The values of the figures and the method of nfstricks03."""

    paper = PAPER


def setup(
    name: str, readers: int = EIGHT, scheduler: str = "elevator", file_system: str = FILE_SYSTEMS[0]
) -> Cell:
    """Return the setup of a series: `ide1`, `scsi4 tags`, `scsi1 no tags`."""
    return Cell(**_series()[name]).but(
        scheduler=scheduler, readers=readers, file_system=file_system
    )


@cache
def _series() -> dict[str, Levels]:
    return cells_of(PAPER)
