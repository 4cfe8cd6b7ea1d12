"""What the simulator is asked for: trials of a study, and runs beside those that no trial holds."""

from __future__ import annotations

import bisect
import io
import itertools
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from fsgreen.design import DEFAULT, Cell, Plan, PlannedTrial
from fsgreen.errors import FsgreenError
from fsgreen.units import NS_PER_S, SECTOR_B

if TYPE_CHECKING:
    import pandas as pd

Report = Mapping[str, Any]
Simulate = Callable[[str], dict[str, Any]]
"""Takes an experiment in JSON and gives its report; raises ValueError for what it refuses."""

WORKLOAD, NFS = "sequential-readers", "nfs"
TOTAL_MIB = 256
"""Of all files together at scale 1 (nfstricks03, section 4.3)."""

START_WITHIN_MS = 10
"""Processes do not begin at the same moment; assumed. It is what differs from block to block."""

COPY_MB_S = 200
"""How fast a reader takes what is in memory; assumed."""

MODELS: Mapping[str, str] = {
    "elevator": "elevator",
    "n-cscan": "n-cscan",
    "sstf": "sstf",
    "none": "fifo",
    "mq-deadline": "deadline",
    "bfq": "bfq",
}
"""The model of each scheduler; of kyber there is none."""

BLOCK_KIB, ADDRESS_B = 4, 4
"""The block that mke2fs makes on 512 MiB or more (mke2fs.conf), and a block's number in the map of
ext2 (`__le32 i_block` in struct ext2_inode of the kernel)."""

MAP_KIB: Mapping[str, int] = {
    "ext2": BLOCK_KIB * 1024 // ADDRESS_B * BLOCK_KIB,
    "ext3": BLOCK_KIB * 1024 // ADDRESS_B * BLOCK_KIB,
    "ext4": 0,
    "xfs": 0,
}
"""Data that a block of a file's map stands for, which must be read before them; 0 for extents, of
which a file in one piece has few enough for its inode."""

WAIT_BLOCKS = 5
MANY = (1, 2, 4, 8, 16, 32)
EIGHT = 8
"""Readers of figure 3."""

SIZES_MIB = (64, 128, 256)
"""Of all files together: those of the profiles quick, lab and full."""


def experiment(
    plan: Plan, planned: PlannedTrial, size_mib: int | None = None
) -> dict[str, Any] | None:
    """Return a trial as the simulator takes it, None for one that it has no model of.

    `size_mib` is that of all files, where it is not that of the plan's profile.
    """
    cell, levels = planned.cell, plan.levels(planned.cell)
    scheduler, map_kib = MODELS.get(levels["scheduler"]), MAP_KIB.get(str(levels["file_system"]))
    needed = (cell.get("readers"), cell.get("disk"), scheduler, map_kib)
    works = {WORKLOAD: _readers, NFS: _served}
    if cell["workload"] not in works or levels["option"] != DEFAULT or None in needed:
        return None
    work = works[cell["workload"]](plan, planned, size_mib or total_mib(plan, cell["workload"]))
    if work is None:
        return None
    return {
        "disk": cell["disk"],
        "overrides": {"depth": cell["queue_depth"]} if "queue_depth" in cell else {},
        "scheduler": scheduler,
        "work": work,
    }


def _readers(plan: Plan, planned: PlannedTrial, size_mib: int) -> dict[str, Any]:
    """Return readers of files of the machine, as the simulator takes them."""
    cell = planned.cell
    return {
        "readers": {
            "readers": cell["readers"],
            "total_mib": size_mib,
            "map_kib": MAP_KIB[cell["file_system"]],
            "partition": cell.get("partition"),
            "copy_mb_s": COPY_MB_S,
            "start_within_ms": START_WITHIN_MS,
            "seed": planned.seed,
        }
    }


def _served(plan: Plan, planned: PlannedTrial, size_mib: int) -> dict[str, Any] | None:
    """Return readers of a server; None where it depends on what the model leaves out.

    It has one link, whose rate is that of raw TCP in nfstricks03, and a client whose requests
    arrive as it makes them: UDP stands for it, and daemons, loops and TCP have no model.
    """
    cell, options = planned.cell, plan.workloads[NFS]["options"]
    if cell["transport"] != "udp" or {"nfsiods", "busy_loops"} & cell.keys():
        return None
    slots, probes = options["tables"][cell["table"]]
    return {
        "nfs": {
            "reads": {
                "files": cell["readers"],
                "streams": cell.get("strides", 1),
                "late_percent": cell.get("late_percent", 0),
                "total_mib": size_mib,
                "seed": planned.seed,
            },
            "read_ahead": {"heuristic": cell["heuristic"], "slots": slots, "probes": probes},
            "in_flight": 1 if "strides" in cell else 1 + options["ahead"],
            "partition": cell.get("partition"),
            "start_within_ms": START_WITHIN_MS,
        }
    }


def total_mib(plan: Plan, workload: str = WORKLOAD) -> int:
    """Return the size of all files together that the plan's profile has."""
    return round(TOTAL_MIB * plan.profile.scale[workload])


def has_server(plan: Plan) -> bool:
    """Return whether a plan has readers of a server."""
    return any(cell["workload"] == NFS for cell in plan.cells)


def run(simulate: Simulate, asked: Mapping[str, Any], cell: Cell) -> Report:
    """Return what the simulator reports of an experiment.

    Raises FsgreenError if it refuses; the cell is named.
    """
    try:
        return simulate(json.dumps(asked))
    except ValueError as error:
        raise FsgreenError(
            f"{error}", where=cell.label, next_step="leave the cell out of the study's profile"
        ) from error


# --- eight readers of files of other sizes -----------------------------------------------------


def size_rows(
    simulate: Simulate, plan: Plan, trials: Iterable[PlannedTrial]
) -> Iterator[dict[str, Any]]:
    """Yield the runs of `virtual.Simulated.sizes`: trials of eight readers, at each size.

    They are what a campaign with files of that size is held against: how far the first and the last
    reader are apart depends on how many blocks of its map a file has.
    """
    eight = [planned for planned in trials if planned.cell.get("readers") == EIGHT]
    for planned, size_mib in itertools.product(eight, SIZES_MIB):
        asked = experiment(plan, planned, size_mib)
        if asked is None:
            continue
        report = run(simulate, asked, planned.cell)
        ended_s = [(of["done_ns"] - report["start_ns"]) / NS_PER_S for of in report["readers"]]
        yield {
            "block": planned.block,
            **plan.levels(planned.cell),
            "total_mib": size_mib,
            "first_s": min(ended_s),
            "last_s": max(ended_s),
        }


# --- what one request waits for -----------------------------------------------------------------


def wait_rows(simulate: Simulate, disks: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the runs of `virtual.Simulated.waits`, by a disk that takes one request at a time.

    The map of the files is in memory: nothing but the scheduler makes a request wait.
    """
    for disk, block in itertools.product(disks, range(1, WAIT_BLOCKS + 1)):
        for scheduler in ("elevator", "n-cscan"):
            whole = {"readers": 2, "total_mib": _size_mib(disks[disk])}
            report = _waited(simulate, disk, scheduler, block, whole)
            scan_s = min(reader["done_ns"] for reader in report["readers"]) / NS_PER_S
            yield _wait_row(disk, scheduler, block, report) | {"scan_s": scan_s}
        for readers in MANY:
            files = {"readers": readers, "total_mib": TOTAL_MIB, "partition": 1}
            report = _waited(simulate, disk, "n-cscan", block, files, log=True)
            queue = {"queue_requests_count": _mean_sweep(report["log"])}
            yield _wait_row(disk, "n-cscan", block, report) | queue


def _waited(
    simulate: Simulate,
    disk: str,
    scheduler: str,
    block: int,
    work: dict[str, Any],
    *,
    log: bool = False,
) -> Report:
    readers = {
        **work,
        "copy_mb_s": COPY_MB_S,
        "start_within_ms": START_WITHIN_MS,
        "seed": block,
    }
    asked = {"disk": disk, "overrides": {"depth": 1}, "scheduler": scheduler, "log": log}
    return simulate(json.dumps({**asked, "work": {"readers": readers}}))


def _wait_row(disk: str, scheduler: str, block: int, report: Report) -> dict[str, Any]:
    return {
        "disk": disk,
        "scheduler": scheduler,
        "readers": len(report["readers"]),
        "block": block,
        "response_s": report["response_ns"]["mean"] / NS_PER_S,
        "longest_s": report["response_ns"]["max"] / NS_PER_S,
    }


def _size_mib(profile: str) -> int:
    """Return the size of a disk by its file, whole MiB for two readers."""
    sectors: int = tomllib.loads(profile)["geometry"]["sectors"]
    return sectors * SECTOR_B // 2**20 // 2 * 2


def _mean_sweep(log: str) -> float:
    """Return how many requests wait when the sweep begins that a request is served in, on average.

    N-CSCAN fixes what a sweep serves when it begins: all that was issued and is not yet sent.
    """
    import pandas as pd

    served: pd.DataFrame = pd.read_csv(io.StringIO(log))
    issued_ns, sent_ns = (sorted(served[at]) for at in ("issued_ns", "sent_ns"))
    squares = done = 0
    while done < len(sent_ns):
        waiting = bisect.bisect_right(issued_ns, sent_ns[done]) - done
        squares += waiting**2
        done += waiting
    return squares / done
