"""Sets of numbers that are closed under exclusive or: the algebra behind two-level designs.

A number stands for a set, a bit for each member; exclusive or is the symmetric difference.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

Space = frozenset[int]


def span(generators: Iterable[int]) -> set[int]:
    """Return all that exclusive or makes of the generators, zero included."""
    space = {0}
    for generator in generators:
        space |= {generator ^ member for member in space}
    return space


def orthogonal(space: Collection[int], width: int) -> list[int]:
    """Return the numbers above zero, of `width` bits, that share an even count with each member."""
    return [
        word
        for word in range(1, 2**width)
        if all((word & member).bit_count() % 2 == 0 for member in space)
    ]


def largest_subspace(
    numbers: Collection[int], some_of: Collection[int], accepts: Callable[[Space], bool]
) -> Space | None:
    """Return the largest closed set among `numbers` that is accepted, or None.

    Parameters
    ----------
    numbers : collection of int
        With zero.
    some_of : collection of int
        Numbers above zero, of which the set holds at least one.
    accepts : callable
        Among accepted sets of one size, the one that a search from the largest members down meets
        first is returned.
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
