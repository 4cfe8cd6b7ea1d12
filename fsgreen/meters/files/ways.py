"""Of the few ways to read a file, the one that fits: each is tried on the whole file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fsgreen.meters.core.readings import Floats
from fsgreen.meters.files.checks import few
from fsgreen.meters.files.text import Report


def choose(
    setting: str,
    ways: Mapping[str, Floats],
    texts: Sequence[str],
    counts: Sequence[int],
    wanted: str,
    preferences: Sequence[Callable[[str], bool]],
    shown: Callable[[str, str], str],
    report: Report,
) -> str:
    """Return the name of the way that fits a file; `setting` is what a user names it by.

    `ways` are what each of `texts` is in each way, NaN where it cannot be read so; `counts` how
    often each stands in the file. A way fits that leaves at most a few texts more unread than the
    best one, and whose readings are not all those of another, which reads more. While several fit
    and differ, those that meet the next of `preferences` are kept, if any does. `shown` says what a
    text (first) is in a way (second).

    Raises FsgreenError where the ways that are left read a text differently: with both readings;
    or where the setting names a way, `wanted`, that is none of them.
    """
    often = np.array(counts)
    unread = {name: int(often[np.isnan(values)].sum()) for name, values in ways.items()}
    most = min(unread.values()) + few(int(often.sum()))
    left = [name for name in ways if unread[name] <= most]
    left = [name for name in left if not any(_more(ways[o], ways[name]) for o in left)]
    for makes_sense in preferences:
        if _different(left, ways) is not None:
            left = [name for name in left if makes_sense(name)] or left
    if wanted and wanted not in left:
        report.refuse(
            f'{setting} = "{wanted}" contradicts the file, which reads as {" or ".join(left)}',
            "leave the setting out",
        )
    if wanted:
        return wanted
    if (different := _different(left, ways)) is not None:
        other, place = different
        text = texts[place]
        report.refuse(
            f"{text} may be {shown(text, left[0])} or {shown(text, other)}",
            f'set {setting} = "{left[0]}" or {setting} = "{other}"',
        )
    alike = "" if len(left) == 1 else "; no cell tells them apart"
    report.tell(f"{setting.capitalize()} are written as {' or '.join(left)}{alike}.")
    return left[0]


def _more(one: Floats, other: Floats) -> bool:
    """Whether `one` reads all that `other` reads, alike, and more."""
    read = ~np.isnan(other)
    return bool((one[read] == other[read]).all() and np.isnan(one).sum() < np.isnan(other).sum())


def _different(left: Sequence[str], ways: Mapping[str, Floats]) -> tuple[str, int] | None:
    """Return a way that differs from the first one, and where; None if none does."""
    first = ways[left[0]]
    for name in left[1:]:
        same = (ways[name] == first) | (np.isnan(ways[name]) & np.isnan(first))
        if not same.all():
            return name, int(np.argmin(same))
    return None
