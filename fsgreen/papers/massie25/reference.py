"""What massie25 varies and prints, as its method and text have them."""

from __future__ import annotations

from fsgreen.analysis.printed import PrintedPaper
from fsgreen.design import Cell

PAPER = "massie25"

ROCKSDB = "rocksdb"
"""The workload of figures 7 to 9."""

FILE_SYSTEMS = ("ext4", "xfs", "f2fs")
PATTERNS = ("randread", "read", "randwrite", "write", "randrw")
"""The columns of figures 1 to 6, in fio's words."""
WRITING = ("randwrite", "write", "randrw")
REQUESTS_KIB = (128, 4)
PROCESSES = (1, 4, 8)
MIXES = ("a", "b", "c", "d", "e", "f")
"""The columns of figures 7 to 9: the core workloads of YCSB."""
THREADS = (1, 4, 8)


class Printed(PrintedPaper):
    """The values of the figures and the method of massie25."""

    paper = PAPER


def requests(file_system: str, pattern: str, request_kib: int, processes: int) -> Cell:
    """Return the cell of an experiment with fio on a file system, mounted as it was there."""
    return Cell(
        workload="fio",
        file_system=file_system,
        option="noatime",
        pattern=pattern,
        request_kib=request_kib,
        processes=processes,
    )
