"""A cell: one combination of the levels of a study's factors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fsgreen.design.factorial import declared_options
from fsgreen.errors import FsgreenError, unknown

FACTORS = (
    "workload",
    "file_system",
    "option",
    "load_ops_s",
    "cache",
    "device",
    "scheduler",
    "readers",
    "disk",
    "partition",
    "queue_depth",
)


@dataclass(frozen=True)
class Cell:
    """One combination of levels.

    `load_ops_s` None means as fast as it goes; `cache`, `device` and `scheduler` None mean that
    the study holds them constant (rules 7, 8, 40). `readers` is how many processes read at once,
    None as many as the workload has. `disk` names the disk that a simulated testbed is,
    `partition` the quarter of it that holds the file system (1 outermost, 4 innermost) and
    `queue_depth` the commands that it takes at once: None is the testbed's own disk, the whole of
    it, and all that it takes.
    """

    workload: str
    file_system: str
    option: str = "default"
    load_ops_s: float | None = None
    cache: str | None = None
    device: str | None = None
    scheduler: str | None = None
    readers: int | None = None
    disk: str | None = None
    partition: int | None = None
    queue_depth: int | None = None

    @property
    def variables(self) -> dict[str, int]:
        """Return the variables that the text of the workload gets beside its scale and load."""
        return {} if self.readers is None else {"readers": self.readers}

    @property
    def label(self) -> str:
        """Return the cell as it stands in names of trials."""
        parts = [self.workload, self.file_system, self.option]
        if self.load_ops_s is not None:
            parts.append(f"{self.load_ops_s:g}ops")
        parts += [level for level in (self.cache, self.device, self.scheduler) if level is not None]
        parts += [
            f"{before}{level}{after}"
            for before, level, after in (
                ("", self.readers, "readers"),
                ("", self.disk, ""),
                ("p", self.partition, ""),
                ("q", self.queue_depth, ""),
            )
            if level is not None
        ]
        return "-".join(parts)


def cells_of(levels: Mapping[str, Any]) -> Iterator[Cell]:
    """Yield every combination of the levels, which may hold `factorial` in place of `option`.

    Raises FsgreenError for an unknown factor, and for a factorial that is none.
    """
    columns: dict[str, Sequence[Any]] = {}
    for factor, of_factor in levels.items():
        if factor == "factorial":
            if "option" in levels:
                raise FsgreenError(
                    "a matrix has `option` and `factorial`, which says what the options are",
                    next_step="give each a matrix of its own",
                )
            columns["option"] = declared_options(of_factor)
        elif factor in FACTORS:
            columns[factor] = of_factor
        else:
            raise unknown("factor", factor, [*FACTORS, "factorial"])
    for combination in itertools.product(*columns.values()):
        yield Cell(**dict(zip(columns, combination, strict=True)))
