"""RAPL, the energy counters of a processor, through the kernel's powercap sysfs.

They are readable by root only since Linux 5.10 (CVE-2020-8694). A package leaves out the memory,
and no counter ever sees a drive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from fsgreen.meters.common.answers import json_object, quality, whole
from fsgreen.meters.common.energy_counter import EnergyCounter
from fsgreen.meters.common.polled import Connectionless, Remote
from fsgreen.meters.common.sysfs import attribute, gather
from fsgreen.meters.core.base import Chunk, DeviceOf, Driver, Meter
from fsgreen.meters.core.readings import NAN, Reading
from fsgreen.meters.core.settings import Above0, GainError, MeterSettings, Texts
from fsgreen.meters.rapl.zones import COVERS, LOAD, check_domains, wrap_uj, zones
from fsgreen.trace import MeterInfo

ROOT = "/sys/class/powercap"
REMEDY = "measure as root, or give your group the right to read as docs/meters/rapl.md shows"

ENERGY_UNIT_J = 2**-14  # Intel SDM volume 3B, 16.10.1: 61 uJ on most; 15.3 uJ on servers


class RaplSettings(MeterSettings):
    """Which counters."""

    domains: Texts = ("package",)
    """What is added, over all packages: package, core, uncore, dram, psys."""
    boundary: Literal["cpu", "modelled"] | None = None
    covers: Texts | None = None
    """The parts whose power it is; by default those of the domains."""
    root: str = ROOT
    """The folder of the zones; other than the kernel's own: `modelled` unless told."""
    rate_hz: Annotated[float, Field(ge=1, le=10)] = 1.0
    range_w: Above0 = 1000.0
    """More than one zone can ever draw."""
    gain_error: GainError = 0.05
    """Intel states none."""


class RaplParser:
    """Watts and watt-hours from the counters of one answer, all zones added.

    Flags: cut, missing, bad-number, and those of `EnergyCounter`. A zone that cannot be read
    leaves the whole answer out of the count; the next reading then spans both intervals.
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


@dataclass
class Counters(Connectionless):
    """The counters of some domains, found again at every start.

    `sheet` holds what the settings say; its range is that of one zone.
    """

    root: Path
    domains: Sequence[str]
    sheet: MeterInfo
    paths: dict[str, Path] = field(default_factory=dict)

    def identify(self) -> MeterInfo:
        """Say which counters there are; raises FsgreenError where one does not tell its end."""
        chosen = [zone for zone, domain in zones(self.root).items() if domain in self.domains]
        names = [attribute(self.root / zone / "name") for zone in chosen]
        self.paths = {zone: self.root / zone / "energy_uj" for zone in chosen}
        return replace(
            self.sheet,
            model=f"RAPL {' + '.join(names)}, {_processor()}",
            serial=" ".join(chosen),
            range_w=self.sheet.range_w * len(chosen),
            options={
                "zones": chosen,
                "wraps_uj": [wrap_uj(self.root / zone) for zone in chosen],
                "zone_range_w": self.sheet.range_w,
            },
        )

    def ask(self) -> bytes:
        """Return the counts as they are, by zone."""
        return gather(self.paths, REMEDY)


def open_rapl(settings: RaplSettings, _: DeviceOf) -> Meter:
    """Open the counters of the domains, added over all packages; raises FsgreenError."""
    domains, root, rate_hz = settings.domains, Path(settings.root), settings.rate_hz
    check_domains(settings, domains, zones(root))
    sheet = settings.info(
        boundary=settings.boundary or ("cpu" if settings.root == ROOT else "modelled"),
        covers=settings.covers or tuple(dict.fromkeys(COVERS[d] for d in domains)),
        resolution_w=ENERGY_UNIT_J * rate_hz,
        source=f"powercap; the maker states no accuracy, {settings.gain_error:.3g} of the value "
        "assumed",
    )
    meter = Remote(Counters(root, domains, sheet), RaplParser)
    wrap_s = min(meter.describe().options["wraps_uj"]) / 1e6 / sheet.range_w
    if 1 / rate_hz >= wrap_s / 2:
        settings.refuse(
            f"at {sheet.range_w:g} W a counter wraps in {wrap_s:.3g} s; asked every "
            f"{1 / rate_hz:.3g} s a wrap could pass unseen: ask more often, or mend range_w"
        )
    return meter


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
    """Return the name of the processor, which stands for the serial number that RAPL lacks."""
    lines = attribute(Path("/proc/cpuinfo")).splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown processor"


DRIVER = Driver(
    name="rapl",
    kind="counter",
    summary="the processor's own energy counters (RAPL), 1 to 10 times a second; sees no drive",
    settings=RaplSettings,
    open=open_rapl,
    parser=RaplParser,
    missing=missing,
    find=lambda: [f'domains = ["{d}"]' for d in sorted(set(zones(Path(ROOT)).values()))],
)
