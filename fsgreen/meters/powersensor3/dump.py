"""The text that PowerSensor3's host library dumps: a header, then one line for each sample.

The times of the lines are those at which the host read them, in bursts; after 100 s they have only
milliseconds. Therefore samples are counted by the device's stamps, as in the live stream, and the
count is tied to the earliest of these times. Source: PowerSensor::dump and dumpCurrentWattToFile in
host/src/PowerSensor.cc 1.6.1, github.com/nlesc-recruit/PowerSensor3.
"""

from __future__ import annotations

import re

import numpy as np

from fsgreen.meters.common.timing import MAX_SLEW
from fsgreen.meters.core.base import Imported, Importer
from fsgreen.meters.core.readings import Floats, Mask, Readings, flags_of
from fsgreen.meters.core.settings import Above0, Accuracy, From0, Texts
from fsgreen.meters.files.checks import Flags, mark_frozen, same_rows
from fsgreen.meters.powersensor3.packets import LATE_S, STAMP_US, counts_of, interval_us
from fsgreen.meters.powersensor3.text import HEAD, Lines, lines_of, refused

DIGITS = 6
"""The significant digits that C++ prints; if times are absolute, the decimals."""

UTC_S = 1e8
"""Times above this are seconds since 1970; times below it count from the library's start."""

MAX_LOST = 0.01
"""If a larger share of samples follows a gap, the file is no stream of one meter."""

NEAR = 2000
"""The number of samples before and after a gap whose earliest arrivals tell its length."""

STAY = 10
"""If samples stay late for so many times `NEAR`, they are not delayed: samples were lost."""

DRIFT_S = 10.0
"""The drift of the clocks is fitted if the file is longer than this."""


class DumpSettings(Accuracy):
    """The settings of a dump."""

    range_w: Above0
    resolution_w: From0 = 0.0
    """One step of the sensors in watts; 0: computed from the steps of the currents."""
    serial: str = "not stated"
    covers: Texts = ("disk",)


def read_dump(data: bytes, settings: DumpSettings) -> Imported:
    """Read a dump; raises FsgreenError if it is none, or if its times contradict each other.

    Flags: cut, bad-count, bad-number (the line cannot be read and has no value), lost (samples are
    missing before this one), negative (by more than the constant error), inconsistent (power is not
    volts times amperes, the total is not the sum, or the time is not the previous time and the
    step), frozen (all sensors repeat their values for longer than by chance).
    """
    lines = lines_of(data)
    stamps = lines.column("device_timestamp").astype(np.int64)
    step_us = interval_us(stamps)
    if len(stamps) < 2 or not step_us > 0:
        raise refused("the dump has fewer than two samples with rising stamps")
    rate_hz = float(round(1e6 / step_us, -1))
    numbers, lost = _counted(stamps, lines.column("time"), 1e6 / rate_hz)
    sound_s, drift = _timed(numbers, lines.column("time"), 1 / rate_hz)
    pairs = [name.removeprefix("power") for name in lines.columns if re.match(r"power\d", name)]
    power_w = lines.column("power_total")
    masks = {
        "lost": lost,
        "inconsistent": _contradicts(lines, pairs),
        "negative": power_w < -settings.constant_error_w,
    }
    resolution_w = settings.resolution_w or _resolution_w(lines, pairs, settings.volts)
    sensed = lines.values[:, len(HEAD) - 1 :]
    stuck = Flags()
    mark_frozen(same_rows(sensed), power_w, resolution_w, sensed.shape[1], stuck)
    masks |= stuck.masks
    info = settings.info(
        model=f"PowerSensor3, {len(pairs)} pairs of sensors",
        boundary=settings.boundary or "dc-rail",
        rate_hz=rate_hz,
        resolution_w=resolution_w,
    )
    absolute = lines.column("time")[0] > UTC_S
    origin_s = 0.0 if absolute else float(sound_s[0])
    time_s = _filled(sound_s - origin_s, lines.sound, 1 / rate_hz)
    single = len(pairs) == 1
    readings = Readings(
        time_s,
        _spread(power_w, lines.sound),
        _spread(lines.column(f"voltage{pairs[0]}"), lines.sound) if single else None,
        _spread(lines.column(f"current{pairs[0]}"), lines.sound) if single else None,
        flags=flags_of(
            lines.flaws | {name: _spread(mask, lines.sound, False) for name, mask in masks.items()}
        ),
    )
    decisions = [
        "times are seconds since 1970 UTC" if absolute else "times count from the first sample",
        f"samples are counted by the device's stamps, {rate_hz:g} a second; the clocks drift "
        f"by {1e6 * drift:.0f} ppm",
        f"a step of the sensors is {resolution_w:.3g} W",
    ]
    decisions += [f"marker {name} at {time_s[row]:.6f} s" for row, name in lines.markers]
    if not lines.sound.all():
        decisions.append(f"{int((~lines.sound).sum())} lines cannot be read: no value")
    return Imported(info, readings, tuple(decisions))


def _counted(stamps: np.ndarray, host_s: Floats, step_us: float) -> tuple[np.ndarray, Mask]:
    """Return the samples' numbers, and which samples follow a loss.

    The stamps tell the length of a loss except for whole turns of the stamp. The host's times tell
    the number of turns, since all samples after a loss come later.
    """
    counts = counts_of(stamps, int(stamps[0] - round(step_us)), step_us)
    lost = counts > 1
    gaps = np.flatnonzero(lost)
    if len(gaps) > MAX_LOST * len(stamps) + 1:
        raise refused(f"{len(gaps)} of {len(stamps)} samples follow a gap: the stamps do not fit")
    limit_s = LATE_S + 2 * _fineness_s(host_s)
    for places in (gaps, None):
        late_s = host_s - np.cumsum(counts) * step_us * 1e-6
        if places is None:
            places = _steps(late_s, limit_s)
        for nth, gap in enumerate(places):
            before = max(places[nth - 1] if nth else 0, gap - NEAR)
            after = min([*places[nth + 1 : nth + 2], len(stamps), gap + NEAR])
            if gap == 0:
                continue
            longer_s = late_s[gap:after].min() - late_s[before:gap].min()
            if longer_s > limit_s:
                counts[gap] += round(round(1e6 * longer_s / STAMP_US) * STAMP_US / step_us)
                lost[gap] = True
    return np.cumsum(counts), lost


def _steps(late_s: Floats, limit_s: float) -> np.ndarray:
    """Return the places after which all samples are later, in groups of `NEAR` samples."""
    starts = np.arange(0, len(late_s), NEAR)
    least_s = np.minimum.reduceat(late_s, starts)
    padded_s = np.pad(least_s, STAY, mode="edge")
    window_s = np.lib.stride_tricks.sliding_window_view(padded_s, STAY).min(axis=1)
    later = window_s[STAY : STAY + len(starts)] - window_s[: len(starts)] > limit_s
    return starts[later & ~np.roll(later, 1)]


def _timed(numbers: np.ndarray, host_s: Floats, step_s: float) -> tuple[Floats, float]:
    """Return the host's time of each sample, and the drift of the device's clock against it."""
    late_s = host_s - numbers * step_s
    starts = _starts_of_seconds(numbers, 1e6 * step_s)
    drift = 0.0
    if (numbers[-1] - numbers[0]) * step_s > DRIFT_S:
        least_s = np.minimum.reduceat(late_s, starts)[:-1]
        drift = float(np.polyfit(numbers[starts][:-1] * step_s, least_s, 1)[0])
        if abs(drift) > MAX_SLEW:
            raise refused(f"the host's times and the stamps drift apart by {1e6 * drift:.0f} ppm")
    even_s = numbers * step_s * (1 + drift)
    return even_s + float(np.median(np.minimum.reduceat(host_s - even_s, starts))), drift


def _starts_of_seconds(numbers: np.ndarray, step_us: float) -> np.ndarray:
    """Return the place of the first sample of every second."""
    return np.unique(np.floor(numbers * step_us * 1e-6), return_index=True)[1]


def _fineness_s(host_s: Floats) -> float:
    """Return the size of the last digit of the times."""
    top_s = float(host_s.max())
    if top_s > UTC_S:
        return 10.0**-DIGITS
    return float(10.0 ** (np.floor(np.log10(max(top_s, 1.0))) + 1 - DIGITS))


def _contradicts(lines: Lines, pairs: list[str]) -> Mask:
    """Return which lines contradict themselves.

    A pair's power is volts times amperes, the total is the sum, and the time rises by `dt_micro`.
    """
    wrong = np.zeros(len(lines.values), dtype=bool)
    total_w = np.zeros(len(lines.values))
    for pair in pairs:
        current_a, voltage_v, power_w = (
            lines.column(f"{what}{pair}") for what in ("current", "voltage", "power")
        )
        rounding_w = 1e-6 * (1 + abs(current_a) + abs(voltage_v)) + 3e-5 * abs(power_w)
        wrong |= abs(current_a * voltage_v - power_w) > rounding_w
        total_w += power_w
    slack_w = 1e-6 * (1 + len(pairs)) + 3e-5 * abs(total_w)
    wrong |= abs(total_w - lines.column("power_total")) > slack_w
    host_s = lines.column("time")
    strayed_s = np.diff(host_s) - 1e-6 * lines.column("dt_micro")[1:]
    adjacent = np.diff(np.flatnonzero(lines.sound)) == 1
    wrong[1:] |= adjacent & (abs(strayed_s) > 2 * _fineness_s(host_s) + 2e-6)
    return wrong


def _resolution_w(lines: Lines, pairs: list[str], volts: float | None) -> float:
    """Return the step of power: the sum of each current's smallest step times its voltage."""
    total_w = 0.0
    for pair in pairs:
        levels_a = np.unique(lines.column(f"current{pair}")[:100_000])
        steps_a = np.diff(levels_a)
        steps_a = steps_a[steps_a > 1e-5 * abs(levels_a[1:])]
        if not len(steps_a):
            raise refused(f"current{pair} never changes, so the file does not tell its step")
        total_w += float(steps_a.min()) * (volts or float(lines.column(f"voltage{pair}").mean()))
    return total_w


def _spread(values: np.ndarray, sound: Mask, other: float = np.nan) -> np.ndarray:
    """Return an array for all lines: `values` for the sound lines, and `other` for the rest."""
    spread = np.full(len(sound), other)
    spread[sound] = values
    return spread


def _filled(time_s: Floats, sound: Mask, step_s: float) -> Floats:
    """Return rising times for all lines; lines without a time are interpolated."""
    places = np.flatnonzero(sound)
    first, last = places[0], places[-1]
    rows = np.arange(len(sound))
    filled = np.interp(rows, places, time_s)
    filled[:first] = time_s[0] - step_s * (first - rows[:first])
    filled[last + 1 :] = time_s[-1] + step_s * (rows[last + 1 :] - last)
    return filled


IMPORTER = Importer(
    name="powersensor3-dump",
    summary="the text that PowerSensor3's host library dumps (psrun -f, pstest -f)",
    settings=DumpSettings,
    read=read_dump,
)
