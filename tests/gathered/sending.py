"""Two campaigns of one study on two machines: what each of them measured is synthetic."""

import json

import synthetic

from fsgreen import design, paths, reduce
from fsgreen.analysis import standard
from fsgreen.reduce import write_table

CELLS = [
    *synthetic.cells(["webserver"], ["ext4", "xfs"]),
    design.Cell(workload="webserver", file_system="ext4", option="noatime"),
]
AUDIT = {
    "kernel": "Linux 6.1.0-18-cloud-amd64 x86_64",
    "cpu": "Intel(R) Xeon(R) CPU E5-2630 v3 @ 2.40GHz",
    "cores_count": 8,
    "memory_b": 33_567_123_456,
    "virtual_machine": "none",
    "boot_id": "7bb56ffd-3d18-4447-90a6-11276b51d711",
    "disks": {
        "sda": {"model": "Samsung SSD 980 PRO 1TB", "serial": "S5GXNX0R1234", "rotational": False}
    },
}


def analyse(name, seed, speed, kind="loop"):
    """A small campaign of which xfs is so much faster; its power is modelled."""
    synthetic.write_raw(name, synthetic.make_plan(CELLS, blocks=5), kind=kind)
    file = paths.raw(name) / "campaign.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"audit": AUDIT}))
    reduce.write(name)
    speeds = {CELLS[1].label: speed}
    write_table(synthetic.trials_frame(CELLS, seed=seed, speed=speeds), name, "trials")
    standard.write(name)
