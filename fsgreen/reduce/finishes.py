"""When each of several readers had read its file: what a total hides."""

from __future__ import annotations

import math

import pandas as pd

from fsgreen.trial import Trial


def finishes_of(trial: Trial) -> pd.DataFrame:
    """Return a row per reader of a trial, the first to finish first.

    `ended_s` counts from the begin of the phase `measure`, as exact as the clock that the engine
    reads after each operation; it is empty for a reader that had finished in the warm-up. A trial
    whose cell has no number of readers has no row.
    """
    ended_s: list[float] = []
    if trial.record.cell.get("readers") is not None:
        threads = trial.record.work.threads
        before = [math.nan for kind in threads for at_s in kind.ended_s if at_s is None]
        during = [at_s for kind in threads for at_s in kind.ended_s if at_s is not None]
        ended_s = [*before, *sorted(during)]
    ranks = range(1, 1 + len(ended_s))
    return pd.DataFrame({"trial": trial.name, "rank": ranks, "ended_s": ended_s})
