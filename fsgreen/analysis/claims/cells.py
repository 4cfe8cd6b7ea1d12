"""Cells as claims name them, as people write them, and in what two of them differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fsgreen.design import DEFAULT, Cell
from fsgreen.reduce import level_label


class NamedCell(NamedTuple):
    """A cell, and what the study calls it; "" where it has no name."""

    name: str
    cell: Cell


Pair = tuple[NamedCell, NamedCell]
"""The cell that a selector is about, and the one that it is compared with."""


def any_level(factor: str) -> str:
    """Return what stands in a cell for a factor over all of whose levels a claim is judged."""
    return f"any {factor}"


def spelled(cell: Mapping[str, Any]) -> str:
    """Return a cell as people write it: its workload, `ext3/dtlg`, and its other levels."""
    own = dict(cell)
    words = [str(own.pop("workload"))] if "workload" in own else []
    if "file_system" in own:
        words.append(f"{own.pop('file_system')}/{own.pop('option')}")
    words += [
        level if level == any_level(name) else level_label(name, level)
        for name, level in own.items()
    ]
    return " ".join(words)


def without_workload(cell: Cell, *, short: bool) -> str:
    """Return a cell without its workload; short is without what is a default."""
    text = spelled(cell.but(workload=None))
    return text.removesuffix(f"/{DEFAULT}") if short else text


def differing(subject: Cell, baseline: Cell) -> set[str]:
    """Return the factors in which two cells differ."""
    names = {*subject, *baseline}
    return {name for name in names if subject.get(name) != baseline.get(name)}
