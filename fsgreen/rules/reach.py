"""Rule 51: which judges cannot fire, as a campaign has too few seconds, blocks or trials."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fsgreen import stats
from fsgreen.rules import deciding, steadiness, summaries
from fsgreen.rules.answer import Answer, Judge, fired, quiet
from fsgreen.rules.evidence import Evidence


def blind(evidence: Evidence) -> dict[int, str]:
    """Return, for each judge that could not fire on this campaign, why: by number of the rule."""
    trials, cells = evidence.trials, evidence.cells
    shortest, unit = steadiness.shortest_series(trials)
    rated = steadiness.rated(trials)
    of_rates = math.inf if rated.empty else steadiness.shortest_series(rated)[0]
    blocks, fewest = trials["block"].nunique(), int(cells["n"].min())
    tested = max(1, int(cells["trend_p"].notna().sum()))
    reasons = {
        23: (of_rates < stats.SHORTEST_SERIES, f"{of_rates} {unit} show no change of level"),
        24: (
            of_rates < stats.SHORTEST_SETTLED,
            f"the last quarter of {of_rates} {unit} holds no level",
        ),
        25: (
            steadiness.least_p(fewest) * tested >= stats.LEVEL
            and steadiness.least_p(blocks) * 2 >= stats.LEVEL,
            f"{blocks} blocks in their best order are no trend yet",
        ),
        33: (fewest < stats.FEW, f"{fewest} trials do not show their shape"),
        47: (
            evidence.plan.profile.windows is None and shortest < stats.FEWEST_WINDOWS,
            f"{shortest} {unit} have too few windows",
        ),
        52: (blocks < stats.FEWEST_BLOCKS, f"{blocks} blocks show no dependence"),
    }
    return {number: why for number, (cannot, why) in reasons.items() if cannot}


def judges_can_fire(evidence: Evidence) -> Answer:
    """Rule 51: no judge that could not have fired is quiet."""
    reasons = blind(evidence)
    if silent := [number for number in reasons if SEEN[number](evidence).state == "quiet"]:
        told = "; ".join(f"{number} ({reasons[number]})" for number in silent)
        return fired(f"rules are quiet that could not have fired here: {told}")
    if reasons:
        told = "; ".join(f"{number} ({why})" for number, why in reasons.items())
        return quiet(f"no judge is quiet that could not have fired; out of reach: {told}")
    return quiet("every judge whose reach depends on seconds, blocks or trials has enough of them")


SEEN: Mapping[int, Judge] = {
    **{number: steadiness.JUDGES[number] for number in (23, 24, 25)},
    33: summaries.JUDGES[33],
    **{number: deciding.JUDGES[number] for number in (47, 52)},
}

JUDGES: Mapping[int, Judge] = {51: judges_can_fire}
