"""What sun14 varies and prints, as its tables and text have them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from fsgreen.analysis.printed import PrintedPaper, by
from fsgreen.design import Cell

PAPER = "sun14"

WORKLOADS = ("varmail", "fileserver", "webserver")
FILE_SYSTEMS = ("ext2", "ext3", "nilfs2", "reiserfs", "xfs")
OF_A_GUEST = {"nilfs2": "NILFS2", "reiserfs": "ReiserFS"}
"""Those that many kernels of today lack, so that a guest has them, by name as people write it."""
SCHEDULERS = ("cfq", "deadline", "none")
"""Those of the paper; its NOOP is `none`."""
SCHEDULER_NAME = {
    "cfq": "CFQ",
    "deadline": "Deadline",
    "none": "NOOP",
    "bfq": "BFQ",
    "mq-deadline": "mq-deadline",
}
DRIVES = ("SSD-I", "SSD-S", "SSD-K")

PRINTED_ON = ("fileserver", "cfq")
"""What table 3 prints: one workload under one scheduler."""

Pair = tuple[str, str]
"""A file system and a scheduler."""

LEADERS: Mapping[str, Mapping[str, Pair]] = {
    "varmail": {
        "efficiency": ("ext2", "cfq"),
        "power": ("ext2", "cfq"),
        "throughput": ("ext3", "none"),
    },
    "fileserver": {
        "efficiency": ("ext2", "deadline"),
        "throughput": ("ext2", "deadline"),
        "power": ("nilfs2", "cfq"),
    },
    "webserver": {
        "efficiency": ("ext3", "cfq"),
        "throughput": ("ext2", "none"),
        "power": ("nilfs2", "cfq"),
    },
}
"""The pairs of SSD-I that lead in print, by workload and metric; by power, that with the least."""


class Printed(PrintedPaper):
    """Tables 1 to 3, the values of the figures and the method of sun14."""

    paper = PAPER

    table1 = by("ssd", 1)
    """The three drives."""

    table2 = by("workload", 2)
    """The workloads."""

    table3 = by("fs", 3)
    """Power, operations a second and AI on the file server under CFQ."""


def pair(workload: str, file_system: str, scheduler: str) -> Cell:
    """Return the cell of a file system with a scheduler under one of sun14's workloads."""
    return Cell(
        workload=f"{workload}-sun14", file_system=file_system, option="default", scheduler=scheduler
    )


def pairs(workload: str) -> list[Cell]:
    """Return all fifteen pairs of a workload."""
    return [pair(workload, *one) for one in product(FILE_SYSTEMS, SCHEDULERS)]
