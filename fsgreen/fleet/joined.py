"""One campaign of the blocks that testbeds shared: each trial once, in the files that came home.

`campaign` in its records says on which testbed a trial was measured. What a testbed measured of a
block that another then began anew is kept aside: half a block compares nothing.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fsgreen import paths, trial
from fsgreen.campaign import Campaign
from fsgreen.design.members import member
from fsgreen.durable import sync, whole
from fsgreen.errors import FsgreenError
from fsgreen.fleet.carry import check_same
from fsgreen.fleet.given import Given, in_order
from fsgreen.fleet.tasks import digest
from fsgreen.paths import RECORD
from fsgreen.trial import Trial
from fsgreen.trial.folder import DISCARDED, SUPERSEDED
from fsgreen.words import plural

CONFOUNDS = "confounds.json"


def join(name: str, lines: Sequence[Given]) -> Campaign:
    """Make the campaign of what testbeds measured, or add to it what is not there yet.

    `name` is what the campaigns of the testbeds are called before the name of the testbed. `lines`
    say who was given which block; the last one of a block counts. Raises FsgreenError if another
    fsgreen is at it, their plans are not one, a trial is missing, damaged or another one than
    before, or the disk is full.
    """
    made, owners = Campaign(name), {line.block: line.testbed for line in lines}
    testbeds = dict.fromkeys(line.testbed for line in lines)
    every = {testbed: Campaign(member(name, testbed)) for testbed in testbeds}
    begun = {testbed: each for testbed, each in every.items() if each.begun()}
    with made.alone(), trial.full_disk_explained(made.folder):
        for each in begun.values():
            made.adopt(each.plan())
        aside = {
            recorded
            for place in (DISCARDED, SUPERSEDED, "invalid")
            for recorded in _digests(made.folder / place)
        }
        for testbed, each in begun.items():
            for one in trial.list_trials(each.folder):
                counts = owners.get(one.record.block) == testbed
                _add(one, made.folder, "trials" if counts else SUPERSEDED, aside)
            for one in trial.list_invalid(each.folder):
                _add(one, made.folder, "invalid", aside)
            for one in trial.list_discarded(each.folder):
                _add(one, made.folder, DISCARDED, aside)
        measured = {testbed: each for testbed, each in begun.items() if testbed in owners.values()}
        blocks = {each.name: in_order(lines, testbed) for testbed, each in measured.items()}
        _keep_identity(made, [*measured.values()], blocks)
    if pending := [planned.trial for planned in made.pending()]:
        raise FsgreenError(
            f"{plural(len(pending), 'trial')} of the plan did not come, {pending[0]} first: "
            "a trial that is set aside in this campaign only is not measured again",
            where=made.folder,
            next_step="move them from trials/ into discarded/ in the campaign of their testbed, "
            "too, here and on its machine, then start the same command again",
        )
    return made


def _add(one: Trial, target: Path, place: str, aside: set[str]) -> None:
    """Add a trial to a campaign, unless it is there or was set aside there."""
    recorded = digest(one.folder / RECORD)
    if recorded in aside:
        return
    final = target / place / one.name
    if place == "trials" and final.exists():
        check_same(final, recorded)
        return
    if place in (DISCARDED, SUPERSEDED):
        final = trial.place_to_discard(target, one.name, place)
    if place == "invalid":
        names = (final.with_name(f"{one.name}.{nth}") for nth in itertools.count(1))
        final = next(free for free in names if not free.exists())
    _link(one.folder, target / "trials" / f".{one.name}.partial", final)
    aside.update([recorded] if place != "trials" else ())


def _link(source: Path, partial: Path, final: Path) -> None:
    """Have the files of a folder in a second one, without room of their own where that can be."""
    shutil.rmtree(partial, ignore_errors=True)
    final.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source, partial, copy_function=_link_or_copy)
    for file in partial.iterdir():
        sync(file)
    sync(partial)
    partial.rename(final)
    sync(final.parent)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # this file system has no hard links
        shutil.copy2(source, target)


def _digests(folder: Path) -> set[str]:
    entries = folder.iterdir() if folder.is_dir() else ()
    return {digest(entry / RECORD) for entry in entries}


def _keep_identity(
    made: Campaign, members: Sequence[Campaign], blocks: Mapping[str, Sequence[int]]
) -> None:
    """Write what the campaign began with: the testbed whose core is the fastest stands for all.

    Each trial was held to the speed and the idle band of its own testbed.
    """
    by_speed = sorted(
        members, key=lambda each: each.identity()["audit"].get("speed_loops_s") or 0, reverse=True
    )
    identities = [each.identity() for each in by_speed]
    probes = [each.folder / CONFOUNDS for each in by_speed if (each.folder / CONFOUNDS).exists()]
    if probes and not (made.folder / CONFOUNDS).exists():
        with whole(made.folder / CONFOUNDS) as partial:
            shutil.copy2(probes[0], partial)
    began: dict[str, Any] = {
        **identities[0],
        "campaign": made.name,
        "testbeds": [each.name for each in members],
        "blocks": blocks,
        "speeds_loops_s": {
            each.name: its["audit"].get("speed_loops_s")
            for each, its in zip(by_speed, identities, strict=True)
        },
        "started_unix_s": min(each["started_unix_s"] for each in identities),
        "idle_power_w": max(each["idle_power_w"] for each in identities),
        "idle_band_w": max(each["idle_band_w"] for each in identities),
        "preflight": [start for each in identities for start in each.get("preflight", ())],
    }
    if bands := _highest([each.get("idle_bands_w", {}) for each in identities]):
        began["idle_bands_w"] = bands
    if not (made.folder / paths.IDENTITY).exists() or made.identity() != began:
        made.keep_identity(began)


def _highest(bands: Sequence[Mapping[str, float]]) -> dict[str, float]:
    disks = {disk for each in bands for disk in each}
    return {disk: max(each[disk] for each in bands if disk in each) for disk in sorted(disks)}
