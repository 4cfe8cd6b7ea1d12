"""The cells of a study in virtual time: the numbers are the same on every machine.

Each instruction takes a nanosecond, and each request to the disk a fixed time. While the processor
has nothing to execute, time jumps to the next event. There are no processor caches and no other
load. So these times rank only the cost of software, and are no real rates.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from fsgreen import design, durable, paths
from fsgreen.campaign.fitting import told_to_workload
from fsgreen.design import Plan
from fsgreen.devices.vm import alone
from fsgreen.errors import FsgreenError
from fsgreen.stacks.guest.job import DIRECTORY
from fsgreen.workloads import load_workload
from fsgreen.workloads.wml import WmlWorkload

SCHEDULER = "none"


def job_of(plan: Plan, block: int) -> dict[str, Any]:
    """Return the trials of a block of a plan as a job (`stacks.guest.job`).

    Raises FsgreenError if there is no such block, or a workload is not a text in the Workload Model
    Language.
    """
    last = plan.profile.last_block
    if not 1 <= block <= last:
        raise FsgreenError(
            f"there is no block {block}: the profile {plan.profile.name} has 1 to {last}",
            where=plan.study,
            next_step=f"fsgreen virtual {plan.study} --profile {plan.profile.name} --block 1",
        )
    texts: dict[str, str] = {}
    trials = []
    for planned in (planned for planned in plan.trials if planned.block == block):
        name = planned.cell["workload"]
        levels = told_to_workload(plan, planned.cell)
        workload = load_workload(name, plan.profile.scale.get(name, 1.0), levels, plan.workloads)
        if not isinstance(workload, WmlWorkload):
            raise FsgreenError(
                f"the workload {name} is no text in the Workload Model Language: its work "
                "depends on more than instructions",
                where=plan.study,
                next_step="leave it out of the profile",
            )
        workload.check()
        texts[workload.file.name] = base64.b64encode(workload.file.read_bytes()).decode()
        text, place = f"/run/files/{workload.file.name}", Path(DIRECTORY)
        made = {key: level for key, level in plan.levels(planned.cell).items() if level is not None}
        run = workload.run_arguments(
            text,
            place,
            planned.seed,
            plan.profile.warmup_s,
            plan.profile.measure_s,
            planned.cell.get("load_ops_s"),
        )
        trials.append(
            {
                "trial": planned.trial,
                "levels": made,
                "seed": planned.seed,
                "prepare": ["fsgreen-wml", *workload.prepare_arguments(text, place, planned.seed)],
                "run": ["fsgreen-wml", *run],
            }
        )
    disk = {
        "drive": "null",
        "size_b": plan.profile.image_b,
        "states": {"initial": {"left": "no state to restore in memory", "remembers": False}},
        "scheduler": SCHEDULER,
    }
    return {"texts": texts, "disk": disk, "trials": trials}


def run(study: str, profile: str, block: int = 1) -> bytes:
    """Run a block of a study in virtual time; return a line of JSON for each trial.

    Raises FsgreenError as `job_of` does, and if the study or the profile does not exist.
    """
    plan = design.make_plan(design.load_study(study), profile)
    return alone.run(job_of(plan, block), plan.profile.image_b, seed=block)


def file_of(name: str, block: int) -> Path:
    """Return the file for the output of a block, in the results of this name."""
    return paths.results(name) / f"block{block}.jsonl"


def keep(written: bytes, file: Path) -> None:
    """Write what the trials of a block said to a file, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with durable.whole(file) as partial:
        partial.write_bytes(written)


def rows(written: bytes) -> list[dict[str, Any]]:
    """Return, for each trial, its name and `work_ops` done in `virtual_s`; or its `error`."""
    table = []
    for said in alone.results(written):
        if "error" in said:
            table.append({"trial": said["trial"], "error": said["error"]})
            continue
        [ran] = said["report"]["runs"]
        measure = ran["measure"]
        table.append(
            {
                "trial": said["trial"],
                "work_ops": measure["work_ops"],
                "virtual_s": measure["duration_s"],
            }
        )
    return table
