"""Sets of numbers that are closed under exclusive or: the algebra behind two-level designs.

A number stands for a set: each bit stands for a member. Exclusive or is the symmetric difference.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

Space = frozenset[int]


def span(generators: Iterable[int]) -> set[int]:
    """Return all numbers that exclusive or makes from the generators, including zero."""
    space = {0}
    for generator in generators:
        space |= {generator ^ member for member in space}
    return space


def orthogonal(space: Collection[int], width: int) -> list[int]:
    """Return the numbers above zero, of `width` bits, that share an even count with each member.

    The count is that of the bits that are set in both.
    """
    return [
        word
        for word in range(1, 2**width)
        if all((word & member).bit_count() % 2 == 0 for member in space)
    ]


def largest_subspace(
    numbers: Collection[int], some_of: Collection[int], accepts: Callable[[Space], bool]
) -> Space | None:
    """Return the largest closed subset of `numbers` that is accepted; None if there is none.

    Of several subsets of one size, it is the first that the search finds. The search begins with
    the numbers that have the most bits.

    The numbers include zero. The subset holds at least one of `some_of`, which are above zero.
    `accepts` returns whether a closed set is accepted.
    """
    best: Space = frozenset()

    def grow(space: Space, candidates: Sequence[int]) -> None:
        nonlocal best
        if len(space) > len(best) and accepts(space):
            best = space
        fitting = [
            number
            for number in candidates
            if number not in space and all(number ^ member in numbers for member in space)
        ]
        for place, number in enumerate(fitting):
            reach = len(space) + len(fitting) - place
            if 2 ** (reach.bit_length() - 1) <= len(best):
                return
            grow(space | {number ^ member for member in space}, fitting[place + 1 :])

    by_size = sorted(numbers, key=lambda number: (-number.bit_count(), number))
    for number in by_size:
        if number in some_of:
            grow(frozenset({0, number}), by_size)
    return best or None
