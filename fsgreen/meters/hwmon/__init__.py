"""Sensor chips on a rail (INA2xx and others) through the kernel's hwmon sysfs.

Attributes and units: Linux, Documentation/hwmon/sysfs-interface.rst (microwatts, millivolts,
milliamperes, microjoules). A chip is chosen by its name and place, never by its number, which may
change at a boot.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from fsgreen.errors import FsgreenError, unknown
from fsgreen.meters.common.answers import EnergyCounter, json_object, quality, whole
from fsgreen.meters.common.asking import attribute, gather
from fsgreen.meters.common.live import Asked
from fsgreen.meters.core.base import Chunk, Driver
from fsgreen.meters.core.readings import NAN, Reading
from fsgreen.meters.core.settings import Above0, From0, GainError, MeterSettings, Texts
from fsgreen.trace import MeterInfo

QUANTITIES = ("power_input", "power_average", "in_input", "curr_input", "energy_input")
COUNTED = ("energy_input",)
SOURCES = (("power_input",), ("power_average",), ("in_input", "curr_input"), COUNTED)
"""The quantities to take power from: the first of these that a channel has."""

SEE = "see what there is: grep . /sys/class/hwmon/*/name /sys/class/hwmon/*/*_label"

ROOT = "/sys/class/hwmon"


def attribute_of(quantity: str, channel: int) -> str:
    """Return the attribute of a quantity, such as power1_input for power_input."""
    return quantity.replace("_", f"{channel}_", 1)


def power_source(quantities: Collection[str]) -> tuple[str, ...]:
    """Return the quantities that power comes from; empty if they give no power."""
    return next((source for source in SOURCES if set(source) <= set(quantities)), ())


def place_of(folder: Path) -> str:
    """Return the place of a chip, such as 1-0040 (I2C bus and address): boots do not change it."""
    return (folder / "device").resolve().name if (folder / "device").exists() else folder.name


def channels(folder: Path) -> dict[int, list[str]]:
    """Return the channels of a chip that give power, and the quantities of each."""
    of_channel: dict[int, list[str]] = {}
    files = [path.name for path in folder.glob("*_*")]
    for quantity in QUANTITIES:
        pattern = re.compile(quantity.replace("_", "([0-9]+)_", 1))
        for match in filter(None, map(pattern.fullmatch, files)):
            of_channel.setdefault(int(match[1]), []).append(quantity)
    return {nth: names for nth, names in sorted(of_channel.items()) if power_source(names)}


def chips(root: Path) -> dict[Path, str]:
    """Return the name of each chip that gives power on any channel."""
    folders = sorted(folder for folder in root.glob("hwmon*") if folder.is_dir())
    return {folder: attribute(folder / "name") for folder in folders if channels(folder)}


def find_chip(root: Path, name: str, place: str) -> Path:
    """Return the folder of the chip with this name, and with this place if several have the name.

    Raises FsgreenError if there is none, or more than one.
    """
    shown = chips(root)
    if name not in shown.values():
        raise unknown("hwmon chip with power", name, set(shown.values()), where=root, next_step=SEE)
    places = {place_of(folder): folder for folder, chip in shown.items() if chip == name}
    if place in places:
        return places[place]
    if place or len(places) > 1:
        what = f"no {name} is at {place}" if place else f"several chips are called {name}"
        raise FsgreenError(
            f"{what} (places: {', '.join(places)})",
            where=root,
            next_step=f'give the meter its place: place = "{next(iter(places))}"',
        )
    return next(iter(places.values()))


def find_channel(folder: Path, label: str, channel: int) -> int:
    """Return the channel with this label and number; "" and 0 fit every channel.

    Raises FsgreenError if no channel fits, or more than one.
    """
    labels = {number: _labels(folder, number) for number in channels(folder)}
    fitting = [
        number
        for number, named in labels.items()
        if (not label or label in named) and channel in (0, number)
    ]
    if len(fitting) == 1:
        return fitting[0]
    has = "; ".join(f"channel {n} {' '.join(sorted(named))}".strip() for n, named in labels.items())
    wanted = f"{channel or ''} {label}".strip()
    what = f"{len(fitting)} channels fit {wanted}" if wanted else "no channel is chosen"
    raise FsgreenError(
        f"{what}: the chip has {has}",
        where=folder,
        next_step="give the meter the label or the channel that it is to read",
    )


def period_s(folder: Path, channel: int) -> float:
    """Return the time that the chip measures or averages for one value; 0 if it is unknown."""
    names = ("update_interval", f"power{channel}_average_interval")
    return max(whole(attribute(folder / name)) or 0 for name in names) / 1e3


def _labels(folder: Path, channel: int) -> set[str]:
    kinds = ("power", "in", "curr", "energy")
    return {attribute(folder / f"{kind}{channel}_label") for kind in kinds} - {""}


class HwmonSettings(MeterSettings):
    """The settings: a chip, its channel, and the accuracy of its board."""

    chip: str
    """The name of the chip, such as ina226."""
    place: str = ""
    """The bus and address of the chip, such as 1-0040, if several chips have that name."""
    label: str = ""
    """The label of the channel, if the chip has several."""
    channel: Annotated[int, Field(ge=0)] = 0
    """The number of the channel; 0 stands for the only channel."""
    root: str = ROOT
    """The folder of the chips. If it is not the kernel's, the boundary is `modelled` by default."""
    covers: Texts
    rate_hz: Above0 | None = None
    """At most the rate of the chip; by default the rate of the chip, but at most once a second."""
    range_w: Above0 = 300.0
    resolution_w: From0 = 0.02
    gain_error: GainError = 0.02
    constant_error_w: From0 = 0.01


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
        """Return the reading of an answer; if power is a difference, the first gives none."""
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
            if self._source == COUNTED:
                if step is None:
                    return []
                power_w = counted_w
        flags += ["negative"] if power_w < 0 else []
        flags += ["over-range"] if power_w > self._range_w else []
        voltage_v = counts.get("in_input", NAN) / 1e3
        current_a = counts.get("curr_input", NAN) / 1e3
        return [Reading(chunk.time_s, power_w, voltage_v, current_a, energy_wh, quality(flags))]

    def _power_w(self, counts: Mapping[str, float]) -> float:
        """Return the watts from microwatts, or from millivolts times milliamperes; else NaN."""
        if self._source == COUNTED:
            return NAN
        power_uw = 1.0
        for quantity in self._source:
            power_uw *= counts.get(quantity, NAN)
        return power_uw / 1e6


class Hwmon(Asked):
    """The channel of a chip that the settings choose."""

    settings: HwmonSettings
    parser = HwmonParser

    def identify(self) -> MeterInfo:
        """Find the chip and describe it; raises FsgreenError if it is not found."""
        chosen = self.settings
        folder = find_chip(Path(chosen.root), chosen.chip, chosen.place)
        number = find_channel(folder, chosen.label, chosen.channel)
        quantities = channels(folder)[number]
        names = [attribute_of(quantity, number) for quantity in quantities]
        self._paths = {name: folder / name for name in names}
        shortest_s = period_s(folder, number)
        rate_hz = chosen.rate_hz or min(1.0, 1 / shortest_s if shortest_s else 1.0)
        if rate_hz * shortest_s > 1.001:
            raise FsgreenError(
                f"rate_hz is {rate_hz:g}, but the chip measures once in {shortest_s:g} s: an "
                "earlier reading would repeat the old value",
                where=folder,
                next_step="leave rate_hz out of the meter's settings, or let the chip measure "
                "more often: its update_interval is in milliseconds",
            )
        source = " x ".join(attribute_of(q, number) for q in power_source(quantities))
        return chosen.info(
            model=f"hwmon {chosen.chip} {chosen.label}".strip(),
            serial=f"{place_of(folder)} channel {number}",
            boundary=chosen.boundary or ("dc-rail" if chosen.root == ROOT else "modelled"),
            rate_hz=rate_hz,
            source="accuracy as the settings have it, 2 % assumed without; power from " + source,
            options={"channel": number, "quantities": quantities},
        )

    def ask(self) -> bytes:
        """Return the attributes, unchanged."""
        return gather(self._paths, SEE)


def missing(root: Path = Path(ROOT)) -> str | None:
    """Return why there is nothing to read, or None."""
    if chips(root):
        return None
    return "no sensor chip here gives power: load its module, such as sudo modprobe ina2xx"


def find(root: Path = Path(ROOT)) -> list[str]:
    """Return the chips that give power, by name and place."""
    return [
        f'chip = "{chip}"\nplace = "{place_of(folder)}"' for folder, chip in chips(root).items()
    ]


DRIVER = Driver(
    name="hwmon",
    kind="counter",
    summary="a sensor chip on a rail, such as an INA226, through the kernel's hwmon",
    settings=HwmonSettings,
    open=Hwmon,
    parser=HwmonParser,
    missing=missing,
    find=find,
    means=lambda info: power_source(info.options["quantities"]) == COUNTED,
)
