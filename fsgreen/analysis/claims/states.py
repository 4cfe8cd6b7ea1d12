"""The state that a claim is about, and whether trials were in it by their counters (rule 45)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import pandas as pd
from pydantic import BeforeValidator, Field, model_validator

from fsgreen.claims import Found
from fsgreen.design import Cell, columns, factors
from fsgreen.schema import Declared

WAITS = "cpu_iowait_percent"
"""The column for claims on waiting, besides the columns of a trial's state."""


class Limits(Declared):
    """The limits of a column of `trials.csv`. In a file, a number alone is both limits."""

    at_least: float = -math.inf
    at_most: float = math.inf

    def __str__(self) -> str:
        if self.at_least == self.at_most:
            return f"{self.at_least:,.10g}"
        ends = {"at least": self.at_least, "at most": self.at_most}
        return " and ".join(f"{name} {end:g}" for name, end in ends.items() if math.isfinite(end))


def _limits(value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return {"at_least": value, "at_most": value} if is_number else value


def _levels(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: of if isinstance(of, list) else [of] for name, of in value.items()}


class State(Declared):
    """A state that claims are about. Trials in another state decide nothing about them."""

    says: str
    """The state in words, for example "reads come from the device"."""
    of: Annotated[dict[str, tuple[factors.Level, ...]], BeforeValidator(_levels)] = Field(
        default_factory=dict
    )
    """Levels of the cells that must be in the state. Empty means every cell of a part."""
    holds: dict[str, Annotated[Limits, BeforeValidator(_limits)]] = Field(default_factory=dict)
    """Limits by column of `trials.csv`, for each trial."""
    one_is_enough: bool = False
    """Whether it is enough that one cell of a part is in the state."""
    way: str = ""
    """How to bring trials into the state."""
    why: str = ""
    """In place of `holds` and `way`: why trials in any state decide."""

    @model_validator(mode="after")
    def _asks_or_says_why(self) -> State:
        asks = bool(self.holds), bool(self.way)
        if any(asks) == bool(self.why) or any(asks) != all(asks):
            raise ValueError(
                "a state `holds` limits and names the `way` to it, or says `why` any will do"
            )
        return self

    def about(self, cell: Cell) -> bool:
        """Return whether a cell must be in the state."""
        return all(cell.get(name) in levels for name, levels in self.of.items())

    def missed(self, trials: pd.DataFrame) -> Iterator[Found]:
        """Yield, per column, what was found of trials that were not all in the state.

        A trial without a value counts as not in the state. No trial is left out for its own state,
        as that would choose trials by their results.
        """
        for column, limits in self.holds.items():
            values = trials[column] if column in trials else pd.Series(math.nan, trials.index)
            if not values.between(limits.at_least, limits.at_most).all():
                yield Found(self.says, self.way, column, str(limits), values.min(), values.max())


def known_columns() -> tuple[str, ...]:
    """Return the columns for which a state may set limits."""
    return (*columns.STATE, WAITS, *factors.names())


def outside(states: Iterable[State], cells: Iterable[tuple[Cell, pd.DataFrame]]) -> list[Found]:
    """Return what was found of the cells of a part whose trials were not in its states."""
    every, misses = list(cells), []
    for state in states:
        missed = [list(state.missed(trials)) for cell, trials in every if state.about(cell)]
        if not (state.one_is_enough and [] in missed):
            misses += [miss for of_cell in missed for miss in of_cell]
    return misses
