"""The energy counters (RAPL) that the kernel shows, and which of them may be added.

Zones and attributes: Linux, Documentation/power/powercap/powercap.rst.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from fsgreen.errors import FsgreenError, unknown
from fsgreen.meters.common.answers import whole
from fsgreen.meters.common.sysfs import attribute
from fsgreen.meters.core.settings import Settings

LOAD = "sudo modprobe intel_rapl_msr"

COVERS = {"package": "cpu", "core": "cpu", "uncore": "cpu", "dram": "memory", "psys": "platform"}
"""What each domain feeds."""
INSIDE = {
    "core": ("package", "psys"),
    "uncore": ("package", "psys"),
    "package": ("psys",),
    "dram": ("psys",),
}
"""The domains whose energy holds that of another: the two are never added."""


def zones(root: Path) -> dict[str, str]:
    """Return the domain of each zone that the kernel shows, such as intel-rapl:0 package.

    The same package may be shown once more through memory-mapped registers: that is left out.
    """
    names = {}
    for folder in sorted(root.glob("*:*")):
        domain = re.match("package|core|uncore|dram|psys", attribute(folder / "name"))
        if domain and (folder / "energy_uj").exists():
            names[folder.name] = domain[0]
    return {
        zone: domain for zone, domain in names.items() if not zone.startswith("intel-rapl-mmio")
    } or names


def check_domains(settings: Settings, domains: Sequence[str], shown: dict[str, str]) -> None:
    """Refuse domains that are not there, or whose energy would count twice."""
    if not shown:
        settings.refuse(f"the kernel shows no energy counters (RAPL); try {LOAD}")
    if not domains or len(set(domains)) < len(domains):
        settings.refuse(f"domains is {list(domains)!r}, not one or several, each once")
    for domain in domains:
        if domain not in shown.values():
            raise unknown(
                "RAPL domain", domain, set(shown.values()), where=f"meter {settings.name}"
            )
        for outer in INSIDE.get(domain, ()):
            if outer in domains:
                settings.refuse(f"{domain} is inside {outer}: its energy would count twice")


def wrap_uj(zone: Path) -> int:
    """Return the count after which a zone starts again at 0; raises FsgreenError."""
    highest_uj = whole(attribute(zone / "max_energy_range_uj"))
    if not highest_uj or highest_uj < 0:
        raise FsgreenError(
            "the kernel does not tell where this counter wraps",
            where=zone / "max_energy_range_uj",
            next_step="leave this domain out of the meter's domains",
        )
    return highest_uj
