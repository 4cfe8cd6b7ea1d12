"""What a study can be composed of: the levels of each factor, as the registries know them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from fsgreen import testbeds, workloads
from fsgreen.design import DEFAULT, factors
from fsgreen.design.factors import Level
from fsgreen.devices.queue import known_schedulers
from fsgreen.stacks import filesystems
from fsgreen.stacks.filesystems import FILE_SYSTEMS

FACTORS = ("workload", "file_system", "option", "cache", "device", "scheduler")
"""The factors that have a control; others stay as the file has them."""

WITHOUT_HARM = ("loop", "directory", "vm")
"""Testbeds that write into files and folders of their own making, and into nothing else."""


class Number(NamedTuple):
    """A number of a profile.

    It is called `title`, stands at `place` in the profile, and is at least `least`. `unset` is what
    it is where the file does not say it; None where something else says it then.
    """

    title: str
    place: tuple[str, ...]
    least: float
    unset: float | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it counts something."""
        return isinstance(self.least, int)


NUMBERS = (
    Number("blocks", ("blocks",), 1),
    Number("most blocks (0: as many)", ("most_blocks",), 0, 0),
    Number("idle (s)", ("phases", "idle_s"), 0.1),
    Number("warm-up (s)", ("phases", "warmup_s"), 0.0),
    Number("measured (s)", ("phases", "measure_s"), 0.1),
    Number("longest wait for idle power (s)", ("phases", "settle_limit_s"), 0.1),
    Number("scale of the files", ("scale",), 1e-6, 1),
    Number("image (MiB)", ("image_mib",), 1),
)


def levels(factor: str, file_systems: Iterable[str]) -> dict[str, Level]:
    """Return the levels of a factor by what they are called.

    `factor` is one of `FACTORS`. `file_systems` are those that are chosen: offered are options that
    all of them have.
    """
    if factor == "workload":
        return {name: name for name in workloads.names()}
    if factor == "file_system":
        return _file_systems()
    if factor == "option":
        return _options(file_systems)
    if factor == "scheduler":
        return {name: name for name in sorted(known_schedulers())}
    return {str(level): level for level in factors.get(factor).levels}


@cache
def _file_systems() -> dict[str, Level]:
    return {
        name if usable else f"{name} (not on this machine)": name
        for name, usable, _ in filesystems.available()
    }


def _options(file_systems: Iterable[str]) -> dict[str, Level]:
    known = [FILE_SYSTEMS[name].options for name in file_systems if name in FILE_SYSTEMS]
    offered: dict[str, Level] = {DEFAULT: DEFAULT}
    for option, setting in known[0].items() if known else ():
        if all(option in of for of in known):
            offered[f"{option}: {setting.meaning}"] = option
    return offered


def with_those(offered: Mapping[str, Level], there: Sequence[Level]) -> dict[str, Level]:
    """Return what is offered, and what stands in the file already."""
    others = [level for level in there if level not in offered.values()]
    return {**offered, **{str(level): level for level in others}}


def places() -> list[str]:
    """Return the testbeds that work here and do no harm, `auto` first."""
    usable = {entry.name for entry in testbeds.available() if entry.usable}
    return ["auto", *(name for name in WITHOUT_HARM if name in usable)]


def about(names: Iterable[Level]) -> list[str]:
    """Return what each of these workloads does, as far as they ship."""
    shipped = workloads.names()
    return [f"{name}: {workloads.summary(str(name))}" for name in names if name in shipped]
