"""How far a testbed is, and how long it will take: the record of each trial is read once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fsgreen import trial
from fsgreen.campaign.pace import Pace
from fsgreen.design import Cell, Plan


@dataclass(frozen=True)
class Count:
    """Trials of a testbed that are here, and those that it owes; 0 where others may measure them.

    `to_go_s` is how long it would take for all that is left, None where that is not known yet.
    """

    here: int = 0
    due: int = 0
    to_go_s: float | None = None


class Tally:
    """Counts the trials of one testbed. `folder` is that of its campaign, here at home."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pace: Pace | None = None
        self._seen: set[Path] = set()
        self.here: set[str] = set()
        """Names of the trials that are here, as of the last look."""

    def look(self, plan: Plan) -> None:
        """Read the records that came since the last look; raises FsgreenError for a damaged one."""
        self._pace = self._pace or Pace(plan)
        self.here = {entry.name for entry in self._entries("trials")}
        for place in ("trials", "invalid"):
            for entry in self._entries(place):
                if entry not in self._seen:
                    self._pace.see(trial.read_trial(entry, copy=place == "invalid"))
                    self._seen.add(entry)

    def takes_s(self, left: Counter[Cell]) -> float | None:
        """Return how long the testbed takes for trials of these cells; None before its first."""
        if self._pace is None or not self._seen:
            return None
        spent_s = sum(count * self._pace.total_s([cell]) for cell, count in left.items())
        return spent_s if math.isfinite(spent_s) else None

    def _entries(self, place: str) -> Iterable[Path]:
        folder = self._folder / place
        entries = folder.iterdir() if folder.is_dir() else ()
        return [entry for entry in entries if not entry.name.startswith(".")]
