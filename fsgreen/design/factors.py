"""Factors: what a study may vary. Each is declared once.

Labels, types, defaults, validation, texts and columns of tables come from these declarations. A
study may declare more factors of its own under `factors`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fsgreen.design import columns, metrics
from fsgreen.design.registry import Registry
from fsgreen.errors import FsgreenError, unknown

Level = str | int | float | bool
"""One value of a factor."""

Owner = Literal["workload", "stack", "device", "state"]
Kind = Literal["name", "count", "number", "switch"]

AS_FOUND = "as found"
"""The level of the factor `scheduler` or of the constant `zone` that leaves a device as it is."""

_NAME = re.compile(r"[\w.+-]+")


@dataclass(frozen=True)
class Factor:
    """A property of cells, of which a study may vary the level."""

    name: str
    """The name in studies, records and tables, with its unit (`block_size_b`)."""
    owner: Owner
    """What has the property. The workload gets it as a variable. The stack makes the file system
    with it. The device is set to it. The trial makes and verifies a state."""
    kind: Kind = "name"
    """The type of its levels: words of letters, digits and `_.+-`; whole numbers from 1; numbers;
    booleans."""
    meaning: str = ""
    """What the property is, for the documentation."""
    levels: tuple[Level, ...] = ()
    """All levels. Empty if the owner or the kernel decides which levels exist."""
    label: str = "{}"
    """The format of a level in the name of a trial."""
    spelling: str = "{}"
    """The format of a level in texts and tables for people."""
    default: Level | None = None
    """The level if neither the cell nor the constants of the study have one."""
    unset: str = "not set"
    """The words for the absence of a level."""

    def check(self, level: Any) -> str | None:
        """Return what is wrong with a level, as a sentence; None if nothing is."""
        if self.levels and level not in self.levels:
            return str(unknown(f"level of {self.name}", level, map(str, self.levels)))
        sound = {
            "name": isinstance(level, str) and _NAME.fullmatch(level) is not None,
            "count": type(level) is int and level >= 1,
            "number": type(level) in (int, float) and math.isfinite(level),
            "switch": isinstance(level, bool),
        }
        if sound[self.kind]:
            return None
        takes = {
            "name": "a name of letters, digits and _.+-",
            "count": "a whole number from 1 on",
            "number": "a number",
            "switch": "true or false",
        }
        return f"a level of {self.name} is {takes[self.kind]}, not {level!r}"

    @property
    def numeric(self) -> bool:
        """Return whether levels are numbers."""
        return self.kind in ("count", "number")


BUILT_IN = (
    Factor("workload", "workload", meaning="what runs"),
    Factor("file_system", "stack", meaning="what holds the files", unset="none"),
    Factor("option", "stack", meaning="how it is made and mounted", unset="none"),
    Factor(
        "load_ops_s",
        "workload",
        "number",
        "limit of the operations per second",
        label="{:g}ops",
        spelling="{:g} ops/s",
        unset="as fast as it goes",
    ),
    Factor(
        "cache",
        "state",
        meaning="what the page cache holds when work begins (rule 7)",
        levels=("cold", "warm"),
        default="cold",
    ),
    Factor(
        "device",
        "device",
        meaning="state of the device when the file system is made (rule 8)",
        levels=("initial", "steady", "aged"),
        default="initial",
    ),
    Factor("scheduler", "device", meaning="I/O scheduler (rule 40)", default="none"),
    Factor(
        "readers",
        "workload",
        "count",
        "processes that read at once",
        label="{}readers",
        spelling="{:g} readers",
        unset="the workload's own",
    ),
    Factor("disk", "device", meaning="which simulated disk", unset="the testbed's own"),
    Factor(
        "partition",
        "device",
        "count",
        "quarter of the disk that holds the file system, 1 the outermost",
        levels=(1, 2, 3, 4),
        label="p{}",
        spelling="partition {:g}",
        unset="the whole disk",
    ),
    Factor(
        "queue_depth",
        "device",
        "count",
        "commands that the device takes at once (rule 40)",
        label="q{}",
        spelling="queue {:g}",
        unset="all that the disk takes",
    ),
    Factor(
        "memory_mib",
        "state",
        "count",
        "memory of a workload and its page cache at scale 1; it shrinks with the scale (rule 45)",
        label="{}MiB",
        spelling="{:g} MiB of memory",
        unset="all that the machine has",
    ),
)
"""Factors that come with fsgreen, in the order of labels and columns."""

_known = Registry("factor", BUILT_IN)
get = _known.get


def declare(own: Iterable[Factor]) -> None:
    """Add factors after those that are known. Equal ones are ignored.

    Raises FsgreenError if another factor has the same name.
    """
    _known.declare(own)


def declare_new(own: Sequence[Factor]) -> None:
    """Add factors of a study that is not measured yet.

    Raises FsgreenError if another factor, a metric, or a column of a table has the same name.
    """
    for factor in own:
        table = columns.table_with(factor.name)
        if taken := f"of a column of {table}" if table else metrics.called(factor.name):
            raise FsgreenError(
                f"no factor can be called {factor.name}: this is the name {taken}",
                where=f"factor {factor.name}",
                next_step=f"give it another name, such as own_{factor.name}",
            )
    declare(own)


def every() -> tuple[Factor, ...]:
    """Return all known factors in the order of labels and columns."""
    return tuple(_known)


def names(among: Iterable[str] | None = None) -> list[str]:
    """Return the names of all factors in their order, or only those in `among`."""
    chosen = set(_known.names() if among is None else among)
    return [name for name in _known.names() if name in chosen]


def of_owner(owner: Owner) -> tuple[str, ...]:
    """Return the names of the factors of an owner."""
    return tuple(known.name for known in _known if known.owner == owner)


def in_order(levels: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield name and level of each factor that is set, in the order of factors.

    Raises FsgreenError if a factor is unknown.
    """
    for name in levels:
        get(name)
    for name in _known.names():
        level = levels.get(name)
        if level is not None and level == level:  # NaN is the empty cell of a table
            yield name, level
