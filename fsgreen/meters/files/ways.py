"""Of the few ways to read the cells of a file, the one that fits: all are tried on all cells."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from fsgreen.meters.files.checks import few
from fsgreen.meters.files.text import Report

Read = Mapping[str, Hashable | None]
"""What each distinct cell is in one way to read it; None where that way cannot read it."""


def choose(
    setting: str,
    ways: Mapping[str, Read],
    counts: Mapping[str, int],
    wanted: str,
    preferences: Sequence[Callable[[str], bool]],
    shown: Callable[[str, str], str],
    report: Report,
) -> str:
    """Return the name of the way that fits a file; `setting` is what a user names it by.

    A way fits that leaves at most a few cells more unread than the best one, and that no other
    surpasses, which reads the same alike and more. While several fit and differ, those that meet
    the next of `preferences` are kept, if any does. `counts` has how often each distinct cell
    stands in the file; `shown` says what a cell (first) is in a way (second).

    Raises FsgreenError where the ways that are left read a cell differently: with both readings;
    or where the setting names a way, `wanted`, that is none of them.
    """
    unread = {
        name: sum(counts[cell] for cell, value in read.items() if value is None)
        for name, read in ways.items()
    }
    most = min(unread.values()) + few(sum(counts.values()))
    left = [name for name in ways if unread[name] <= most]
    left = [name for name in left if not any(_surpasses(ways[o], ways[name]) for o in left)]
    for makes_sense in preferences:
        if _first_difference(left, ways) is not None:
            left = [name for name in left if makes_sense(name)] or left
    if wanted and wanted not in left:
        report.refuse(
            f'{setting} = "{wanted}" contradicts the file, which reads as {" or ".join(left)}',
            "leave the setting out",
        )
    if wanted:
        return wanted
    if (difference := _first_difference(left, ways)) is not None:
        other, cell = difference
        report.refuse(
            f"{cell} may be {shown(cell, left[0])} or {shown(cell, other)}",
            f'set {setting} = "{left[0]}" or {setting} = "{other}"',
        )
    alike = "" if len(left) == 1 else "; no cell tells them apart"
    report.tell(f"{setting.capitalize()} are written as {' or '.join(left)}{alike}.")
    return left[0]


def _surpasses(one: Read, other: Read) -> bool:
    """Whether `one` reads all that `other` reads, alike, and more."""
    return one != other and all(
        value is None or one[cell] == value for cell, value in other.items()
    )


def _first_difference(left: Sequence[str], ways: Mapping[str, Read]) -> tuple[str, str] | None:
    """Return a way that differs from the first one, and a cell that shows it; None if none does."""
    first = ways[left[0]]
    for name in left[1:]:
        for cell, value in ways[name].items():
            if value != first[cell]:
                return name, cell
    return None
