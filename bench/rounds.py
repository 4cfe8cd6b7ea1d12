"""Rounds in which every way is measured, and tables of what came of them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fsgreen.progress import progress

K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True)
class Spread:
    """Median, least and greatest of a quantity over the rounds."""

    median: float
    least: float
    greatest: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Return the spread of at least one value."""
        seen = list(values)
        return cls(statistics.median(seen), min(seen), max(seen))

    def __format__(self, spec: str) -> str:
        """Return `median (least to greatest)`, each number in the given format."""
        return f"{self.median:{spec}} ({self.least:{spec}} to {self.greatest:{spec}})"


def interleaved(ways: Mapping[K, Callable[[], T]], rounds: int) -> dict[K, list[T]]:
    """Call every way once a round and return what each gave.

    Every other round goes backwards, so that a drift of the machine favours no way.
    """
    results: dict[K, list[T]] = {name: [] for name in ways}
    forth = list(ways)
    turns = [name for nth in range(rounds) for name in (forth, forth[::-1])[nth % 2]]
    for name in progress(turns, "measuring", "run"):
        results[name].append(ways[name]())
    return results


def met(is_met: bool) -> str:
    """Return the word for a target that is met or missed."""
    return "met" if is_met else "MISSED"


def print_row(cells: Sequence[str], widths: Sequence[int]) -> None:
    """Print one row of a table at once, the first cell to the left, the others to the right."""
    first, *others = (
        cell.ljust(width) if nth == 0 else cell.rjust(width)
        for nth, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    print(first, *others, flush=True)
