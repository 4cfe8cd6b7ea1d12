"""The cells of a study in virtual time: the same simulated disks, without a kernel above them.

Virtual time has schedulers that kernels no longer have, costs no waiting, and gives the same bits
each time. What it gives is kept beside the raw traces of a campaign, in `virtual/`: plain
tables, since there is no power trace, no machine and no harness whose records a trial would hold.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsgreen import design, paths
from fsgreen.design import Plan, PlannedTrial
from fsgreen.errors import FsgreenError
from fsgreen.papers.nfstricks03 import experiments, read_ahead
from fsgreen.simdisk import engine
from fsgreen.trial import sha256_of, write_json
from fsgreen.units import FJ_PER_J, NS_PER_S

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("trials", "finishes", "waits", "sizes", "decisions")
ADDED = ("waits", "sizes", "decisions")
"""Tables that older versions did not write, and none with readers of a server."""


@dataclass(frozen=True)
class Simulated:
    """Runs in virtual time: their plan, a row per trial and per reader, and tables beside.

    `waits` is of runs beside those of the plan, on what a request waits for: `disk`, `scheduler`,
    `readers`, `block`; the mean `response_s` and the `longest_s`; of two readers of a whole disk
    `scan_s`, the time in which the first of them read its half; of others the mean
    `queue_requests_count` at the start of the sweep that a request was served in.

    `sizes` has the trials of eight readers again, with `total_mib` of files of several sizes: the
    factors, `first_s` and `last_s`, when the first and the last of them were done.

    `decisions` is of heuristics of read-ahead on known requests: `case` with its `setting`,
    `heuristic`, `block`; the sequential count of the first and the last of them, the most and the
    mean; `read_b`, `ahead_b`, and how often a file was forgotten.

    Those are empty where an older version simulated, and of a plan with readers of a server: they
    hang on no cell of it, and belong to the campaign without.
    """

    plan: Plan
    trials: pd.DataFrame
    finishes: pd.DataFrame
    waits: pd.DataFrame
    sizes: pd.DataFrame
    decisions: pd.DataFrame

    @property
    def beside(self) -> dict[str, pd.DataFrame]:
        """Return the tables by name that claims are judged on beside runs of readers."""
        return {"waits": self.waits, "decisions": self.decisions}


def simulate(study: str, profile: str, name: str | None = None) -> Path:
    """Run the cells of a study in virtual time and keep what comes of it; return the folder.

    It lies in `data/raw/NAME/virtual`, whatever was there before. Cells without a disk, readers of
    another workload, and schedulers, file systems and options without a model are left out, and
    named in `simulated.json`.

    `name` is the campaign that it belongs to; STUDY-PROFILE by default. Raises FsgreenError if the
    engine is not installed, or the study has no cell that can be simulated.
    """
    import pandas as pd

    simulator = engine()
    plan = design.make_plan(design.load_study(study), profile)
    asked = {planned: experiments.experiment(plan, planned) for planned in plan.trials}
    able = {planned: one for planned, one in asked.items() if one is not None}
    if not able:
        raise FsgreenError(
            f"the profile {profile} of {study} has no readers of a simulated disk",
            next_step="fsgreen simulate nfstricks03 --profile full",
        )
    done = paths.raw(name or f"{study}-{profile}") / "virtual"
    folder = done.with_name(".virtual.partial")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "disks").mkdir(parents=True)
    reports = [
        experiments.run(simulator.simulate, one, planned.cell) for planned, one in able.items()
    ]
    rows = zip(able, reports, strict=True)
    tables = {
        "trials": pd.DataFrame([_trial_row(plan, planned, report) for planned, report in rows]),
        "finishes": pd.DataFrame(_finish_rows(able, reports)),
    }
    disks: dict[str, str] = {}
    if not experiments.has_server(plan):
        files = simulator.profiles()
        disks = {disk: files[disk] for disk in {str(planned.cell["disk"]) for planned in able}}
        tables |= _beside(simulator, plan, disks, able)
    for table, values in tables.items():
        file = folder / f"{table}.csv"
        values.to_csv(file, index=False, float_format="%.9g", lineterminator="\n")
    for disk, text in disks.items():
        (folder / "disks" / f"{disk}.toml").write_text(text)
    write_json(folder / "plan.json", plan.to_json())
    left_out = sorted({planned.cell.label for planned in plan.trials if planned not in able})
    hashes = {f"{table}.csv": sha256_of(folder / f"{table}.csv") for table in tables}
    identity = {"engine": simulator.version(), "left_out": left_out, "files": hashes}
    write_json(folder / "simulated.json", {"schema": 1, "plan_hash": plan.hash, **identity})
    shutil.rmtree(done, ignore_errors=True)
    return folder.rename(done)


def _beside(
    simulator: Any, plan: Plan, disks: Mapping[str, str], able: Iterable[PlannedTrial]
) -> dict[str, pd.DataFrame]:
    """Return the tables of runs beside those of a plan: see `Simulated`."""
    import pandas as pd

    simulate = simulator.simulate
    rows = {
        "waits": experiments.wait_rows(simulate, dict(sorted(disks.items()))),
        "sizes": experiments.size_rows(simulate, plan, able),
        "decisions": read_ahead.decision_rows(simulator.decisions),
    }
    return {name: pd.DataFrame(of_table) for name, of_table in rows.items()}


def read(campaign: str) -> Simulated | None:
    """Return what a campaign has in virtual time, or None.

    Raises FsgreenError if a file is not the one that was written.
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
            if table in ADDED and file.name not in identity["files"]:
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


def sizes(campaign: str) -> pd.DataFrame:
    """Return the runs of eight readers at several sizes of files; none without virtual time."""
    import pandas as pd

    simulated = read(campaign)
    return pd.DataFrame() if simulated is None else simulated.sizes


def disk_files(campaign: str) -> dict[str, str]:
    """Return the files of the simulated disks of a campaign, by name; none without virtual time."""
    folder = paths.raw(campaign) / "virtual" / "disks"
    return {file.stem: file.read_text() for file in sorted(folder.glob("*.toml"))}


def _trial_row(plan: Plan, planned: PlannedTrial, report: Mapping[str, Any]) -> dict[str, Any]:
    duration_s = (report["end_ns"] - report["start_ns"]) / NS_PER_S
    overtaken = report["device_order"]["overtaken_count"]
    return {
        "trial": planned.trial,
        "block": planned.block,
        "order": planned.order,
        **plan.levels(planned.cell),
        "duration_s": duration_s,
        "bandwidth_b_s": report.get("nfs", {}).get("delivered_b", report["read_b"]) / duration_s,
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
