"""A small campaign to explore: ext4 does twice the work of xfs, and writes half as much for it."""

import pandas as pd

from fsgreen import reduce
from fsgreen.analysis import standard
from fsgreen.analysis.claims.told import tell
from fsgreen.papers import judging
from tests import synthetic

OPS = {"ext2": 50, "ext4": 200, "xfs": 100}
BLOCKS = 5


def rate(planned):
    """Operations per second of a trial: those of its file system, off by up to 2 %.

    In five blocks each is off by -2 %, -1 %, 0, 1 % and 2 % once.
    """
    of = OPS[planned.cell["file_system"]]
    return of + of * ((planned.block + 3 * planned.order) % 5 - 2) // 100


def measure(name, workloads=("webserver", "varmail"), file_systems=tuple(OPS), blocks=BLOCKS):
    """Write the raw trials of a campaign, and its tables."""
    cells = synthetic.cells(workloads, file_systems)
    plan = synthetic.make_plan(cells, blocks)
    folder = synthetic.begin(name, plan)
    for planned in plan.trials:
        ops = rate(planned)
        work = synthetic.workload(planned, ops)
        mount = {"file_system": planned.cell["file_system"], "mount_options": ["rw"]}
        synthetic.write_trial(
            folder,
            name,
            plan,
            planned,
            power_w=200.0 + ops / 10,
            ops=ops,
            workload=work,
            mount=mount,
            latency_ns=(1024, 2048, 4096),
        )
    reduce.write(name)
    standard.write(name)


def judge(name, shipped=False):
    """Judge the claims of its study on a campaign."""
    judging.write(name)
    tell(name, shipped=shipped)


def run(text):
    """What lines that a person pastes into a cell leave in `view`."""
    names: dict[str, pd.DataFrame] = {}
    exec(compile(text, "<pasted>", "exec"), names)
    return names["view"]
