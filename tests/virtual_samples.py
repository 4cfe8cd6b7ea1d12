"""The samples of the study `software-cost` as a guest would write them: their truth is planted."""

import json
from pathlib import Path

import numpy as np

from fsgreen import design

EACH_NS = {"varmail": 116_000, "webserver": 19_000}
"""What an operation takes on ext4 with its default options, about as in a real guest."""

SHARES = {"ext2": 0.6, "ext4": 1.0, "xfs": 0.8, "btrfs": 1.6, "nojnl": 0.33, "noatime": 0.95}
"""What it takes elsewhere, of that."""

MEASURE_S = 0.5
GUEST = {"initrd_sha256": "12ab", "qemu": "7.2"}


def write(data: Path, campaign: str = "software-cost-lab-virtual") -> Path:
    """Write the samples below a data folder, the first one twice; return their folder."""
    folder = data / "results" / campaign
    folder.mkdir(parents=True, exist_ok=True)
    for block in range(1, plan().profile.last_block + 1):
        (folder / f"block{block}.jsonl").write_bytes(written(block))
    (folder / "block1-again.jsonl").write_bytes(written(1))
    return folder


def plan() -> design.Plan:
    return design.make_plan(design.load_study("software-cost"), "lab")


def written(block: int, fails: str = "", guest: object = GUEST) -> bytes:
    """What a guest writes in a block; trials on the file system `fails` failed."""
    choose = np.random.default_rng(block)
    trials = [one for one in plan().trials if one.block == block]
    lines = [_line(one, choose.normal(0, 0.01), fails) for one in trials]
    every = [{"guest": guest}, {"disk": {}}, *lines, {"end": len(lines)}]
    return "".join(f"{json.dumps(line)}\n" for line in every).encode()


def _line(planned: design.PlannedTrial, scatter: float, fails: str) -> dict:
    cell = planned.cell
    if cell["file_system"] == fails:
        return {"trial": planned.trial, "error": "mkfs.xfs ended with status 1"}
    kind = cell["file_system"] if cell["option"] == "default" else cell["option"]
    each_ns = EACH_NS[cell["workload"]] * SHARES[kind] * np.exp(scatter)
    measure = {"work_ops": int(1e9 * MEASURE_S / each_ns), "duration_s": MEASURE_S}
    return {"trial": planned.trial, "report": {"runs": [{"measure": measure}]}}
