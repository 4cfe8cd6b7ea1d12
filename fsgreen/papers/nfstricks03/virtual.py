"""The cells of a study in virtual time: the same simulated disks, without a kernel above them.

Virtual time has schedulers that kernels no longer have, costs no waiting, and gives the same bits
each time. What it gives is kept beside the raw traces of a campaign, in `virtual/`: plain
tables, since there is no power trace, no machine and no harness whose records a trial would hold.
"""

from __future__ import annotations

import bisect
import io
import itertools
import json
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsgreen import design, paths
from fsgreen.design import Plan, PlannedTrial
from fsgreen.errors import FsgreenError
from fsgreen.trial import sha256_of, write_json

if TYPE_CHECKING:
    import pandas as pd

WORKLOAD = "sequential-readers"
TOTAL_MIB = 256
"""Of all files together at scale 1 (nfstricks03, section 4.3)."""

START_WITHIN_MS = 10
"""Processes do not begin at the same moment; assumed. It is what differs from block to block."""

MODELS: Mapping[str, str] = {
    "elevator": "elevator",
    "n-cscan": "n-cscan",
    "sstf": "sstf",
    "none": "fifo",
    "mq-deadline": "deadline",
    "bfq": "bfq",
}
"""The model of each scheduler; of kyber there is none."""

NS_PER_S, FJ_PER_J = 1e9, 1e15
SECTOR_B = 512
TABLES = ("trials", "finishes", "waits")

WAIT_BLOCKS = 5
MANY = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Simulated:
    """Runs in virtual time: their plan, and a row per trial, per reader, and per run for waits.

    `waits` is of runs beside those of the plan, on what a request waits for: `disk`, `scheduler`,
    `readers`, `block`; the mean `response_s` and the `longest_s`; of two readers of a whole disk
    `scan_s`, the time in which the first of them read its half; of others the mean
    `queue_requests_count` at the begin of the sweep that a request was served in. It is empty where
    an older version simulated.
    """

    plan: Plan
    trials: pd.DataFrame
    finishes: pd.DataFrame
    waits: pd.DataFrame


def simulate(study: str, profile: str, name: str | None = None) -> Path:
    """Run the cells of a study in virtual time and keep what comes of it; return the folder.

    It lies in `data/raw/NAME/virtual`, whatever was there before. Cells without a disk, readers of
    another workload and schedulers without a model are left out, and named in `simulated.json`.

    Parameters
    ----------
    study, profile : str
        What is run, and how much of it.
    name : str, optional
        The campaign that it belongs to; STUDY-PROFILE by default.

    Raises
    ------
    FsgreenError
        If the engine is not installed, or the study has no cell that can be simulated.
    """
    import pandas as pd

    engine = _engine()
    plan = design.make_plan(design.load_study(study), profile)
    able = [planned for planned in plan.trials if _experiment(plan, planned) is not None]
    if not able:
        raise FsgreenError(
            f"the profile {profile} of {study} has no readers of a simulated disk",
            next_step="fsgreen simulate nfstricks03 --profile full",
        )
    done = paths.raw(name or f"{study}-{profile}") / "virtual"
    folder = done.with_name(".virtual.partial")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "disks").mkdir(parents=True)
    reports = [_run(engine, plan, planned) for planned in able]
    files = engine.profiles()
    disks = {disk: files[disk] for disk in sorted({str(planned.cell["disk"]) for planned in able})}
    rows = zip(able, reports, strict=True)
    tables = {
        "trials": pd.DataFrame([_trial_row(plan, planned, report) for planned, report in rows]),
        "finishes": pd.DataFrame(_finish_rows(able, reports)),
        "waits": pd.DataFrame(_wait_rows(engine, disks)),
    }
    for table, values in tables.items():
        file = folder / f"{table}.csv"
        values.to_csv(file, index=False, float_format="%.9g", lineterminator="\n")
    for disk, text in disks.items():
        (folder / "disks" / f"{disk}.toml").write_text(text)
    write_json(folder / "plan.json", plan.to_json())
    left_out = sorted({planned.cell.label for planned in plan.trials if planned not in able})
    hashes = {f"{table}.csv": sha256_of(folder / f"{table}.csv") for table in TABLES}
    identity = {"engine": engine.version(), "left_out": left_out, "files": hashes}
    write_json(folder / "simulated.json", {"schema": 1, "plan_hash": plan.hash, **identity})
    shutil.rmtree(done, ignore_errors=True)
    return folder.rename(done)


def read(campaign: str) -> Simulated | None:
    """Return what a campaign has in virtual time, or None.

    Raises
    ------
    FsgreenError
        If a file is not the one that was written.
    """
    import pandas as pd

    folder = paths.raw(campaign) / "virtual"
    if not folder.is_dir():
        return None
    try:
        identity = json.loads((folder / "simulated.json").read_text())
        plan = Plan.from_json(json.loads((folder / "plan.json").read_text()), folder / "plan.json")
        tables = []
        for table in TABLES:
            file = folder / f"{table}.csv"
            if file.name == "waits.csv" and file.name not in identity["files"]:
                tables.append(pd.DataFrame())
                continue
            if sha256_of(file) != identity["files"][file.name]:
                raise ValueError(f"{file.name} is not the file that was written")
            tables.append(pd.read_csv(file))
    except (OSError, ValueError, KeyError) as error:
        raise FsgreenError(
            f"the runs in virtual time are not whole: {error}",
            where=folder,
            next_step=f"./run reproduce (shipped), or fsgreen simulate STUDY --name {campaign}",
        ) from error
    return Simulated(plan, *tables)


def disk_files(campaign: str) -> dict[str, str]:
    """Return the files of the simulated disks of a campaign, by name; none without virtual time."""
    folder = paths.raw(campaign) / "virtual" / "disks"
    return {file.stem: file.read_text() for file in sorted(folder.glob("*.toml"))}


def _engine() -> Any:
    try:
        import fsgreen_engine
    except ImportError as error:
        raise FsgreenError(
            "the simulator comes with the engine, which is not installed", next_step="./run engine"
        ) from error
    return fsgreen_engine


def _experiment(plan: Plan, planned: PlannedTrial) -> dict[str, Any] | None:
    """Return a trial as the simulator takes it, None for one that it has no model of."""
    cell, levels = planned.cell, plan.levels(planned.cell)
    scheduler = MODELS.get(levels["scheduler"])
    if cell["workload"] != WORKLOAD or None in (cell.get("readers"), cell.get("disk"), scheduler):
        return None
    return {
        "disk": cell["disk"],
        "overrides": {"depth": cell["queue_depth"]} if "queue_depth" in cell else {},
        "scheduler": scheduler,
        "work": {
            "readers": {
                "readers": cell["readers"],
                "total_mib": round(TOTAL_MIB * plan.profile.scale[WORKLOAD]),
                "partition": cell.get("partition"),
                "start_within_ms": START_WITHIN_MS,
                "seed": planned.seed,
            }
        },
    }


def _run(engine: Any, plan: Plan, planned: PlannedTrial) -> dict[str, Any]:
    try:
        report: dict[str, Any] = engine.simulate(json.dumps(_experiment(plan, planned)))
    except ValueError as error:
        raise FsgreenError(f"{error}", where=planned.cell.label) from error
    return report


def _trial_row(plan: Plan, planned: PlannedTrial, report: Mapping[str, Any]) -> dict[str, Any]:
    duration_s = (report["end_ns"] - report["start_ns"]) / NS_PER_S
    overtaken = report["device_order"]["overtaken_count"]
    return {
        "trial": planned.trial,
        "block": planned.block,
        "order": planned.order,
        **plan.levels(planned.cell),
        "duration_s": duration_s,
        "bandwidth_b_s": report["read_b"] / duration_s,
        "energy_j": report["energy"]["total_fj"] / FJ_PER_J,
        "response_s": report["response_ns"]["mean"] / NS_PER_S,
        "requests_count": report["requests_count"],
        "reordered_percent": 100 * overtaken / report["requests_count"],
    }


def _finish_rows(
    trials: Iterable[PlannedTrial], reports: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return when each reader was done, counted from when the first one began."""
    return [
        {"trial": planned.trial, "rank": rank, "ended_s": done_ns / NS_PER_S}
        for planned, report in zip(trials, reports, strict=True)
        for rank, done_ns in enumerate(
            sorted(reader["done_ns"] - report["start_ns"] for reader in report["readers"]), start=1
        )
    ]


def _wait_rows(engine: Any, disks: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the runs of `Simulated.waits`, by a disk that takes one request at a time."""
    for disk, block in itertools.product(disks, range(1, WAIT_BLOCKS + 1)):
        for scheduler in ("elevator", "n-cscan"):
            whole = {"readers": 2, "total_mib": _size_mib(disks[disk])}
            report = _waited(engine, disk, scheduler, block, whole)
            scan_s = min(reader["done_ns"] for reader in report["readers"]) / NS_PER_S
            yield _wait_row(disk, scheduler, block, report) | {"scan_s": scan_s}
        for readers in MANY:
            files = {"readers": readers, "total_mib": TOTAL_MIB, "partition": 1}
            report = _waited(engine, disk, "n-cscan", block, files, log=True)
            queue = {"queue_requests_count": _mean_sweep(report["log"])}
            yield _wait_row(disk, "n-cscan", block, report) | queue


def _waited(
    engine: Any, disk: str, scheduler: str, block: int, work: dict[str, Any], *, log: bool = False
) -> dict[str, Any]:
    readers = {**work, "start_within_ms": START_WITHIN_MS, "seed": block}
    asked = {"disk": disk, "overrides": {"depth": 1}, "scheduler": scheduler, "log": log}
    report: dict[str, Any] = engine.simulate(json.dumps({**asked, "work": {"readers": readers}}))
    return report


def _wait_row(disk: str, scheduler: str, block: int, report: Mapping[str, Any]) -> dict[str, Any]:
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

    served = pd.read_csv(io.StringIO(log))
    issued_ns, sent_ns = (sorted(served[at]) for at in ("issued_ns", "sent_ns"))
    squares = done = 0
    while done < len(sent_ns):
        waiting = bisect.bisect_right(issued_ns, sent_ns[done]) - done
        squares += waiting**2
        done += waiting
    return squares / done
