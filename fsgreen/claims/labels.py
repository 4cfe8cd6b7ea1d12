"""Numbers of one claim, each after the words that tell its part from the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from fsgreen.words import listed

CLAUSES = re.compile(r"(?<=[,:]) (?![^(]*\))")
"""What stands between the clauses of a part's name, and not within parentheses."""


def labelled(parts: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return the number of each part after its label; one number alone if all are the same.

    A part is its name, the published number and ours; one without a number has its name in place of
    it. A label is the name without the clauses with which all names begin or end. It has the
    published number if another part of the same name has another one.
    """
    every = list(dict.fromkeys(parts))
    if len({number for _, _, number in every}) == 1:
        return [every[0][2]]
    of_name: dict[str, set[str]] = {}
    for name, published, _ in every:
        of_name.setdefault(name, set()).add(published)
    names = [
        f"{name}, published {published}" if len(of_name[name]) > 1 else name
        for name, published, _ in every
    ]
    return [
        number if number == name else f"{label}: {number}"
        for (name, _, number), label in zip(every, _labels(names), strict=True)
    ]


def published_labelled(parts: Iterable[tuple[str, str]]) -> list[str]:
    """Return each published number after the labels of its parts; one alone if all are the same.

    Parameters
    ----------
    parts : iterable of tuple of str
        Name and published number of each part; "" where none was published.
    """
    every = list(dict.fromkeys(parts))
    of_number: dict[str, dict[str, None]] = {}
    for label, (_, number) in zip(_labels([name for name, _ in every]), every, strict=True):
        if number:
            of_number.setdefault(number, {})[label] = None
    if len(of_number) == 1:
        return list(of_number)
    return [f"{listed(labels)}: {number}" for number, labels in of_number.items()]


def _labels(names: Sequence[str]) -> Sequence[str]:
    """Return the names without the clauses that all share; whole if nothing is left of one."""
    clauses = [CLAUSES.split(name) for name in names]
    first = _alike(clauses)
    last = _alike([of_name[first:][::-1] for of_name in clauses])
    own = [" ".join(of_name[first : len(of_name) - last]).rstrip(",:") for of_name in clauses]
    return own if all(own) else names


def _alike(clauses: Iterable[Sequence[str]]) -> int:
    """Return with how many clauses all begin."""
    together = zip(*clauses, strict=False)
    return len(list(takewhile(lambda of_place: len({*of_place}) == 1, together)))
