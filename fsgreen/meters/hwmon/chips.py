"""Which sensor chips the kernel's hwmon sysfs shows, and what each of their channels gives.

Attributes and units: Linux, Documentation/hwmon/sysfs-interface.rst.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from fsgreen.errors import FsgreenError, unknown
from fsgreen.meters.common.answers import whole
from fsgreen.meters.common.sysfs import attribute

QUANTITIES = ("power_input", "power_average", "in_input", "curr_input", "energy_input")
SOURCES = (("power_input",), ("power_average",), ("in_input", "curr_input"), ("energy_input",))
"""What power is taken from: the first of these that a channel has."""

SEE = "see what there is: grep . /sys/class/hwmon/*/name /sys/class/hwmon/*/*_label"


def attribute_of(quantity: str, channel: int) -> str:
    """Return the attribute of a quantity, such as power1_input of power_input."""
    return quantity.replace("_", f"{channel}_", 1)


def power_source(quantities: Collection[str]) -> tuple[str, ...]:
    """Return the quantities that power comes from; empty where they give no power."""
    return next((source for source in SOURCES if set(source) <= set(quantities)), ())


def place_of(folder: Path) -> str:
    """Return where a chip sits, such as 1-0040 (I2C bus and address): it stays between boots."""
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
    """Return the name of each chip that gives power on some channel."""
    folders = sorted(folder for folder in root.glob("hwmon*") if folder.is_dir())
    return {folder: attribute(folder / "name") for folder in folders if channels(folder)}


def find_chip(root: Path, name: str, place: str) -> Path:
    """Return the folder of the chip of this name, and place where several have it.

    Raises FsgreenError where there is none, or more than one.
    """
    shown = chips(root)
    if name not in shown.values():
        raise unknown("hwmon chip with power", name, set(shown.values()), where=root, next_step=SEE)
    places = {place_of(folder): folder for folder, chip in shown.items() if chip == name}
    if place in places:
        return places[place]
    if place or len(places) > 1:
        raise FsgreenError(
            f"which {name}? They sit at {', '.join(places)}" + (f", not {place}" * bool(place)),
            where=root,
            next_step=f'give the meter its place: place = "{next(iter(places))}"',
        )
    return next(iter(places.values()))


def find_channel(folder: Path, label: str, channel: int) -> int:
    """Return the channel of this label or number; 0 is no number: the only channel.

    Raises FsgreenError where there is none, or more than one.
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
    wanted = f"channel {channel or ''} {label}".strip()
    raise FsgreenError(
        f"{len(fitting)} channels are {wanted}: the chip has {has}",
        where=folder,
        next_step="give the meter the label or the channel that it is to read",
    )


def period_s(folder: Path, channel: int) -> float:
    """Return the time that the chip takes for, or averages over in, one measurement; 0: unknown."""
    names = ("update_interval", f"power{channel}_average_interval")
    return max(whole(attribute(folder / name)) or 0 for name in names) / 1e3


def _labels(folder: Path, channel: int) -> set[str]:
    kinds = ("power", "in", "curr", "energy")
    return {attribute(folder / f"{kind}{channel}_label") for kind in kinds} - {""}
