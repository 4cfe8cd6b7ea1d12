"""Rules 35 to 38: does each comparison have its size, its uncertainty, and its family?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from fsgreen import stats
from fsgreen.reduce import factors_of, level_label
from fsgreen.rules.answer import SAME, Answer, Judge, fired, not_asked, quiet, unknown
from fsgreen.rules.evidence import Evidence
from fsgreen.words import listed, plural

FALLBACK = "bootstrap"
"""What replaces the mixed model if its diagnostics fail, or if a cell scatters more than the
rest."""

NOTHING = "nothing is compared"


def effect_with_interval(evidence: Evidence) -> Answer:
    """Rule 35: every comparison with a p-value has a ratio with an interval.

    A comparison of too few blocks has neither. The answer says how many there are.
    """
    effects = evidence.effects
    if effects.empty:
        return not_asked(NOTHING)
    sized = effects[["ratio_x", "ratio_low_x", "ratio_high_x"]].notna().all(axis="columns")
    alone = effects[effects["difference_p"].notna() & ~sized]
    if len(alone):
        return fired(
            f"{len(alone)} of {len(effects)} comparisons have a p-value and no interval: "
            f"{listed(_labels(evidence, alone))}"
        )
    bare = effects[~sized]
    enough = bare["n"] >= stats.MIN_BLOCKS
    why = "too few blocks" + (", or a baseline that may be zero," if enough.any() else "")
    neither = f"{len(bare)} of {len(effects)} comparisons have {why} for an interval or a p-value"
    if not sized.any():
        return unknown(neither)
    width = effects["ratio_high_x"] / effects["ratio_low_x"]
    return quiet(
        f"{sized.sum()} ratios, each with its interval: the high end is typically "
        f"{width.median():.2f} times the low one" + (f"; {neither}" if len(bare) else "")
    )


def mixed_model(evidence: Evidence) -> Answer:
    """Rule 36: the diagnostics of the mixed model allow it, or the bootstrap replaces it."""
    effects = evidence.effects
    if effects.empty:
        return not_asked(NOTHING)
    if "model" not in effects:
        return unknown("effects.csv has no mixed model; its intervals are those of the bootstrap")
    alone = effects[effects["model"] == FALLBACK]
    wild = alone["model_note"] == stats.WILD
    failed = alone if 2 * wild.sum() > len(effects) else alone[~wild]
    if len(failed):
        reasons = listed(sorted(set(failed["model_note"].fillna("no reason given"))), 2)
        return fired(
            f"it does not hold for {len(failed)} of {len(effects)} comparisons, for which the "
            f"bootstrap is given: {reasons}"
        )
    return quiet(
        f"it holds for {len(effects) - len(alone)} of {len(effects)} comparisons; for the others "
        "the bootstrap is given, as one of their cells scatters more than the rest"
        if len(alone)
        else f"it holds for all {len(effects)} comparisons"
    )


def equivalence_is_shown(evidence: Evidence) -> Answer:
    """Rule 37: each "equivalent" has a test with the bound of the plan."""
    effects, bound_percent = evidence.effects, evidence.plan.bounds.get("equivalence_percent")
    if effects.empty:
        return not_asked(NOTHING)
    if bound_percent is None or (effects["bound_percent"] != bound_percent).any():
        return fired("the bound of equivalence is not the one that the plan declares")
    equal = effects[effects["outcome"] == "equivalent"]
    bare = equal[~(equal["equivalence_holm_p"] < stats.LEVEL)]
    if len(bare):
        return fired(f"{len(bare)} dashes without a test: {listed(_labels(evidence, bare))}")
    open_count = int((effects["outcome"] == "inconclusive").sum())
    return quiet(
        f"within {bound_percent:g} %: {len(equal)} of {len(effects)} comparisons equivalent, "
        f"{open_count} inconclusive and not called equal"
    )


def families_under_holm(evidence: Evidence) -> Answer:
    """Rule 38: the p-values of `effects.csv` are Holm's, computed again by family."""
    effects = evidence.effects
    if effects.empty:
        return not_asked(NOTHING)
    family, wrong = families(effects), set()
    for name in ("difference", "equivalence"):
        again = effects.groupby(family, dropna=False)[f"{name}_p"].transform(
            lambda p: stats.holm(list(p))
        )
        told = effects[f"{name}_holm_p"]
        same = np.isclose(told, again, rtol=SAME, atol=1e-300, equal_nan=True)
        wrong |= set(effects.index[~same])
    if wrong:
        return fired(f"{len(wrong)} of {len(effects)} p-values are not those of Holm")
    tested = effects[effects["difference_p"].notna()]
    if tested.empty:
        return unknown(f"none of {plural(len(effects), 'comparison')} has a p-value yet")
    sizes = tested.groupby(family, dropna=False).size()
    return quiet(
        f"{len(tested)} comparisons in {len(sizes)} families of up to {sizes.max()} "
        f"(by {', '.join(family)}), adjusted again: the same"
    )


def families(effects: pd.DataFrame) -> list[str]:
    """Return the columns that define a family: its comparisons share their values.

    These are kind, metric, and each factor that both sides of a comparison have in common.
    """
    shared = [name for name in factors_of(effects) if f"baseline_{name}" not in effects]
    return ["kind", "metric", *shared]


def _labels(evidence: Evidence, effects: pd.DataFrame) -> list[str]:
    """Return each comparison in words: metric, cell, and the baseline's levels that differ."""
    varied = [name for name in factors_of(effects) if f"baseline_{name}" in effects]
    return [
        f"{row['metric']} of {label} over "
        + " ".join(
            level_label(name, row[f"baseline_{name}"])
            for name in varied
            if row[f"baseline_{name}"] != row[name] and pd.notna(row[f"baseline_{name}"])
        )
        for label, row in zip(
            evidence.labels(effects[factors_of(effects)]), effects.to_dict("records"), strict=True
        )
    ]


JUDGES: Mapping[int, Judge] = {
    35: effect_with_interval,
    36: mixed_model,
    37: equivalence_is_shown,
    38: families_under_holm,
}
