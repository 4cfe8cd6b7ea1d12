"""The samples of the study `software-cost` as a guest would write them: their truth is planted."""

import json
from pathlib import Path

import numpy as np

from fsgreen import design

OWN_NS = {"varmail": 12_000, "webserver": 8_000}
"""What an operation executes on ext4 with its default options."""

SHARES = {"ext2": 0.8, "ext4": 1.0, "xfs": 1.1, "btrfs": 1.6, "nojnl": 0.9, "noatime": 0.95}
"""What it executes elsewhere, of that."""

VIRTUAL_SHARES = {"default": 2.5, "nojnl": 1.4, "noatime": 2.4}
"""How long it takes in all, of what it executes."""

MEASURE_S = 0.5
USER_SHARE = 0.1
FAILED = "mkfs.xfs ended with status 1"


def write(data: Path, campaign: str = "software-cost-lab-virtual", fails: str = "") -> Path:
    """Write the samples below a data folder, the first one twice; trials on `fails` failed."""
    folder = data / "results" / campaign
    folder.mkdir(parents=True, exist_ok=True)
    plan = design.make_plan(design.load_study("software-cost"), "lab")
    choose = np.random.default_rng(1)
    for block in range(1, plan.profile.last_block + 1):
        planned = [one for one in plan.trials if one.block == block]
        lines = [json.dumps(_line(one, choose.normal(0, 0.01), fails)) for one in planned]
        text = "\n".join(['{"disk": {}}', *lines, json.dumps({"end": len(lines)})]) + "\n"
        (folder / f"block{block}.jsonl").write_text(text)
    (folder / "block1-again.jsonl").write_bytes((folder / "block1.jsonl").read_bytes())
    return folder


def _line(planned: design.PlannedTrial, scatter: float, fails: str) -> dict:
    cell = planned.cell
    if cell["file_system"] == fails:
        return {"trial": planned.trial, "error": FAILED}
    kind = cell["file_system"] if cell["option"] == "default" else cell["option"]
    own_ns = OWN_NS[cell["workload"]] * SHARES[kind] * np.exp(scatter)
    ops = int(1e9 * MEASURE_S / (own_ns * VIRTUAL_SHARES[cell["option"]]))
    own_s = ops * own_ns / 1e9
    ran = {
        "measure": {"work_ops": ops, "duration_s": MEASURE_S},
        "cost": {"user_s": own_s * USER_SHARE, "system_s": own_s * (1 - USER_SHARE)},
    }
    return {"trial": planned.trial, "report": {"runs": [ran]}}
