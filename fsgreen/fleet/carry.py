"""Bringing home what a worker has of a campaign: each trial whole, once, and as it was recorded.

A trial comes under a temporary name, which the next start goes on with, and is renamed when every
file has the hash that its record has of it.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Literal

from fsgreen import paths, trial
from fsgreen.campaign import Campaign
from fsgreen.durable import sync, whole
from fsgreen.errors import FsgreenError
from fsgreen.fleet.believed import Expected, began_unix_s, check, check_record
from fsgreen.fleet.messages import Piece, Shelf
from fsgreen.fleet.tasks import digest
from fsgreen.paths import RECORD
from fsgreen.trial import TrialRecord
from fsgreen.trial.record import foreign

Folder = Literal["trials", "invalid"]

FILE_B = 4 << 30
"""The largest file that is brought: hours of traces are some hundred MiB."""

Fetch = Callable[[Folder | None, str | None, str, int], Awaitable[Piece]]
"""What asks a worker for a part of a file: folder, trial, file, offset in bytes."""


async def carry(campaign: Campaign, shelf: Shelf, fetch: Fetch, expected: Expected) -> list[str]:
    """Bring home what is not here yet, and return the names of the trials that came.

    Raises FsgreenError if the worker began this campaign anew, or has another trial of one name; if
    a file is not the one that was recorded, larger than `FILE_B`, or not to be believed; if the
    disk is full.
    """
    folder, came = campaign.folder, []
    with trial.full_disk_explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        await _files(folder, shelf.files, fetch, expected)
        aside = {digest(one.folder / RECORD) for one in trial.list_discarded(folder)}
        shelves: Mapping[Folder, Mapping[str, str]] = {
            "trials": shelf.trials,
            "invalid": shelf.invalid,
        }
        for place, records in shelves.items():
            for name, recorded in records.items():
                here = folder / place / name
                if here.exists():
                    check_same(here, recorded)
                elif recorded not in aside:
                    await _trial(campaign, place, name, recorded, fetch, expected)
                    came.append(name)
    return came


def check_same(here: Path, recorded: str) -> None:
    """Refuse to take a trial for one of its name that is here, but has another record."""
    if digest(here / RECORD) != recorded:
        raise FsgreenError(
            "the testbed has another trial of this name; one of the two would be lost",
            where=here,
            next_step=f"mv {here} {trial.place_to_discard(here.parents[1], here.name)}, where it "
            "is kept (rule 48), then start the same command again",
        )


async def _files(folder: Path, files: Mapping[str, str], fetch: Fetch, expected: Expected) -> None:
    """Bring the files of the campaign itself, which change while it goes on."""
    for name, recorded in files.items():
        here = folder / name
        if here.is_file() and digest(here) == recorded:
            continue
        with whole(here) as partial:
            await _bytes(partial, functools.partial(fetch, None, None, name), recorded)
            async with expected.turn:
                check(name, partial, expected)
            is_begun = name == paths.IDENTITY and here.is_file()
            if is_begun and began_unix_s(here) != began_unix_s(partial):
                raise FsgreenError(
                    "the testbed began this campaign anew, and trials of both would be taken for "
                    "those of one",
                    where=folder,
                    next_step="give the testbed its trials back (copy this folder into "
                    "data/fleet/TESTBED/raw on its machine), or begin another campaign with --name",
                )


async def _trial(
    campaign: Campaign, place: Folder, name: str, recorded: str, fetch: Fetch, expected: Expected
) -> None:
    partial = campaign.folder / "trials" / f".{name}.partial"
    partial.mkdir(parents=True, exist_ok=True)

    async def bring(file: str, recorded: str) -> None:
        await _bytes(partial / file, functools.partial(fetch, place, name, file), recorded)

    await bring(RECORD, recorded)
    async with expected.turn:
        record = TrialRecord.from_json((partial / RECORD).read_bytes(), partial)
        # NAME.2 is the second that broke a rule.
        names = (name,) if place == "trials" else (name, name.rpartition(".")[0])
        check_record(record, names, campaign.name, partial, expected)
    if place == "trials" and record.exit != "ok":
        raise foreign(partial, f"it broke a rule: {record.reason!r}")
    for file, hashed in record.files.items():
        await bring(file, hashed)
    for entry in partial.iterdir():
        if entry.name not in (RECORD, *record.files):  # of one that was broken off and made anew
            entry.unlink()
            continue
        await asyncio.to_thread(sync, entry)
    final = campaign.folder / place / name
    final.parent.mkdir(exist_ok=True)
    sync(partial)
    partial.rename(final)
    sync(final.parent)


async def _bytes(file: Path, piece: Callable[[int], Awaitable[Piece]], recorded: str) -> None:
    """Bring what is missing of a file; where that makes another file, all of it once more."""
    for is_anew in (False, True):
        if is_anew:
            file.unlink()
        elif await _is_recorded(file, recorded):
            return
        with file.open("ab") as stream:
            got = await piece(stream.tell())
            size_b = got.size_b
            _check_size(file, size_b)
            while got.data and got.size_b == size_b and stream.tell() + len(got.data) <= size_b:
                stream.write(got.data)
                if stream.tell() == size_b:
                    break
                got = await piece(stream.tell())
        if await _is_recorded(file, recorded):
            return
    file.unlink()
    raise FsgreenError(
        "the file that came is not the file that was recorded",
        where=file,
        next_step="check the disk of the testbed and this one, then start again",
    )


def _check_size(file: Path, size_b: int) -> None:
    if size_b > FILE_B:
        raise FsgreenError(
            f"the testbed has a file of {size_b:,} bytes, but at most {FILE_B:,} are taken",
            where=file,
            next_step="look at this file on the testbed's machine, and check who has the "
            "certificates of the fleet",
        )


async def _is_recorded(file: Path, recorded: str) -> bool:
    return file.exists() and await asyncio.to_thread(trial.sha256_of, file) == recorded
