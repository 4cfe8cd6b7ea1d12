"""When each of several readers had read its file: what a total hides."""

from __future__ import annotations

from typing import Any

import pandas as pd

from fsgreen.trial import Trial


def finishes_of(trial: Trial) -> pd.DataFrame:
    """Return a row per reader of a trial, the first to finish first.

    `ended_s` counts from the begin of the phase `measure`, as exact as the clock that the engine
    reads after each operation. A trial whose cell has no number of readers has no row.
    """
    ended_s: list[float] = []
    if trial.record["cell"].get("readers") is not None:
        threads: list[dict[str, Any]] = trial.record["workload"]["threads"]
        ended_s = sorted(at_s for kind in threads for at_s in kind["ended_s"])
    ranks = range(1, 1 + len(ended_s))
    return pd.DataFrame({"trial": trial.name, "rank": ranks, "ended_s": ended_s})
