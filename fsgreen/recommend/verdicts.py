"""What an effect allows to say: a verdict, and the words for whoever has to decide."""

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
"""The class of a cell most of whose trials have no steady state: it has no mean (rule 24)."""


def verdict(row: Mapping[str, Any], steady: bool, bounds: Mapping[str, float]) -> Verdict:
    """Return what an effect allows to say.

    gain, loss: a difference was shown. level: equivalence was shown, also of two that differ by
    less than the bound. no gain: neither was shown, but the interval ends below the bound.
    endangered: one of these, but it may be the work of a confound. inconclusive: none of these, or
    fewer than the minimum of trials (rule 26). inconsistent: no steady state (rule 24). modelled:
    on such power nothing rests (rule 19).

    Parameters
    ----------
    row : mapping
        An effect as `analysis.effects` gives it, with `change`, `boundary` and `gate`.
    steady : bool
        Whether both cells have a steady state.
    bounds : mapping
        The plan's `equivalence_percent` and `minimum_trials`.
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
    """Return a verdict in words; `row` also has `verdict`, `state` and, if inconclusive, blocks."""
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
