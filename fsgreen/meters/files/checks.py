"""Checks that drivers for files share: regular times, gaps, power against volts and amperes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from fsgreen.meters.core.base import Imported
from fsgreen.meters.core.readings import AGREEMENT, Floats, Mask, Readings, flags_of
from fsgreen.meters.files.text import Report, few, some
from fsgreen.trace import MeterInfo

GAP_INTERVALS = 1.5
"""After a longer step, samples were lost (as in rule 13 for traces)."""

EARLY_INTERVALS = 0.5
"""After a shorter step, the time of a reading is wrong, as no meter makes such steps."""

LEAST_FROZEN, LEAST_COARSE = 4, 10
"""Least number of repeats to examine: of whole rows, and of a power alone in coarse steps. In 220
real logs of several quantities, no row was repeated more than 3 times."""

LEAST_OUTSIDE = 10
"""Least number of rows outside a run of equal rows. With fewer, nothing can be concluded."""

LEAST_ALIKE = 20
"""Least number of rows with one power that tell how often such a row repeats itself."""

FINE = 1e-3
"""If the step is a smaller share of the power, two equal readings are rare."""

IMPROBABLE = 1e-3
"""Probability below which a run of equal rows is no chance."""

REGULAR_SHARE = 0.9
EXPORT_AGAIN = "cut the file there, or export it again"
"""The next step for times that go back."""

SUM_OF_ROWS = "A power is the mean since the row before: the energy is the sum of the rows."
"""The decision to report for such a file."""


class Flags:
    """The flags of readings. Each has a mask of the readings that bear it."""

    def __init__(self) -> None:
        self.masks: dict[str, Mask] = {}

    def mark(self, places: Mask, flag: str) -> None:
        """Mark the readings at which `places` is true."""
        if places.any():
            self.masks[flag] = self.masks.get(flag, False) | places

    def places(self, flag: str) -> list[int]:
        """Return the places of the readings with a flag."""
        return np.flatnonzero(self.masks.get(flag, ())).tolist()

    def any(self, count: int) -> Mask:
        """Return a mask of the readings that bear any flag, shape (count,)."""
        return np.any([*self.masks.values(), np.zeros(count, dtype=bool)], axis=0)


def timed_rows(
    time_s: Floats,
    rows: Sequence[tuple[object, ...]],
    names: Sequence[str],
    report: Report,
    skipped: Collection[int] = (),
) -> list[int]:
    """Return the places of the rows that have a time and do not repeat the previous row.

    Raises FsgreenError if more than a few rows have no time.
    """
    kept: list[int] = []
    repeated, untimed = [], []
    for place in range(len(rows)):
        if place in skipped:
            continue
        if not np.isfinite(time_s[place]):
            untimed.append(names[place])
        elif kept and time_s[kept[-1]] == time_s[place] and rows[kept[-1]] == rows[place]:
            repeated.append(names[place])
        else:
            kept.append(place)
    if len(untimed) > few(len(rows)):
        report.refuse(
            f"{len(untimed)} of {len(rows)} rows have no time that can be read: {some(untimed)}",
            "export the file again",
        )
    if untimed:
        report.tell(f"Left out, as their time cannot be read: {some(untimed)}.")
    if repeated:
        report.tell(f"Left out, as they repeat the row before: {some(repeated)}.")
    return kept


def refuse_disorder(
    time_s: Floats, name: Callable[[int], str], report: Report, next_step: str = EXPORT_AGAIN
) -> None:
    """Raise FsgreenError if times do not rise. `name` returns the place of a reading in words."""
    back = np.flatnonzero(np.diff(time_s) <= 0)
    if len(back):
        before, after = name(int(back[0])), name(int(back[0]) + 1)
        report.refuse(f"times go back or stand still: {after} comes after {before}", next_step)


def interval_s(time_s: Floats, report: Report, *, regular: bool = True) -> float:
    """Return the usual step of rising times in seconds.

    Raises FsgreenError if the file is `regular` but has no usual step.
    """
    if not regular and len(time_s):
        return float(np.median(np.diff(time_s))) if len(time_s) > 1 else float(time_s[0])
    if len(time_s) < 2:
        report.refuse(f"the file holds {len(time_s)} readings", "export a longer recording")
    steps_s = np.diff(time_s)
    usual_s = float(np.median(steps_s))
    irregular_count = int((np.abs(steps_s - usual_s) > 0.5 * usual_s).sum())
    if irregular_count > max(few(len(steps_s)), (1 - REGULAR_SHARE) * len(steps_s)):
        report.refuse(
            f"{irregular_count} of {len(steps_s)} steps differ from the usual one of {usual_s:g} s",
            "export a recording at one interval",
        )
    return usual_s


def mark_steps(time_s: Floats, usual_s: float, flags: Flags) -> None:
    """Mark each reading after missing samples as `lost`, and each early one as `out-of-order`."""
    steps_s = np.diff(time_s, prepend=time_s[0] - usual_s)
    flags.mark(steps_s > GAP_INTERVALS * usual_s, "lost")
    flags.mark(steps_s < EARLY_INTERVALS * usual_s, "out-of-order")


def mark_frozen(
    repeats: Mask, power_w: Floats, step_w: float, quantities: int, flags: Flags
) -> None:
    """Mark rows that repeat the previous one for longer than chance can explain, as `frozen`.

    `repeats` is a mask of the rows that equal the previous one. The probability of a repeat comes
    from the rows outside a run: those with its power, or all, whichever is larger, as a steady
    power repeats itself. Rows of 0 W are left to the checks of traces, as off is off. A power that
    is NaN is unknown.
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([0], repeats.astype(np.int8), [0]))))
    begins, lengths = edges[::2], edges[1::2] - edges[::2]
    sizes_w = np.abs(power_w[np.isfinite(power_w)])
    fine = quantities > 1 or (len(sizes_w) and step_w <= FINE * np.median(sizes_w))
    count, total = len(repeats), int(repeats.sum())
    chances = (total - lengths + 1) / (count - lengths + 1)
    suspects = (lengths >= (LEAST_FROZEN if fine else LEAST_COARSE)) & (power_w[begins] != 0)
    suspects &= (count - lengths >= LEAST_OUTSIDE) & (count * chances**lengths < IMPROBABLE)
    frozen = np.zeros(count, dtype=bool)
    for begin, length in zip(begins[suspects], lengths[suspects], strict=True):
        alike = np.abs(power_w - power_w[begin]) <= 2 * step_w
        alike[begin - 1 : begin + length] = False
        chance = repeats[alike].mean() if alike.sum() >= LEAST_ALIKE else 0.0
        frozen[begin : begin + length] = count * chance**length < IMPROBABLE
    flags.mark(frozen, "frozen")


def same_rows(table: Floats) -> Mask:
    """Return a mask of the rows of a table that equal the previous row. NaN equals nothing."""
    return np.append(False, (table[1:] == table[:-1]).all(axis=1))


def disagree(one: Floats, other: Floats, apparent_va: Floats, margin: Floats | float) -> Mask:
    """Return a mask: two powers differ by more than a tenth of the apparent power and a margin."""
    return np.abs(one - other) > AGREEMENT * np.abs(apparent_va) + margin


def imported(
    info: MeterInfo,
    readings: Readings,
    flags: Flags,
    report: Report,
    name: Callable[[int], str] | None = None,
    *,
    means: bool = False,
) -> Imported:
    """Return the content of a file, with a sentence for each flag.

    `name` returns the place of a reading in words.
    """
    if means:
        report.tell(SUM_OF_ROWS)
    for flag, mask in sorted(flags.masks.items()):
        which = "" if name is None else f": {some([name(n) for n in flags.places(flag)])}"
        report.tell(f"{int(mask.sum())} of {len(readings)} readings are marked {flag}{which}.")
    readings.flags.update(flags_of(flags.masks))
    return Imported(info, readings, tuple(report.decisions), means)
