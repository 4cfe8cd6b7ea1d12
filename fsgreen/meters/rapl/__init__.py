"""RAPL, the energy counters of a processor, through the kernel's powercap sysfs.

Since Linux 5.10 only root can read them (CVE-2020-8694). The counter of a package leaves out the
memory, and no counter sees a drive. Zones and attributes: Linux,
Documentation/power/powercap/powercap.rst.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from fsgreen.errors import FsgreenError, unknown
from fsgreen.meters.common.answers import EnergyCounter, json_object, quality, whole
from fsgreen.meters.common.asking import attribute, gather
from fsgreen.meters.common.live import Asked
from fsgreen.meters.core.base import Chunk, Driver
from fsgreen.meters.core.readings import NAN, Reading
from fsgreen.meters.core.settings import Above0, GainError, MeterSettings, Texts
from fsgreen.trace import MeterInfo

ROOT = "/sys/class/powercap"
LOAD = "sudo modprobe intel_rapl_msr"
REMEDY = "measure as root, or give your group the right to read as docs/meters/rapl.md shows"

ENERGY_UNIT_J = 2**-14  # Intel SDM volume 3B, 16.10.1: 61 uJ on most; 15.3 uJ on servers

COVERS = {"package": "cpu", "core": "cpu", "uncore": "cpu", "dram": "memory", "psys": "platform"}
"""The part that each domain covers."""
INSIDE = {
    "core": ("package", "psys"),
    "uncore": ("package", "psys"),
    "package": ("psys",),
    "dram": ("psys",),
}
"""The domains that contain each domain: the energies of the two are never added."""


class RaplSettings(MeterSettings):
    """The settings that choose counters."""

    domains: Texts = ("package",)
    """The counters to add, over all packages: package, core, uncore, dram, psys."""
    boundary: Literal["cpu", "modelled"] | None = None
    covers: Texts | None = None
    """The parts that draw the power; by default those of the domains."""
    root: str = ROOT
    """The folder of the zones. If it is not the kernel's, the boundary is `modelled` by default."""
    rate_hz: Annotated[float, Field(ge=1, le=10)] = 1.0
    range_w: Above0 = 1000.0
    """A power that no single zone reaches."""
    gain_error: GainError = 0.05
    """An assumption: Intel states no accuracy."""

    def check_domains(self, shown: dict[str, str]) -> None:
        """Refuse domains that the kernel does not show, or whose energy would count twice."""
        if not shown:
            self.refuse(f"the kernel shows no energy counters (RAPL); try {LOAD}")
        if not self.domains or len(set(self.domains)) < len(self.domains):
            self.refuse(f"domains is {list(self.domains)!r}: name one domain or more, none twice")
        for domain in self.domains:
            if domain not in shown.values():
                raise unknown(
                    "RAPL domain", domain, set(shown.values()), where=f"meter {self.name}"
                )
            for outer in INSIDE.get(domain, ()):
                if outer in self.domains:
                    self.refuse(f"{domain} is inside {outer}: its energy would count twice")


class RaplParser:
    """Watts and watt-hours from the counters of one answer, added over all zones.

    Flags: cut, missing, bad-number, and those of `EnergyCounter`. If a zone cannot be read, the
    whole answer is not counted, and the next reading spans both intervals.
    """

    def __init__(self, info: MeterInfo) -> None:
        range_w = info.options["zone_range_w"]
        wraps_uj = zip(info.options["zones"], info.options["wraps_uj"], strict=True)
        self._counters = {zone: EnergyCounter(range_w, wrap_uj) for zone, wrap_uj in wraps_uj}

    def feed(self, chunk: Chunk) -> list[Reading]:
        """Return the reading of an answer; the first gives none."""
        answer = json_object(chunk.data)
        if answer is None:
            return [Reading(chunk.time_s, NAN, quality="cut")]
        texts = [answer.get(zone) for zone in self._counters]
        if None in texts:
            return [Reading(chunk.time_s, NAN, quality="missing")]
        counts = [count for text in texts if (count := whole(text)) is not None and count >= 0]
        if len(counts) < len(texts):
            return [Reading(chunk.time_s, NAN, quality="bad-number")]
        steps = [
            counter.advance(chunk.time_s, count)
            for counter, count in zip(self._counters.values(), counts, strict=True)
        ]
        known = [step for step in steps if step is not None]
        if not known:
            return []
        power_w = sum(zone_w for zone_w, _ in known)
        counted_wh = sum(counter.total_uj for counter in self._counters.values()) / 3.6e9
        energy_wh = counted_wh if power_w == power_w else NAN
        flags = quality(flag for _, flag in known if flag != "ok")
        return [Reading(chunk.time_s, power_w, energy_wh=energy_wh, quality=flags)]


class Rapl(Asked):
    """The counters of some domains, added over all packages."""

    settings: RaplSettings
    parser = RaplParser

    def identify(self) -> MeterInfo:
        """Describe the counters; raises FsgreenError if one could wrap unseen."""
        chosen, root = self.settings, Path(self.settings.root)
        shown = zones(root)
        chosen.check_domains(shown)
        names = [zone for zone, domain in shown.items() if domain in chosen.domains]
        self._paths = {zone: root / zone / "energy_uj" for zone in names}
        wraps_uj = [_wrap_uj(root / zone) for zone in names]
        wrap_s, interval_s = min(wraps_uj) / 1e6 / chosen.range_w, 1 / chosen.rate_hz
        if interval_s >= wrap_s / 2:
            chosen.refuse(
                f"at {chosen.range_w:g} W a counter wraps in {wrap_s:.3g} s; asked every "
                f"{interval_s:.3g} s a wrap could pass unseen: ask more often, or mend range_w"
            )
        domains = " + ".join(attribute(root / zone / "name") for zone in names)
        return chosen.info(
            model=f"RAPL {domains}, {_processor()}",
            serial=" ".join(names),
            boundary=chosen.boundary or ("cpu" if chosen.root == ROOT else "modelled"),
            covers=chosen.covers or tuple(dict.fromkeys(COVERS[d] for d in chosen.domains)),
            range_w=chosen.range_w * len(names),
            resolution_w=ENERGY_UNIT_J * chosen.rate_hz,
            source=f"powercap; the maker states no accuracy, {chosen.gain_error:.3g} of the value "
            "assumed",
            options={"zones": names, "wraps_uj": wraps_uj, "zone_range_w": chosen.range_w},
        )

    def ask(self) -> bytes:
        """Return the counts of all zones, unchanged."""
        return gather(self._paths, REMEDY)


def zones(root: Path) -> dict[str, str]:
    """Return the domain of each zone that the kernel shows, such as package for intel-rapl:0.

    The kernel may show a package once more by memory-mapped registers: that zone is left out.
    """
    names = {}
    for folder in sorted(root.glob("*:*")):
        domain = re.match("package|core|uncore|dram|psys", attribute(folder / "name"))
        if domain and (folder / "energy_uj").exists():
            names[folder.name] = domain[0]
    return {
        zone: domain for zone, domain in names.items() if not zone.startswith("intel-rapl-mmio")
    } or names


def _wrap_uj(zone: Path) -> int:
    """Return the highest count of a zone, which then restarts at 0; raises FsgreenError."""
    highest_uj = whole(attribute(zone / "max_energy_range_uj"))
    if not highest_uj or highest_uj < 0:
        raise FsgreenError(
            "the kernel does not tell where this counter wraps",
            where=zone / "max_energy_range_uj",
            next_step="leave this domain out of the meter's domains",
        )
    return highest_uj


def missing(root: Path = Path(ROOT)) -> str | None:
    """Return why there is nothing to read, or None."""
    zones_here = zones(root)
    if not zones_here:
        return f"the kernel shows no energy counters, as in most virtual machines: {LOAD}"
    try:
        for zone in zones_here:
            (root / zone / "energy_uj").read_text()
    except OSError as error:
        return f"the energy counters are not readable ({error.strerror}): {REMEDY}"
    return None


def _processor() -> str:
    """Return the name of the processor, since RAPL has no serial number."""
    lines = attribute(Path("/proc/cpuinfo")).splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown processor"


DRIVER = Driver(
    name="rapl",
    kind="counter",
    summary="the processor's own energy counters (RAPL), 1 to 10 times a second; sees no drive",
    settings=RaplSettings,
    open=Rapl,
    parser=RaplParser,
    missing=missing,
    find=lambda: [f'domains = ["{d}"]' for d in sorted(set(zones(Path(ROOT)).values()))],
    means=lambda _: True,
)
