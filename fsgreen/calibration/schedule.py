"""The schedule of a calibration: idle, passes over the steps in random order, idle; all recorded.

Every step lasts long enough for the meter's constant error (rule 16). Its start, in which power
settles, and the interval across its end are not used.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isinf
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm.auto import tqdm

from fsgreen import trace
from fsgreen.calibration.exercise import IDLE, Exercise, Step
from fsgreen.errors import FsgreenError
from fsgreen.meters import Capture, HostSampler, Meter
from fsgreen.meters.modelled.activity import activity

if TYPE_CHECKING:
    import pandas as pd

    from fsgreen.meters.modelled.table import Span

PASSES = 2
PROBE_S = 5.0
"""How long idle power is looked at before the length of the steps is decided."""

SETTLE_S = 3.0
"""Start of a step that is not used: the machine and the meter's filter come to rest."""

MEASURE_S = 10.0
MIN_READINGS = 10
"""A step's mean is over both of these at least."""

BUSY_PERCENT = 5.0
POLL_S = 0.2
BAR_FORMAT = "{desc}: {percentage:3.0f} %|{bar}| {elapsed}, {remaining} to go{postfix}"


@dataclass(frozen=True)
class Recording:
    """What a schedule left: traces, the used part of each step, and remarks on the meters."""

    power: pd.DataFrame
    host: pd.DataFrame
    spans: Sequence[Span]
    remarks: Mapping[str, str]


def record(
    meters: Mapping[str, Meter],
    host: HostSampler,
    cores: HostSampler,
    steps: Sequence[Step],
    raw: Path,
    *,
    minutes: float | None = None,
    seed: int,
) -> Recording:
    """Run the schedule and return what was recorded; the raw trace is at `raw`.

    `host` is sampled throughout; `cores` before, to see that the machine rests.
    `minutes` holds as many passes as fit, `PASSES` without it; each pass has an order of its own,
    drawn from the seed. Raises FsgreenError, and leaves no raw trace, if a meter fails, a load
    stops, the machine is busy from the start (rule 10), or not one pass fits.
    """
    try:
        with Capture(meters, raw, host) as capture:
            idle_w = _idle_power_w(meters, cores, capture)
            plan = _Plan(meters, idle_w)
            order = _order(steps, plan.passes(len(steps), minutes), seed)
            spans = _run(order, plan, capture)
            power, host_table = capture.finish()
    except BaseException:
        raw.unlink(missing_ok=True)
        raise
    return Recording(power, host_table, spans, plan.remarks)


class _Plan:
    """How long a step lasts and which part of it is used."""

    def __init__(self, meters: Mapping[str, Meter], idle_w: Mapping[str, float]) -> None:
        infos = {name: meter.describe() for name, meter in meters.items()}
        self.interval_s = max(1 / info.rate_hz for info in infos.values())
        self.settle_s = max(SETTLE_S, 2 * self.interval_s)
        self.remarks = {}
        least_s = [MEASURE_S, MIN_READINGS * self.interval_s]
        for name, info in infos.items():
            needed_s = trace.minimum_duration_s(
                idle_w[name],
                constant_error_w=info.constant_error_w,
                constant_error_j=info.constant_error_j,
            )
            if isinf(needed_s):
                self.remarks[name] = (
                    f"the meter's constant error of {info.constant_error_w:g} W is more than 2 % "
                    f"of {idle_w[name]:.1f} W at idle, however long a step is (rule 16): "
                    "idle_w is no surer than that"
                )
            else:
                least_s.append(needed_s)
        self.step_s = self.settle_s + max(least_s) + self.interval_s

    def passes(self, count: int, minutes: float | None) -> int:
        if minutes is None:
            return PASSES
        passes = int((60 * minutes - PROBE_S) / self.step_s - 2) // count
        if passes < 1:
            needed = ceil(((count + 2) * self.step_s + PROBE_S) / 60)
            raise FsgreenError(
                f"{minutes:g} minutes are too short for one pass over {count} steps of "
                f"{self.step_s:.0f} s",
                where="the schedule of the calibration",
                next_step=f"give it {needed} minutes, better {2 * needed}",
            )
        return passes


def _order(steps: Sequence[Step], passes: int, seed: int) -> list[Step]:
    chance = random.Random(seed)
    order = [IDLE]
    for _ in range(passes):
        order += chance.sample(steps, len(steps))
    return [*order, IDLE]


def _run(order: Sequence[Step], plan: _Plan, capture: Capture) -> list[Span]:
    spans = []
    total_s = ceil(len(order) * plan.step_s)
    with tqdm(total=total_s, desc="calibrate", bar_format=BAR_FORMAT) as progress:
        for step in order:
            progress.set_postfix_str(step.name)
            start_s = time.monotonic()
            with Exercise(step) as exercise:
                _wait(start_s + plan.step_s, capture, exercise, progress)
                end_s = time.monotonic()
            spans.append((step.name, start_s + plan.settle_s, end_s - plan.interval_s))
    return spans


def _wait(until_s: float, capture: Capture, exercise: Exercise, progress: tqdm | None) -> None:
    """Wait, and raise what stops a meter or a load meanwhile."""
    before_s = time.monotonic()
    while (now_s := time.monotonic()) < until_s:
        time.sleep(min(POLL_S, until_s - now_s))
        if capture.fault is not None:
            raise capture.fault
        exercise.check()
        if progress is not None:
            now_s = min(time.monotonic(), until_s)
            progress.update(now_s - before_s)
            before_s = now_s


def _idle_power_w(
    meters: Mapping[str, Meter], cores: HostSampler, capture: Capture
) -> dict[str, float]:
    before = cores.sample()
    with Exercise(IDLE) as exercise:
        _wait(time.monotonic() + PROBE_S, capture, exercise, None)
    busy_percent = 100 * activity(before, cores.sample())["cpu_busy_x"]
    if busy_percent > BUSY_PERCENT:
        raise FsgreenError(
            f"the machine is busy: its cores work for {busy_percent:.0f} % of the time before any "
            f"load has begun, more than {BUSY_PERCENT:g} % (rule 10)",
            where="the schedule of the calibration",
            next_step="stop what runs (top), then start the same command again",
        )
    power_w = {name: capture.latest_w(name) for name in meters}
    if silent := [name for name, power in power_w.items() if power is None]:
        raise FsgreenError(
            f"no sound reading within {PROBE_S:g} s from {', '.join(silent)}",
            where="the meters of the testbed file",
            next_step="fsgreen meters",
        )
    return {name: power for name, power in power_w.items() if power is not None}
