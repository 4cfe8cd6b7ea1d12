"""How far a campaign is, as its folder tells it while it is measured, and at little cost.

Whoever looks takes time from what is measured (rule 10): trials are read again only when one has
come, and between that a look is at three folders and at the newest readings of one trace.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fsgreen import design, trial
from fsgreen.campaign import Campaign, outlook, status
from fsgreen.campaign.pace import Pace
from fsgreen.errors import FsgreenError
from fsgreen.paths import PLAN
from fsgreen.trial import Trial
from fsgreen.view.look import boundary_note
from fsgreen.view.trialfolder import TrialFolder

RECENT_S = 10.0
"""A reading that is older is not one of now."""


@dataclass(frozen=True)
class Seen:
    """What the trials of a campaign tell.

    Of the `due` trials so far, `done` are measured. `ends_unix_s` is when it is likely to end if it
    goes on now. `lines` are what `fsgreen status` prints. `last` is the trial that was measured
    last, whether it counts or not.
    """

    done: int
    due: int
    ends_unix_s: float
    lines: tuple[str, ...]
    last: Trial | None

    @classmethod
    def of(cls, campaign: Campaign) -> Seen:
        """Return it; raises FsgreenError where there is no such campaign, or it is damaged."""
        plan, trials = campaign.plan(), campaign.measured()
        due = design.due(plan, trials)
        pending = [planned for planned in due if planned.trial not in trials]
        tried = [*trial.list_trials(campaign.folder), *trial.list_invalid(campaign.folder)]
        pace = Pace.of(plan, tried)
        left_s = pace.total_s(planned.cell for planned in pending)
        left_s += outlook.further_s(plan, trials, pace)
        return cls(
            done=len(due) - len(pending),
            due=len(due),
            ends_unix_s=time.time() + left_s,
            lines=tuple(status(campaign)),
            last=max(tried, key=lambda one: one.record.clock.unix_s, default=None),
        )


class Watch:
    """Looks at one campaign, which need not have begun, again and again."""

    def __init__(self, name: str) -> None:
        self._campaign = Campaign(name)
        self._stamp: object = None
        self._seen: Seen | None = None
        self._source: tuple[Path, TrialFolder] | None = None

    def seen(self) -> Seen | None:
        """Return how far it is, None before it has a plan; raises FsgreenError if it is damaged."""
        folder = self._campaign.folder
        try:
            planned_ns = (folder / PLAN).stat().st_mtime_ns
        except FileNotFoundError:
            return self._seen
        stamp = planned_ns, _trials(folder / "trials"), _trials(folder / "invalid")
        if stamp != self._stamp:
            self._seen = Seen.of(self._campaign)
            self._stamp = stamp
        return self._seen

    def running(self) -> list[str]:
        """Return the names of the trials that are under way, or that a kill left so."""
        names = (partial.name for partial in self._partial())
        return [name.removeprefix(".").removesuffix(".partial") for name in names]

    def power(self) -> str:
        """Return the newest watts of the trial that runs; "" where no meter has spoken yet."""
        partial = next(iter(self._partial()), None)
        if partial is None:
            self._source = None
            return ""
        try:
            if self._source is None or self._source[0] != partial or not self._source[1].running():
                self._source = partial, TrialFolder(partial)  # a repeated trial has the same name
            source = self._source[1]
            watts = [*_newest(source)] if source.running() else []
        except FsgreenError:  # the trace has no head yet, or the folder is gone
            self._source = None
            return ""
        return f"{', '.join(watts)} ({boundary_note(source.meters)})" if watts else ""

    def _partial(self) -> list[Path]:
        return sorted((self._campaign.folder / "trials").glob(".*.partial"))


def _newest(source: TrialFolder) -> Iterator[str]:
    for name, info in source.meters.items():
        recent_s = max(RECENT_S, 2 / info.rate_hz)
        readings = source.since(name, source.now_s() - recent_s)
        if len(readings) and math.isfinite(power_w := float(readings.power_w[-1])):
            yield f"{name} {power_w:.1f} W"


def _trials(folder: Path) -> frozenset[str]:
    """Return the names of complete trials: one that begins or is given up changes nothing."""
    try:
        return frozenset(name for name in os.listdir(folder) if not name.startswith("."))
    except FileNotFoundError:
        return frozenset()
