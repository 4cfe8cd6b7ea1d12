"""Seeded complete blocks: each has all cells, in an order that only seed and block determine."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fsgreen.design.cell import Cell


@dataclass(frozen=True)
class PlannedTrial:
    """One trial of a plan.

    `trial` is its name. `block` and `order` count from 1; `order` is the place in the block. `seed`
    is that of the workload, and is the same for all cells of one workload within a block.
    """

    trial: str
    block: int
    order: int
    seed: int
    cell: Cell


def complete_blocks(cells: Sequence[Cell], blocks: int, seed: int) -> Iterator[PlannedTrial]:
    """Yield the trials of `blocks` passes over all cells. Each pass has its own order."""
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
    """Return a 32-bit seed that depends only on `seed` and the parts, by SHA-256."""
    text = "/".join(str(part) for part in (seed, *parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
