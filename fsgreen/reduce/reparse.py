"""Parsing the raw traces of a whole campaign again, and what a newer parser changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np

from fsgreen import paths
from fsgreen.design.begun import read_plan
from fsgreen.design.owncopy import measured_as
from fsgreen.durable import whole
from fsgreen.errors import FsgreenError
from fsgreen.meters.core.powertable import blocks, read_power, write_power
from fsgreen.meters.core.rawtrace import RawTrace
from fsgreen.meters.core.readings import QUANTITIES, Readings
from fsgreen.trace.powerfile import PowerFile
from fsgreen.trial import Trial, list_invalid, list_trials


@dataclass(frozen=True)
class Reparsed:
    """How the readings of one trial, parsed anew, compare with those of its `power.parquet`.

    `trial` is the trial's folder in its campaign. A reading differs in any quantity or in its
    quality, or is in one of the two only; `largest_w` is the largest difference of power, NaN
    where only one of the two has a value. `torn_b` is that of `RawTrace`.
    """

    trial: str
    readings_count: int
    different_count: int
    largest_w: float
    torn_b: int

    @property
    def equal(self) -> bool:
        """Whether every reading is the same."""
        return self.different_count == 0


def reparse_campaign(campaign: str, into: Path | None = None) -> Iterator[Reparsed]:
    """Parse every trial of a campaign again, the invalid ones too, and compare.

    Trials are never changed: new tables go to `into`/trials/TRIAL/power.parquet. Memory is bounded
    whatever the length of a trial.

    Raises FsgreenError if the campaign has no trial; if a file is not the one recorded (rule 22);
    if a raw trace cannot be parsed; if a new table would replace a file, or stand inside the
    campaign.
    """
    folder = paths.raw(campaign)
    trials = [*list_trials(folder), *list_invalid(folder)]
    if not trials:
        plan = read_plan(campaign)
        raise FsgreenError(
            f"the campaign '{campaign}' has no trial to parse again",
            where=folder,
            next_step=f"fsgreen measure {measured_as(plan)} --profile {plan.profile.name} "
            f"--name {campaign}",
        )
    if into is not None and into.resolve().is_relative_to(folder.resolve()):
        raise FsgreenError(
            "trials are never changed, so new tables cannot stand among them",
            where=into,
            next_step="name a folder outside the campaign",
        )
    for trial in trials:
        name = str(trial.folder.relative_to(folder))
        trial.verify()
        if into is not None:
            _write(trial, into / name / "power.parquet")
        yield _compare(trial, name)


def _write(trial: Trial, file: Path) -> None:
    if file.exists():
        raise FsgreenError("there is a table already", where=file, next_step="name an empty folder")
    raw = RawTrace(trial.folder / "power.raw")
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole(file) as partial:
        write_power(partial, {meter: raw.readings(meter) for meter in raw.infos})


def _compare(trial: Trial, name: str) -> Reparsed:
    raw = RawTrace(trial.folder / "power.raw")
    readings = different = 0
    largest_w = 0.0
    with PowerFile(trial.folder / "power.parquet") as stored:
        for meter in dict.fromkeys([*raw.infos, *stored.meters()]):
            anew = raw.readings(meter) if meter in raw.infos else iter(())
            for new, old in zip_longest(blocks(anew), blocks(read_power(stored, meter))):
                count, most_w = _differences(new or NONE, old or NONE)
                readings += len(new or NONE)
                different += count
                largest_w = float(np.maximum(largest_w, most_w))  # NaN stays
    return Reparsed(name, readings, different, largest_w, raw.torn_b)


NONE = Readings(np.empty(0), np.empty(0))


def _differences(new: Readings, old: Readings) -> tuple[int, float]:
    """Return how many readings of two blocks differ, and the largest difference of power."""
    common = min(len(new), len(old))
    left = max(len(new), len(old)) - common
    if not common:
        return left, 0.0
    differ = np.zeros(common, dtype=bool)
    for quantity in QUANTITIES:
        new_values, old_values = (_column(readings, quantity)[:common] for readings in (new, old))
        differ |= (new_values != old_values) & ~(np.isnan(new_values) & np.isnan(old_values))
    for place in new.flags.keys() | old.flags.keys():
        if place < common and new.flags.get(place) != old.flags.get(place):
            differ[place] = True
    gaps_w = np.abs(new.power_w[:common] - old.power_w[:common])[differ]
    both_none = np.isnan(new.power_w[:common]) & np.isnan(old.power_w[:common])
    gaps_w[both_none[differ]] = 0.0
    return left + int(differ.sum()), float(gaps_w.max(initial=0.0))


def _column(readings: Readings, quantity: str) -> np.ndarray:
    column = getattr(readings, quantity)
    return np.full(len(readings), np.nan) if column is None else column
