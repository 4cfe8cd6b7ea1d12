"""The outcomes of a campaign's comparisons, in a sentence for each workload and metric."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from fsgreen.words import digits, plural


def sentences(effects: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence per workload and metric: the count of outcomes, the largest difference."""
    treatments = [name for name in effects if f"baseline_{name}" in effects]
    for (workload, metric), of in effects.groupby(["workload", "metric"], sort=False):
        is_modelled = metric != "throughput" and "modelled" in set(of["boundary"])
        modelled = " (modelled watts)" if is_modelled else ""
        counts = ", ".join(f"{n} {outcome}" for outcome, n in of["outcome"].value_counts().items())
        text = f"{workload}, {metric}{modelled}: {plural(len(of), 'comparison')}, {counts}."
        differ = of[of["outcome"] == "different"]
        if differ.empty:
            yield f"{text} No difference is shown."
        else:
            largest = differ.loc[differ["ratio_x"].map(math.log).abs().idxmax()].to_dict()
            yield f"{text} The largest difference: {_ratio(largest, treatments)}."


def _ratio(row: Mapping[str, Any], treatments: Sequence[str]) -> str:
    """Return the ratio of two cells in words, the larger over the smaller, with its interval."""
    ratio, low, high = (row[f"ratio{end}_x"] for end in ("", "_low", "_high"))
    differ = [name for name in treatments if row[name] != row[f"baseline_{name}"]]
    better, other = ("/".join(str(row[f"{of}{n}"]) for n in differ) for of in ("", "baseline_"))
    if ratio < 1:
        better, other = other, better
        ratio, low, high = 1 / ratio, 1 / high, 1 / low
    return f"{better} has {digits(ratio)} [{digits(low)}, {digits(high)}] times that of {other}"
