"""Rules 47, 48, 50 and 52: can this campaign decide, with all its trials, and no fact twice?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from fsgreen import stats
from fsgreen.rules import repeated
from fsgreen.rules.answer import Answer, Judge, fired, named_trials, not_asked, quiet, unknown
from fsgreen.rules.comparison import NOTHING
from fsgreen.rules.evidence import Evidence
from fsgreen.rules.turns import turns_at_the_scale_of_noise
from fsgreen.words import listed, plural

RARE = 8
"""A rare slow mode is assumed to slow one in this many trials."""


def measured_late(evidence: Evidence) -> list[str]:
    """Return the trials that ran after a later block, although no earlier attempt is kept.

    Testbeds that share the blocks each have their own, in the order in which they got them.
    """
    started_s: dict[tuple[str, int], list[float]] = {}
    for record in evidence.records:
        place = record.campaign, evidence.turn(record)
        started_s.setdefault(place, []).append(record.clock.unix_s)
    begun_s = {place: float(np.median(each_s)) for place, each_s in started_s.items()}
    kept = (*evidence.invalid, *evidence.discarded, *evidence.superseded)
    tried = {record.trial for record in kept}
    return [
        record.trial
        for record in evidence.records
        if record.trial not in tried
        and any(
            at_s < record.clock.unix_s
            for (campaign, turn), at_s in begun_s.items()
            if campaign == record.campaign and turn > evidence.turn(record)
        )
    ]


def begun_anew(evidence: Evidence) -> str:
    """Return, as the end of a sentence, how many trials were superseded with their block.

    Another testbed of the fleet then began that block anew. "" if there are none.
    """
    count = len(evidence.superseded)
    told = f"; {plural(count, 'trial')} kept of blocks that another testbed then began anew"
    return told if count else ""


def all_that_was_started(evidence: Evidence) -> Answer:
    """Rule 48: trials that were discarded after a look are kept, and change no comparison."""
    if late := measured_late(evidence):
        return fired(
            "measured after a later block, without what may have stood there before: "
            f"{named_trials(late)}"
        )
    refused, moved = plural(len(evidence.invalid), "refused trial"), begun_anew(evidence)
    if not evidence.discarded:
        return quiet(
            f"nothing was set aside after it was measured; {refused} kept with a reason{moved}"
        )
    names = named_trials(record.trial for record in evidence.discarded)
    kept = f"set aside after a look, and kept: {names}"
    effects = evidence.effects
    if "first_outcome" not in effects:
        return unknown(f"{kept}; whether verdicts rest on that was not looked at")
    known = repeated.once(effects[effects["first_outcome"].notna()])
    other = known[known["outcome"] != known["first_outcome"]]
    changes = (other["outcome"] + " became " + other["first_outcome"]).value_counts()
    widths = _half_widths_percent(known)
    text = (
        f"{kept}; with them in place of what was measured in their stead the median half-width is "
        f"{widths[1]:.1f} % instead of {widths[0]:.1f} %"
    )
    if len(other):
        told = ", ".join(f"{count} {change}" for change, count in changes.items())
        differ = f"{len(other)} of {len(known)} comparisons come out differently: {told}"
        return fired(f"{text}, and {differ}{moved}")
    return quiet(f"{text}, and all {len(known)} comparisons end the same{moved}")


def evidence_counts_once(evidence: Evidence) -> Answer:
    """Rule 50: work per joule says more than work per second."""
    effects = evidence.effects
    if effects.empty:
        return not_asked(NOTHING)
    if not (effects["boundary"] == "modelled").any():
        return quiet("no metric that is compared is modelled from another")
    if not {*repeated.BOTH} <= {*effects["metric"]}:
        return quiet("energy is modelled, and nothing that rests on it is compared")
    logs = repeated.in_both(effects)
    if len(logs) < repeated.FEWEST:
        return unknown("it takes three comparisons to see whether two metrics say the same")
    alike = repeated.likeness(logs)
    text = (
        f"{len(logs)} comparisons in work per joule, whose power is modelled, correlate by "
        f"{alike:.4f} with those in work per second"
    )
    if alike > repeated.SAME_EVIDENCE:
        return fired(f"{text}: they are no second evidence")
    return quiet(text)


def robust_intervals(evidence: Evidence) -> Answer:
    """Rule 52: intervals cover often enough, simulated from the campaign's residuals.

    The answer also says how far trials depend on the previous block (lag 1).
    """
    cells, effects = evidence.cells, evidence.effects
    if "coverage_percent" not in cells:
        return unknown("how often intervals cover on these residuals was not simulated")
    known = cells[cells["coverage_percent"].notna()]
    if known.empty:
        return unknown("it takes two cells in three blocks to draw campaigns from their residuals")
    short = known[known["coverage_percent"] < stats.LEAST_PERCENT]
    bare = short[~short["starred"].astype(bool)]
    if len(bare):
        return fired(f"{len(bare)} cells whose intervals are short bear no star")
    parts = [f"intervals of cells cover {_range(known['coverage_percent'])} on their residuals"]
    few = effects[effects.get("coverage_percent", pd.Series(dtype=float)) < stats.LEAST_PERCENT]
    if len(effects) and effects["coverage_percent"].notna().any():
        parts.append(f"those of ratios {_range(effects['coverage_percent'].dropna())}")
        broad = effects[effects["widened_x"] > 1]
        if len(broad):
            where = ", ".join(sorted(broad["workload"].unique()))
            parts.append(
                f"{len(broad)} ratios are up to {broad['widened_x'].max():.1f} times as wide: "
                f"trials keep up to {broad['lag1_x'].max():.2f} of what they were off in the "
                f"block before ({where})"
            )
    n = int(known["n"].min())
    parts.append(
        f"a mode of one cell alone that slows one trial in {RARE} is in none of its {n} trials in "
        f"{100 * (1 - 1 / RARE) ** n:.0f} % of cases, and nothing shows it then"
    )
    text = "; ".join(parts)
    if len(short) or len(few):
        return fired(
            f"{text}; {len(short)} of {len(known)} cells and {len(few)} of {len(effects)} ratios "
            f"below {stats.LEAST_PERCENT:.0f} %: {listed(evidence.labels(short))}"
        )
    if len(effects) and effects["lag1_p"].isna().all():
        return unknown(f"{text}; dependence between blocks takes four of them")
    return quiet(text)


def _half_widths_percent(effects: pd.DataFrame) -> list[float]:
    """Return the median half-width of ratios, without and with the discarded trials."""
    ends = (("ratio_low_x", "ratio_high_x"), ("first_low_x", "first_high_x"))
    halves = [np.sqrt(effects[high] / effects[low]) - 1 for low, high in ends]
    return [100 * float(half.median()) for half in halves]


def _range(percent: pd.Series) -> str:
    low, high = percent.min(), percent.max()
    return f"{low:.0f} %" if round(low) == round(high) else f"{low:.0f} to {high:.0f} %"


JUDGES: Mapping[int, Judge] = {
    47: turns_at_the_scale_of_noise,
    48: all_that_was_started,
    50: evidence_counts_once,
    52: robust_intervals,
}
