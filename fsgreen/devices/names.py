"""The names of the factors that devices know. They are here apart from what checks them, as the
removal of a killed run's leftovers needs them where no package is installed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Levels = Mapping[str, Any]
"""Levels of factors by name, from `Plan.levels`. A level that is missing or None is left open."""

POWER_STATE, APST = "nvme_power_state", "apst_us"
OF_NVME = (POWER_STATE, APST)
"""The factors that a study declares for an NVMe drive: the power state in which it works, and the
longest time to wake, in us, from a state in which it rests by itself (0: it does not rest)."""

OF_DISKS = ("disk", "partition", "queue_depth", *OF_NVME)
"""Factors of the device that only a whole disk offers, simulated or real."""

READ_AHEAD = "kernel_read_ahead_kib"
"""The factor that a study declares for the kernel's read-ahead on a device (`read_ahead_kb`)."""

TRAFFIC = "disk_mib_s"
"""The factor that a study declares to limit the traffic between a workload and its disk, each
way."""

CPUS = "cpus"
"""The factor that a study declares for the processors that a workload may use."""

CPU_MAX_KHZ = "cpu_max_khz"
"""The factor that a study declares for the highest frequency of all processors of the machine."""

MEMORY = "memory_mib"
"""The factor that limits the memory of a workload, including its page cache."""

FLASH = "flash"
"""The factor that a study declares for a flash that holds files in place of the disk. Its level is
`memory` for an image in RAM, or the name of a simulated disk."""
