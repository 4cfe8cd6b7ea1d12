"""What figures 4 to 8 and table 1 show: readers of a server, line by line."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from fsgreen.design import Cell
from fsgreen.papers.nfstricks03.experiments import NFS
from fsgreen.papers.nfstricks03.read_ahead import STRIDES
from fsgreen.papers.nfstricks03.reference import READERS, setup

Lines = Mapping[str, Mapping[int, Cell]]
"""By what a line is called, its cells by what the figure has on its abscissa."""

PARTITIONS = ("ide1", "ide4", "scsi1 tags", "scsi4 tags", "scsi1 no tags", "scsi4 no tags")


def has_server(trials: pd.DataFrame) -> bool:
    """Return whether some trials are of readers of a server."""
    return NFS in set(trials["workload"])


def figure_lines() -> dict[str, Lines]:
    """Return the lines of each figure; the factors of the study must be known."""
    return {
        "4": {name: _by_readers(name, transport="udp") for name in PARTITIONS},
        "5": {name: _by_readers(name, transport="tcp") for name in PARTITIONS},
        "6": {
            "always": _by_readers("ide1", heuristic="always"),
            "default, small table": _by_readers("ide1", table="small"),
            "default, 64 slots": _by_readers("ide1"),
            "always, busy client": _by_readers("ide1", heuristic="always", busy_loops=4),
            "default, small table, busy client": _by_readers("ide1", table="small", busy_loops=4),
        },
        "7": {
            "always": _by_readers("ide1", heuristic="always"),
            "default, large table": _by_readers("ide1", table="large"),
            "SlowDown, large table": _by_readers("ide1", table="large", heuristic="slowdown"),
            "default, 64 slots": _by_readers("ide1"),
            "default, small table": _by_readers("ide1", table="small"),
            "SlowDown, small table": _by_readers("ide1", table="small", heuristic="slowdown"),
        },
        "8": {
            f"{disk} {name}": _by_strides(place, heuristic)
            for disk, place in (("ide1", "ide1"), ("scsi1", "scsi1 tags"))
            for name, heuristic in (("default", "default"), ("cursor", "cursors"))
        },
    }


def _of_server(cell: Cell, **levels: str | int) -> Cell:
    served = {"heuristic": "default", "table": "freebsd4", "transport": "udp", **levels}
    return cell.but(workload=NFS, **served)


def _by_readers(name: str, **levels: str | int) -> dict[int, Cell]:
    return {n: _of_server(setup(name, n), **levels) for n in READERS}


def _by_strides(name: str, heuristic: str) -> dict[int, Cell]:
    one = setup(name, 1)
    return {n: _of_server(one, heuristic=heuristic, strides=n) for n in STRIDES}
