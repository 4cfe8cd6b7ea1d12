"""Sensor chips on a rail (INA2xx and others) through the kernel's hwmon sysfs.

Units: Linux, Documentation/hwmon/sysfs-interface.rst (microwatts, millivolts, milliamperes,
microjoules). A chip is chosen by its name and place, never by its number, which moves between
boots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.answers import json_object, quality, whole
from fsgreen.meters.common.energy_counter import EnergyCounter
from fsgreen.meters.common.remote import Connectionless, Remote
from fsgreen.meters.common.sysfs import gather
from fsgreen.meters.core.base import Chunk, DeviceOf, Driver, Meter
from fsgreen.meters.core.readings import NAN, Reading
from fsgreen.meters.core.settings import Settings
from fsgreen.meters.hwmon.chips import (
    SEE,
    attribute_of,
    channels,
    chips,
    find_channel,
    find_chip,
    period_s,
    place_of,
    power_source,
)
from fsgreen.trace import MeterInfo

ROOT = Path("/sys/class/hwmon")


class HwmonParser:
    """Watts, volts, amperes and watt-hours from the attributes of one answer.

    Flags: cut, missing, bad-number, negative, over-range, and those of `EnergyCounter`.
    """

    def __init__(self, info: MeterInfo) -> None:
        self._range_w = info.range_w
        self._names = {
            quantity: attribute_of(quantity, info.options["channel"])
            for quantity in info.options["quantities"]
        }
        self._source = power_source(self._names)
        self._counter = EnergyCounter(info.range_w)

    def feed(self, chunk: Chunk) -> list[Reading]:
        """Return the reading of an answer; the first gives none where power is a difference."""
        answer = json_object(chunk.data)
        if answer is None:
            return [Reading(chunk.time_s, NAN, quality="cut")]
        texts = {quantity: answer.get(name) for quantity, name in self._names.items()}
        counts = {q: count for q, text in texts.items() if (count := whole(text)) is not None}
        flags = ["missing"] if None in texts.values() else []
        flags += ["bad-number"] if set(texts) - set(counts) and not flags else []
        power_w, energy_wh = self._power_w(counts), NAN
        if "energy_input" in counts:
            step = self._counter.advance(chunk.time_s, counts["energy_input"])
            counted_w, flag = step or (NAN, "ok")
            flags += [flag] if flag != "ok" else []
            if flag in ("ok", "wrapped"):
                energy_wh = self._counter.total_uj / 3.6e9
            if self._source == ("energy_input",):
                if step is None:
                    return []
                power_w = counted_w
        flags += ["negative"] if power_w < 0 else []
        flags += ["over-range"] if power_w > self._range_w else []
        voltage_v = counts.get("in_input", NAN) / 1e3
        current_a = counts.get("curr_input", NAN) / 1e3
        return [Reading(chunk.time_s, power_w, voltage_v, current_a, energy_wh, quality(flags))]

    def _power_w(self, counts: Mapping[str, float]) -> float:
        """Return watts from microwatts, or from millivolts times milliamperes; else NaN."""
        if self._source == ("energy_input",):
            return NAN
        power_uw = 1.0
        for quantity in self._source:
            power_uw *= counts.get(quantity, NAN)
        return power_uw / 1e6


@dataclass
class Sensor(Connectionless):
    """One channel of a chip, found again at every start; `sheet` holds what the settings say."""

    root: Path
    chip: str
    place: str
    label: str
    channel: int
    sheet: MeterInfo
    paths: dict[str, Path] = field(default_factory=dict)

    def identify(self) -> MeterInfo:
        """Find the chip and say what it is; raises FsgreenError where it is not to be found."""
        folder = find_chip(self.root, self.chip, self.place)
        number = find_channel(folder, self.label, self.channel)
        quantities = channels(folder)[number]
        names = [attribute_of(quantity, number) for quantity in quantities]
        self.paths = {name: folder / name for name in names}
        shortest_s = period_s(folder, number)
        rate_hz = self.sheet.rate_hz or min(1.0, 1 / shortest_s if shortest_s else 1.0)
        if rate_hz * shortest_s > 1.001:
            raise FsgreenError(
                f"rate_hz is {rate_hz:g}, but the chip measures once in {shortest_s:g} s: a "
                "question before that gets the old value again",
                where=folder,
                next_step="leave rate_hz out of the meter's settings, or let the chip measure "
                "more often: its update_interval is in milliseconds",
            )
        source = " x ".join(attribute_of(q, number) for q in power_source(quantities))
        return replace(
            self.sheet,
            model=f"hwmon {self.chip} {self.label}".strip(),
            serial=f"{place_of(folder)} channel {number}",
            rate_hz=rate_hz,
            source=f"{self.sheet.source}; power from {source}",
            options={"channel": number, "quantities": quantities},
        )

    def ask(self) -> bytes:
        """Return the attributes as they are."""
        return gather(self.paths, SEE)


def open_hwmon(settings: Settings, _: DeviceOf) -> Meter:
    """Open the channel that `chip`, `place`, `label` and `channel` choose.

    `covers` what its rail feeds; `rate_hz` no faster than the chip measures; `range_w`,
    `gain_error`, `constant_error_w` and `resolution_w` of the board; `root`: where the chips are
    (other than the kernel's own: `modelled` unless told).
    """
    root = Path(settings.text("root", str(ROOT)))
    sheet = MeterInfo(
        driver="hwmon",
        model="",
        serial="",
        boundary=settings.boundary("dc-rail" if root == ROOT else "modelled"),
        covers=settings.texts("covers"),
        rate_hz=settings.number("rate_hz", 0.0),
        range_w=settings.number("range_w", 300.0),
        resolution_w=settings.number("resolution_w", 0.02),
        gain_error=settings.number("gain_error", 0.02),
        constant_error_w=settings.number("constant_error_w", 0.01),
        source="accuracy as the settings have it, 2 % assumed without",
    )
    sensor = Sensor(
        root=root,
        chip=settings.text("chip"),
        place=settings.text("place", ""),
        label=settings.text("label", ""),
        channel=settings.whole("channel", 0),
        sheet=sheet,
    )
    settings.finish()
    if sheet.rate_hz < 0 or not sheet.range_w > 0:
        settings.refuse(f"rate_hz is {sheet.rate_hz:g} and range_w {sheet.range_w:g}")
    return Remote(sensor, HwmonParser)


def missing(root: Path = ROOT) -> str | None:
    """Return why there is nothing to read, or None."""
    if chips(root):
        return None
    return "no sensor chip here gives power: load its module, such as sudo modprobe ina2xx"


def find(root: Path = ROOT) -> list[str]:
    """Return the chips that give power, by name and place."""
    return [
        f'chip = "{chip}"\nplace = "{place_of(folder)}"' for folder, chip in chips(root).items()
    ]


DRIVER = Driver(
    name="hwmon",
    kind="counter",
    summary="a sensor chip on a rail, such as an INA226, through the kernel's hwmon",
    open=open_hwmon,
    parser=HwmonParser,
    missing=missing,
    find=find,
)
