"""A cell: one combination of the levels of a study's factors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fsgreen.design import factors
from fsgreen.design.factorial import declared_options
from fsgreen.design.factors import Level
from fsgreen.errors import FsgreenError

DEFAULT = "default"
"""The option of a file system that is made and mounted with its defaults."""

ALWAYS_WRITTEN = ("load_ops_s",)
"""Factors that records name even if a cell has no level of them, so that old records keep their
form."""


class Cell(Mapping[str, Any]):
    """The levels of the factors that are set. The study or the testbed determines the others.

    A cell with a file system but no option has the option `default`. A cell is a mapping, cannot be
    changed, and can be a key.

    A level that is None leaves its factor unset. Raises FsgreenError if a factor is unknown.
    """

    __slots__ = ("_hash", "_levels")

    def __init__(self, **levels: Level | None) -> None:
        if levels.get("file_system") is not None and levels.get("option") is None:
            levels["option"] = DEFAULT
        self._levels = dict(factors.in_order(levels))
        self._hash = hash(tuple(self._levels.items()))

    def __getitem__(self, name: str) -> Any:
        return self._levels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._levels)

    def __len__(self) -> int:
        return len(self._levels)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and self._levels == other._levels

    def __repr__(self) -> str:
        return f"Cell({', '.join(f'{name}={level!r}' for name, level in self.items())})"

    def but(self, **levels: Level | None) -> Cell:
        """Return the same cell with some levels replaced; None unsets a factor."""
        return Cell(**{**self._levels, **levels})

    def only(self, names: Sequence[str]) -> Cell:
        """Return the cell with only these factors."""
        return Cell(**{name: self._levels.get(name) for name in names})

    @property
    def label(self) -> str:
        """Return the label of the cell, as in names of trials."""
        return "-".join(factors.get(name).label.format(level) for name, level in self.items())

    def to_json(self) -> dict[str, Any]:
        """Return the cell as JSON values, as in plans and records."""
        written = factors.names({*ALWAYS_WRITTEN, *self._levels})
        return {name: self._levels.get(name) for name in written}

    def __reduce__(self) -> tuple[Any, ...]:
        # Hashes differ between processes, and another process may not know a study's own factors.
        return _restored, (self._levels, [factors.get(name) for name in self._levels])


def _restored(levels: Mapping[str, Level], own: Sequence[factors.Factor]) -> Cell:
    factors.declare(own)
    return Cell(**levels)


def cells_of(levels: Mapping[str, Any]) -> Iterator[Cell]:
    """Yield a cell for every combination of levels.

    Each factor has a list of levels. `factorial` may stand in place of `option`: its value is what
    `declared_options` takes. Raises FsgreenError if a factor is unknown, or the factorial is not
    valid.
    """
    columns: dict[str, Sequence[Any]] = {}
    for name, of_factor in levels.items():
        if name != "factorial":
            columns[factors.get(name).name] = of_factor
        elif "option" in levels:
            raise FsgreenError(
                "a matrix has `option` and `factorial`, which says what the options are",
                next_step="give each a matrix of its own",
            )
        else:
            columns["option"] = declared_options(of_factor)
    for combination in itertools.product(*columns.values()):
        yield Cell(**dict(zip(columns, combination, strict=True)))
