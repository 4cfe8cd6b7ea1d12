"""The ager: lets a file system live through seeded churn until its files lie in pieces.

It works in rounds: fill the file system to a peak, then delete down to the utilisation that
remains. After each round the layout of every file is measured with FIEMAP. It stops when the
target is reached, or when rounds no longer change the layout: a file system that resists is a
result, and refusing it would leave only the weak ones to compare. The shortfall is recorded.
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
"""The folder of the ager's files, at the root of the file system; they stay there."""

FOLDERS = 64
"""How many folders the files are spread over (ours)."""

SYNC_SHARE = 1 / 128
"""After what share of the capacity everything is written back (ours). A file system that delays
allocation would otherwise place appends of one file together, as it never does over weeks."""

NEW_FILES = 4
"""The free space is judged by what so many new files of the largest size get (ours)."""


@dataclass(frozen=True)
class Aging:
    """What an aged file system is to be, and how long the ager tries.

    Attributes
    ----------
    layout_score : float
        The target: the share of blocks that follow the block before them in the same file, at
        most. 1 is a file system without fragmentation (Smith and Seltzer, SIGMETRICS 1997).
    utilisation : float
        Share of the capacity that the ager's files take in the end. 0.45 is the mean of 2004
        (Agrawal and others, FAST 2007, section 5.3).
    highest : float
        Share of the capacity at the peak of each round (ours).
    most_rounds : int
        When to give up.
    patience : int
        Rounds without progress after which the ager gives up.
    progress : float
        The change of the layout score that counts as progress.
    """

    layout_score: float = 0.9
    utilisation: float = 0.45
    highest: float = 0.85
    most_rounds: int = 12
    patience: int = 3
    progress: float = 0.002


def age(place: Path, seed: int, aging: Aging) -> dict[str, float]:
    """Age the empty file system mounted on `place` and return what was reached.

    Returns
    -------
    dict
        What `layout` measures, and `utilisation_percent` (of all blocks, by statvfs),
        `new_file_extents_x` (mean pieces of new files of 1/64 of the capacity, which shows how
        the free space is cut up), `rounds_count`, `target_layout_score_x` and `shortfall_x` (how
        far the layout score stayed above its target; 0 where it was reached).

    Raises
    ------
    FsgreenError
        If the file system is full before the peak, or does not tell where its blocks lie.
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
    """Return how the ager's files below the mount `place` lie, measured with FIEMAP.

    Returns
    -------
    dict
        `files_count`, `extents_per_file_x`, `one_piece_percent` (share of files that lie in one
        piece), `layout_score_x` (of all blocks but the first of each file, the share that follows
        the block before: Smith and Seltzer 1997; 1 where no file has two blocks).
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
    """Whether the target is reached, the time is up, or the last rounds made no progress."""
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
    """Return the mean number of pieces of new files, which are removed again."""
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
