"""What the machine was: read at the start and the end of each trial (rule 9 of the statistics)."""

from __future__ import annotations

import os
import platform
from typing import Any

from fsgreen import __version__
from fsgreen.audit import disks, machine, speed, tools
from fsgreen.audit.machine import meminfo_b, meminfo_of_text_b
from fsgreen.audit.pooling import CHECKED, differences, differences_of_testbeds
from fsgreen.audit.tree import HERE, Tree

__all__ = [
    "CHECKED",
    "HERE",
    "Tree",
    "audit",
    "differences",
    "differences_of_testbeds",
    "meminfo_b",
    "meminfo_of_text_b",
]


def audit(tree: Tree = HERE) -> dict[str, Any]:
    """Return what can be read about the machine; what cannot be read is None, never a guess.

    Takes some hundredths of a second, most of them for `speed_loops_s`. It starts no program after
    its first call in a process.
    """
    return {
        "fsgreen": __version__,
        "python": platform.python_version(),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "boot_id": tree.text("proc/sys/kernel/random/boot_id"),
        "cpu": machine.cpu_model(tree),
        "microcode": machine.microcode(tree),
        "cores_count": os.cpu_count(),
        "speed_loops_s": speed.loops_per_s(),
        "memory_b": machine.meminfo_b(tree, "MemTotal"),
        "swap_b": machine.meminfo_b(tree, "SwapTotal"),
        "dirty_limit": machine.dirty_limit(tree),
        "governor": machine.governor(tree),
        "turbo": machine.turbo(tree),
        "smt": tree.text("sys/devices/system/cpu/smt/control"),
        "clocksource": tree.text(machine.CLOCKSOURCE),
        "firmware": machine.firmware(tree),
        "product": machine.product(tree),
        "virtual_machine": machine.virtual_machine(tree),
        "container": machine.container(tree),
        "disks": disks.disks(tree),
        "load_1min": os.getloadavg()[0],
        "tools": dict(tools.versions()),
    }
