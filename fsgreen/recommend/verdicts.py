"""The verdict on an effect, and its words for the person who must decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fsgreen.recommend.planning import MOST
from fsgreen.stats import LEVEL

Verdict = Literal[
    "now",
    "gain",
    "loss",
    "level",
    "no gain",
    "endangered",
    "inconclusive",
    "inconsistent",
    "modelled",
]

WORTH = {
    "mount": "a change of mount options",
    "offline": "an unmount",
    "format": "a reformat",
    "file system": "a reformat",
}

UNSTEADY = "inconsistent"
"""The state of a cell without a steady state in most of its trials. It has no mean (rule 24)."""


def verdict(row: Mapping[str, Any], steady: bool, bounds: Mapping[str, float]) -> Verdict:
    """Return the verdict on an effect.

    - now: the present configuration itself.
    - gain, loss: a difference was shown.
    - level: equivalence was shown, even if a small difference was shown, too.
    - no gain: neither was shown, but the interval ends below the bound.
    - endangered: one of these, but it may be the effect of a confound.
    - inconclusive: none of these, or fewer trials than the minimum (rule 26).
    - inconsistent: a cell has no steady state (rule 24).
    - modelled: the power is modelled, which decides nothing (rule 19).

    `row` is one of `analysis.effects`, with `change`, `boundary` and `gate`. `steady` says whether
    both cells have a steady state. `bounds` are the plan's `equivalence_percent` and
    `minimum_trials`.
    """
    if row["change"] == "none":
        return "now"
    if not steady:
        return "inconsistent"
    if row["metric"] == "efficiency" and row["boundary"] == "modelled":
        return "modelled"
    if row["n"] < bounds["minimum_trials"]:
        return "inconclusive"
    shown = _shown(row, bounds)
    return "endangered" if shown != "inconclusive" and row["gate"] != "passed" else shown


def _shown(row: Mapping[str, Any], bounds: Mapping[str, float]) -> Verdict:
    if row["equivalence_holm_p"] < LEVEL:
        return "level"
    if row["outcome"] == "different":
        return "gain" if row["ratio_x"] > 1 else "loss"
    least_gain_x = 1 / (1 - bounds["equivalence_percent"] / 100)
    return "no gain" if row["ratio_high_x"] <= least_gain_x else "inconclusive"


def words(row: Mapping[str, Any]) -> str:
    """Return a verdict in words.

    Besides the columns for `verdict`, `row` has `verdict`, `state` and, if it is inconclusive,
    `more_blocks_count`.
    """
    found = row["verdict"]
    unsteady = row["state"] == UNSTEADY
    if found == "now":
        return "what there is now" + (": no steady state" if unsteady else "")
    if found == "inconsistent":
        return "no steady state" if unsteady else "what there is now has no steady state"
    if found == "modelled":
        return "modelled power: decides nothing"
    if found == "endangered":
        return f"endangered by {row['confound']}"
    if found == "level":
        return f"no difference worth {WORTH[row['change']]}"
    if found == "no gain":
        return f"no gain worth {WORTH[row['change']]}"
    if found == "inconclusive":
        return _inconclusive(row)
    low, high = (100 * (row[name] - 1) for name in ("ratio_low_x", "ratio_high_x"))
    if found == "gain":
        return f"gain of {low:.3g} to {high:.3g} %"
    return f"loss of {-high:.3g} to {-low:.3g} %"


def _inconclusive(row: Mapping[str, Any]) -> str:
    more = row["more_blocks_count"]
    if row["n"] < 2:
        return "inconclusive: too few blocks to say how many would decide"
    many = f"more than {MOST} more" if more is None else f"{more} more"
    return f"inconclusive: {many} block{'' if more == 1 else 's'} to tell whether they differ"
