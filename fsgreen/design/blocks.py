"""Seeded complete blocks: the cells in an order that depends on the seed and the block alone."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fsgreen.design.cell import Cell


@dataclass(frozen=True)
class PlannedTrial:
    """One trial of a plan. Cells of one workload share their seed within a block."""

    trial: str
    block: int
    order: int
    seed: int
    cell: Cell


def complete_blocks(cells: Sequence[Cell], blocks: int, seed: int) -> Iterator[PlannedTrial]:
    """Yield the trials of `blocks` passes over all cells, each pass in an order of its own."""
    for block in range(1, blocks + 1):
        order = list(cells)
        random.Random(derive_seed(seed, "order", block)).shuffle(order)
        for number, cell in enumerate(order, start=1):
            yield PlannedTrial(
                trial=f"b{block:02d}-{number:03d}-{cell.label}",
                block=block,
                order=number,
                seed=derive_seed(seed, cell["workload"], block),
                cell=cell,
            )


def derive_seed(seed: int, *parts: object) -> int:
    """Return a 32-bit seed that depends on `seed` and the parts alone."""
    text = "/".join(str(part) for part in (seed, *parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
