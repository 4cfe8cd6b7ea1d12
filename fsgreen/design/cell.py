"""A cell: one combination of the levels of a study's factors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fsgreen.errors import unknown

FACTORS = ("workload", "file_system", "option", "load_ops_s", "cache", "device", "scheduler")


@dataclass(frozen=True)
class Cell:
    """One combination of levels.

    `load_ops_s` None means as fast as it goes; `cache`, `device` and `scheduler` None mean that
    the study holds them constant (rules 7, 8, 40).
    """

    workload: str
    file_system: str
    option: str = "default"
    load_ops_s: float | None = None
    cache: str | None = None
    device: str | None = None
    scheduler: str | None = None

    @property
    def label(self) -> str:
        """Return the cell as it stands in names of trials."""
        parts = [self.workload, self.file_system, self.option]
        if self.load_ops_s is not None:
            parts.append(f"{self.load_ops_s:g}ops")
        parts += [level for level in (self.cache, self.device, self.scheduler) if level is not None]
        return "-".join(parts)


def cells_of(levels: Mapping[str, Sequence[Any]]) -> Iterator[Cell]:
    """Yield every combination of the levels; raises FsgreenError for an unknown factor."""
    for factor in levels:
        if factor not in FACTORS:
            raise unknown("factor", factor, FACTORS)
    for combination in itertools.product(*levels.values()):
        yield Cell(**dict(zip(levels, combination, strict=True)))
