"""The life of an aging file system as seeded steps: creates, appends, overwrites, deletes.

Pure: the same seed and capacity give the same steps, on any machine. The idea is that of Smith and
Seltzer (SIGMETRICS 1997) and of Geriatrix (Kadekodi, Nagarajan, Ganger, USENIX ATC 2018): files of
different age and size go in random order, and what comes after fits into the gaps.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import NamedTuple

MEDIAN_B = 4096
MEAN_B = 189 * 1024
"""Median and mean size of a file in 2004: Agrawal, Bolosky, Douceur, Lorch, FAST 2007, section 4.1.
A log-normal distribution has both with sigma = sqrt(2 ln(mean / median))."""

LARGEST_SHARE = 1 / 64
"""No file is larger than this share of the capacity, or single files would decide the state (ours).
It cuts the tail: on 2 GiB the mean is about 150 KiB."""

CREATE, APPEND, OVERWRITE, DELETE = "create", "append", "overwrite", "delete"
WEIGHTS = {CREATE: 2, APPEND: 2, OVERWRITE: 1}
"""How often each is chosen while the file system fills for the first time (ours).

Appends come more often with each round, twice in the second, thrice in the third: what stays of a
round is soon deleted, and an even mix ends at a fragmentation that no further round changes."""

CHANGE_B = 16 * 1024
"""Appends and overwrites are uniform between 1 byte and this: the appends of fast10's servers
(Sehgal, Tarasov, Zadok, FAST 2010, table 1)."""

BLOCK_B = 4096


class Step(NamedTuple):
    """One step: what is done to which file, where in it and over how many bytes."""

    kind: str
    number: int
    offset_b: int
    length_b: int


class Churn:
    """A population of files that fills to `highest` of the capacity and shrinks to `utilisation`.

    Parameters
    ----------
    seed : int
        The same seed gives the same steps.
    capacity_b : int
        Bytes that the file system offers when it is empty.
    utilisation, highest : float
        Shares of the capacity at the end and at the peak of each round.
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
        """Yield deletes, each of a file chosen at random, until the utilisation is reached."""
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
