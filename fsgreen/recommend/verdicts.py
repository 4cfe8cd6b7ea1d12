"""What an effect allows to say: a verdict, and the words for whoever has to decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fsgreen.recommend.planning import MOST
from fsgreen.stats import LEVEL

Verdict = Literal[
    "now", "gain", "loss", "level", "no gain", "inconclusive", "inconsistent", "modelled"
]

WORTH = {"mount": "a change of mount options", "format": "a reformat", "file system": "a reformat"}
FIXED = {
    "now": "what there is now",
    "modelled": "modelled power: decides nothing",
    "inconsistent": "inconsistent: no steady state",
}


def verdict(row: Mapping[str, Any], steady: bool, bounds: Mapping[str, float]) -> Verdict:
    """Return what an effect allows to say.

    gain, loss: a difference was shown. level: equivalence was shown, also of two that differ by
    less than the bound. no gain: neither was shown, but the interval ends below the bound.
    inconclusive: none of these, or fewer than the minimum of trials (rule 26). inconsistent: no
    steady state (rule 24). modelled: on such power nothing rests (rule 19).

    Parameters
    ----------
    row : mapping
        An effect as `papers.effects` gives it, with `change` and `boundary`.
    steady : bool
        Whether both cells have a steady state.
    bounds : mapping
        The plan's `equivalence_percent` and `minimum_trials`.
    """
    if row["change"] == "none":
        return "now"
    if row["metric"] == "efficiency" and row["boundary"] == "modelled":
        return "modelled"
    if not steady:
        return "inconsistent"
    if row["n"] < bounds["minimum_trials"]:
        return "inconclusive"
    if row["equivalence_holm_p"] < LEVEL:
        return "level"
    if row["outcome"] == "different":
        return "gain" if row["ratio_x"] > 1 else "loss"
    least_gain_x = 1 / (1 - bounds["equivalence_percent"] / 100)
    return "no gain" if row["ratio_high_x"] <= least_gain_x else "inconclusive"


def words(row: Mapping[str, Any]) -> str:
    """Return a verdict in words; `row` also has `verdict` and, if inconclusive, the blocks."""
    found = row["verdict"]
    if found in FIXED:
        return FIXED[found]
    if found == "level":
        return f"no difference worth {WORTH[row['change']]}"
    if found == "no gain":
        return f"no gain worth {WORTH[row['change']]}"
    if found == "inconclusive":
        more = row["more_blocks_count"]
        if row["n"] < 2:
            return "inconclusive: too few blocks to say how many would tell"
        many = f"more than {MOST} more" if more is None else f"{more} more"
        return f"inconclusive: {many} block{'' if more == 1 else 's'} would tell"
    low, high = (100 * (row[name] - 1) for name in ("ratio_low_x", "ratio_high_x"))
    if found == "gain":
        return f"gain of {low:.3g} to {high:.3g} %"
    return f"loss of {-high:.3g} to {-low:.3g} %"
