"""A single run of the engine, outside any campaign."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from fsgreen.errors import FsgreenError
from fsgreen.reduce.latency_profiles import log2_profile
from fsgreen.workloads.wml import latency_table

FOREIGN = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""What reading a file that something else wrote can raise."""


def report_profile(file: Path) -> pd.DataFrame:
    """Return the profile of a run from the results that `fsgreen-wml run --json` wrote.

    The columns are those of `log2_profile`, and `block`, which is 1.

    Raises FsgreenError if the file does not hold the results of exactly one run, or of one without
    work.
    """
    try:
        runs = json.loads(file.read_text())["runs"]
        histograms = [latency_table(run["measure"]["flowops"]) for run in runs]
        profiles = [log2_profile(histogram).assign(block=1) for histogram in histograms]
    except FOREIGN as error:
        raise FsgreenError(
            f"these are no results of fsgreen-wml: {type(error).__name__}: {error}",
            where=file,
            next_step=f"fsgreen-wml run TEXT --json {file}",
        ) from error
    if len(profiles) != 1:
        raise FsgreenError(
            f"results of one run can be compared, and here are those of {len(profiles)}",
            where=file,
            next_step="give each `run` a text of its own, and run it with --json",
        )
    if profiles[0].empty:
        raise FsgreenError(
            "the run did no operation that counts as work",
            where=file,
            next_step="let it run for longer: fsgreen-wml run TEXT --duration SECONDS --json FILE",
        )
    return profiles[0]
