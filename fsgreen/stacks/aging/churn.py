"""The churn of an aging file system as seeded steps: creates, appends, overwrites, deletes.

The functions are pure: the same seed and capacity give the same steps on any machine. The idea is
from Smith and Seltzer (SIGMETRICS 1997) and from Geriatrix (Kadekodi, Nagarajan, Ganger, USENIX ATC
2018): files of different age and size are deleted in random order, and later files fill the gaps.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import NamedTuple

MEDIAN_B = 4096
MEAN_B = 189 * 1024
"""Median and mean size of a file in 2004 (Agrawal, Bolosky, Douceur, Lorch, FAST 2007, section
4.1). A log-normal distribution with sigma = sqrt(2 ln(mean / median)) has both."""

LARGEST_SHARE = 1 / 64
"""Largest size of a file as a share of the capacity (our choice), so that no single file decides
the state. It cuts off the tail: on 2 GiB, the mean is about 150 KiB."""

CREATE, APPEND, OVERWRITE, DELETE = "create", "append", "overwrite", "delete"
WEIGHTS = {CREATE: 2, APPEND: 2, OVERWRITE: 1}
"""Weights of the steps while the file system fills for the first time (our choice).

The weight of appends grows with each round: twice in the second, three times in the third. What
remains of a round is soon deleted, so with constant weights the fragmentation would stop growing.
"""

CHANGE_B = 16 * 1024
"""Largest length of appends and overwrites, which is uniform from 1 byte. It is that of appends in
fast10's servers (Sehgal, Tarasov, Zadok, FAST 2010, table 1)."""

BLOCK_B = 4096


class Step(NamedTuple):
    """One step: its kind, the number of the file, and the offset and length in the file."""

    kind: str
    number: int
    offset_b: int
    length_b: int


class Churn:
    """A population of files that fills to `highest` of the capacity and shrinks to `utilisation`.

    The same seed gives the same steps. `capacity_b` bytes are available on the empty file system.
    `utilisation` and `highest` are shares of the capacity at the end and at the peak of each round.
    """

    def __init__(self, seed: int, capacity_b: int, *, utilisation: float, highest: float) -> None:
        self._random = random.Random(seed)
        self._lowest_b = utilisation * capacity_b
        self._highest_b = highest * capacity_b
        self._largest_b = max(BLOCK_B, int(capacity_b * LARGEST_SHARE))
        self._round = 0
        self._created = 0
        self._used_b = 0
        self._alive: list[int] = []
        self.sizes_b: dict[int, int] = {}

    def fill(self) -> Iterator[Step]:
        """Yield creates, appends and overwrites until the peak is reached."""
        self._round += 1
        weights = {**WEIGHTS, APPEND: self._round * WEIGHTS[APPEND]}
        kinds, often = list(weights), list(weights.values())
        while self._used_b < self._highest_b:
            (kind,) = self._random.choices(kinds, often) if self._alive else [CREATE]
            if kind == CREATE:
                number, offset_b, length_b = self._created, 0, self._size_b()
                self._created += 1
                self._alive.append(number)
                self._resize(number, length_b)
            else:
                number = self._random.choice(self._alive)
                length_b = self._random.randint(1, CHANGE_B)
                size_b = self.sizes_b[number]
                if kind == APPEND:
                    offset_b = size_b
                    self._resize(number, size_b + length_b)
                else:
                    length_b = min(length_b, size_b)
                    offset_b = self._random.randint(0, size_b - length_b)
            yield Step(kind, number, offset_b, length_b)

    def shrink(self) -> Iterator[Step]:
        """Yield deletes of random files until the utilisation is reached."""
        while self._used_b > self._lowest_b:
            place = self._random.randrange(len(self._alive))
            self._alive[place], self._alive[-1] = self._alive[-1], self._alive[place]
            number = self._alive.pop()
            length_b = self.sizes_b[number]
            self._resize(number, 0)
            del self.sizes_b[number]
            yield Step(DELETE, number, 0, length_b)

    def _size_b(self) -> int:
        sigma = math.sqrt(2 * math.log(MEAN_B / MEDIAN_B))
        drawn_b = self._random.lognormvariate(math.log(MEDIAN_B), sigma)
        return max(1, min(round(drawn_b), self._largest_b))

    def _resize(self, number: int, size_b: int) -> None:
        before_b = self.sizes_b.get(number, 0)
        self._used_b += (-(-size_b // BLOCK_B) - -(-before_b // BLOCK_B)) * BLOCK_B
        self.sizes_b[number] = size_b
