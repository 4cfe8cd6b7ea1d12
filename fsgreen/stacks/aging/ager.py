"""The ager: applies seeded churn to a file system until its files are fragmented.

It works in rounds: it fills the file system to a peak, then deletes files down to the final
utilisation. After each round, it measures the layout of every file with FIEMAP. It stops when the
target is reached, or when rounds no longer change the layout. A file system that resists aging is a
result, so it is not refused: otherwise only those that fragment could be compared. The shortfall is
recorded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fsgreen import commands
from fsgreen.devices import image
from fsgreen.errors import FsgreenError
from fsgreen.progress import progress
from fsgreen.stacks import cache
from fsgreen.stacks.aging import extents
from fsgreen.stacks.aging.churn import CREATE, DELETE, LARGEST_SHARE, Churn, Step

FOLDER = "aged"
"""The folder of the ager's files, at the root of the file system. The files stay there."""

FOLDERS = 64
"""Number of folders over which the files are spread (our choice)."""

SYNC_SHARE = 1 / 128
"""Share of the capacity after which everything is written back (our choice). Otherwise a file
system with delayed allocation would place the appends of a file together, unlike over weeks."""

NEW_FILES = 4
"""Number of new files, of the largest size, whose layout shows the state of the free space (our
choice)."""


@dataclass(frozen=True)
class Aging:
    """The target of aging, and the limits of the ager's attempts."""

    layout_score: float = 0.9
    """The target: the largest share of blocks that directly follow the previous block of the same
    file. 1 means no fragmentation (Smith and Seltzer, SIGMETRICS 1997)."""
    utilisation: float = 0.45
    """The final share of the capacity that the ager's files take. 0.45 is the mean in 2004 (Agrawal
    and others, FAST 2007, section 5.3)."""
    highest: float = 0.85
    """The share of the capacity at the peak of each round (our choice)."""
    most_rounds: int = 12
    """The most rounds."""
    patience: int = 3
    """The number of rounds without progress after which the ager stops."""
    progress: float = 0.002
    """The least change of the layout score that counts as progress."""


def age(place: Path, seed: int, aging: Aging) -> dict[str, float]:
    """Age the empty file system that is mounted on `place`; return the result.

    It has what `layout` returns, and `utilisation_percent` (of all blocks, by statvfs),
    `new_file_extents_x` (mean number of pieces of new files of 1/64 of the capacity, which shows
    how fragmented the free space is), `rounds_count`, `target_layout_score_x` and `shortfall_x`
    (how far the layout score stayed above its target; 0 if it was reached). Raises FsgreenError if
    the file system is full before the peak, or does not report the places of its blocks.
    """
    folder = place / FOLDER
    for number in range(FOLDERS):
        (folder / f"{number:02}").mkdir(parents=True)
    empty = os.statvfs(place)
    capacity_b = empty.f_bavail * empty.f_frsize
    churn = Churn(seed, capacity_b, utilisation=aging.utilisation, highest=aging.highest)
    scores: list[float] = []
    with progress(None, "aging", "round", aging.most_rounds) as rounds:
        while not _done(scores, aging):
            _live(folder, churn.fill(), sync_b=capacity_b * SYNC_SHARE)
            _live(folder, churn.shrink(), sync_b=capacity_b * SYNC_SHARE)
            _sync(folder)
            found = layout(place)
            scores.append(found["layout_score_x"])
            rounds.update()
    return {
        **found,
        "utilisation_percent": _utilisation_percent(place),
        "new_file_extents_x": _new_file_extents(folder, int(capacity_b * LARGEST_SHARE)),
        "rounds_count": len(scores),
        "target_layout_score_x": aging.layout_score,
        "shortfall_x": max(0.0, scores[-1] - aging.layout_score),
    }


def layout(place: Path) -> dict[str, float]:
    """Return the layout of the ager's files below the mount point `place`, measured with FIEMAP.

    It has `files_count`, `extents_per_file_x`, `one_piece_percent` (share of files in one piece),
    and `layout_score_x`: of all blocks except the first of each file, the share that directly
    follows the previous block (Smith and Seltzer 1997). It is 1 if no file has two blocks.
    """
    block_b = os.statvfs(place).f_bsize
    files = pieces = whole = blocks = 0
    for path, size_b in cache.files_below(place / FOLDER):
        fd = os.open(path, os.O_RDONLY | os.O_NOATIME)
        try:
            count = max(1, extents.pieces(extents.extents(fd, size_b)))
        finally:
            os.close(fd)
        files += 1
        pieces += count
        whole += count == 1
        blocks += max(1, -(-size_b // block_b))
    return {
        "files_count": files,
        "extents_per_file_x": pieces / files if files else 1.0,
        "one_piece_percent": 100 * whole / files if files else 100.0,
        "layout_score_x": 1 - (pieces - files) / (blocks - files) if blocks > files else 1.0,
    }


def _done(scores: list[float], aging: Aging) -> bool:
    """Return whether the target is reached, all rounds are used, or progress has stopped."""
    if not scores:
        return False
    if scores[-1] <= aging.layout_score or len(scores) >= aging.most_rounds:
        return True
    if len(scores) <= aging.patience:
        return False
    return min(scores[: -aging.patience]) - min(scores[-aging.patience :]) < aging.progress


def _live(folder: Path, steps: Iterable[Step], *, sync_b: float) -> None:
    waiting_b = 0
    for step in steps:
        path = folder / f"{step.number % FOLDERS:02}" / f"{step.number:07}"
        if step.kind == DELETE:
            path.unlink()
            continue
        try:
            _write(path, step)
            waiting_b += step.length_b
            if waiting_b >= sync_b:
                _sync(folder)
                waiting_b = 0
        except OSError as error:
            raise FsgreenError(
                f"the ager cannot go on: {error.strerror}",
                where=path,
                next_step="raise image_mib in the profile: a larger file system has more to spare",
            ) from error


def _write(path: Path, step: Step) -> None:
    flags = os.O_CREAT | os.O_EXCL if step.kind == CREATE else 0
    fd = os.open(path, os.O_WRONLY | flags, 0o600)
    try:
        offset_b, end_b = step.offset_b, step.offset_b + step.length_b
        while offset_b < end_b:
            offset_b += os.pwrite(fd, image.filling(offset_b, end_b), offset_b)
    finally:
        os.close(fd)


def _sync(folder: Path) -> None:
    commands.run(["sync", "--file-system", str(folder)])


def _utilisation_percent(place: Path) -> float:
    found = os.statvfs(place)
    return 100 * (found.f_blocks - found.f_bfree) / found.f_blocks


def _new_file_extents(folder: Path, size_b: int) -> float:
    """Return the mean number of pieces of new files. The files are deleted again."""
    new = [folder / f"new{number:02}" for number in range(NEW_FILES)]
    for path in new:
        _write(path, Step(CREATE, 0, 0, size_b))
    _sync(folder)
    count = 0
    for path in new:
        with path.open("rb") as opened:
            count += extents.pieces(extents.extents(opened.fileno(), size_b))
        path.unlink()
    _sync(folder)
    return count / NEW_FILES
