"""Rules 45, 46 and 49: state, power and repetition of the trials behind verdicts on claims."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fsgreen import stats
from fsgreen.claims import EVEN, OTHER_STATE
from fsgreen.rules import served
from fsgreen.rules.answer import Answer, fired, not_asked, quiet, unknown
from fsgreen.rules.reporting import NO_CLAIM, NO_VERDICT, Report
from fsgreen.stats import distributions
from fsgreen.words import listed, plural

CLOCK = re.compile(r" \((real|virtual) time\)$")
"""Matches the end of a part's name that tells the clock of a simulated disk."""

MEASURED = ("measured", "simulated")
"""The bases of verdicts that trials decide, or a model in virtual time."""


def in_the_state_of_the_claim(report: Report) -> Answer:
    """Rule 45: each claim that trials decide names its state; else memory must not have served."""
    claims, trials = report.claims, report.trials
    if not report.stated:
        return not_asked(NO_CLAIM)
    if claims.empty:
        return unknown(NO_VERDICT)
    aside = plural(int((claims["verdict"] == OTHER_STATE).sum()), "claim")
    decided = claims.dropna(subset="testbed")  # a verdict in virtual time has none
    if decided.empty:
        return quiet(f"trials decide no claim; {aside} not judged, being about another state")
    if "states" not in decided:
        return unknown("the verdicts are older than what says which state a claim is about")
    bare = decided[decided["states"].isna()]
    said = "none" if len(bare) == len(decided) else str(len(decided) - len(bare))
    text = (
        f"{said} of {plural(len(decided), 'claim')} that trials decide says its state, and these "
        f"trials were in it; {aside} not judged, being about another state"
    )
    if bare.empty:
        return quiet(text)
    percent = served.served_percent(trials)
    if memory := int((percent < served.MEMORY_PERCENT).sum()):
        return fired(
            f"{text}; {listed(bare['slug'])} do not say whether they are about a device or about "
            f"memory, which answered in {memory} of {len(trials)} trials (of bytes read the device "
            f"served: {served.by_workload(trials)})"
        )
    return unknown(f"{text}; {listed(bare['slug'])} do not say which state they are about")


def assay(report: Report) -> Answer:
    """Rule 46: each measured part had a fair chance to be reproduced, if the paper is right."""
    parts = report.parts
    if not report.stated:
        return not_asked(NO_CLAIM)
    if parts.empty:
        return unknown(NO_VERDICT)
    if "power_p" not in parts:
        return unknown("the verdicts are older than the assay: they do not say what they could be")
    chances = parts.loc[parts["basis"].isin(MEASURED), "power_p"].dropna()
    if chances.empty:
        return not_asked("no measured part has a band and an interval")
    under = int((chances < EVEN).sum())
    text = (
        f"were the published numbers exactly right, {plural(len(chances), 'measured part')} had a "
        f"chance of {100 * chances.mean():.0f} % on average to be reproduced"
    )
    if under:
        return fired(f"{text}; {under} of them are underpowered: less than {100 * EVEN:.0f} %")
    return quiet(f"{text}, and each {100 * chances.min():.0f} % or more")


def one_row_of_all(report: Report) -> Answer:
    """Rule 49: campaigns of one study, and the two clocks of one model, agree on the same parts."""
    if not report.stated:
        return not_asked(NO_CLAIM)
    of_campaigns, of_clocks = _campaigns(report), _clocks(report.parts)
    if of_clocks is None:
        return of_campaigns
    told = "; ".join([of_clocks.found, of_campaigns.found])
    return Answer("fired", told) if "fired" in (of_clocks.state, of_campaigns.state) else of_clocks


def _clocks(parts: pd.DataFrame) -> Answer | None:
    """Return whether a model agrees in real and in virtual time; None without both clocks."""
    if parts.empty:
        return None
    known = parts[(parts["ours_x"] > 0) & (parts["verdict"] != OTHER_STATE)]
    known = known.assign(clock=known["part"].str.extract(CLOCK, expand=False))
    detail = known["detail"].astype(object).fillna("") if "detail" in known else ""
    known = known.assign(part=known["part"].str.replace(CLOCK, "", regex=True), detail=detail)
    of_cells = ["slug", "part", "detail"]
    real = known[(known["clock"] == "real") & known["basis"].isin(MEASURED)]
    virtual = known[known["clock"] == "virtual"]  # which decides few parts
    sides = [clock.drop_duplicates(of_cells) for clock in (real, virtual)]
    both = sides[0].merge(sides[1], on=of_cells, suffixes=("", "_virtual"))
    if both.empty:
        return None
    low, high, low_virtual, high_virtual = (
        both[f"ours_{end}_x{clock}"].fillna(both[f"ours_x{clock}"])
        for clock in ("", "_virtual")
        for end in ("low", "high")
    )
    apart = (low_virtual > high) | (high_virtual < low)
    text = said_of_clocks(off_percent(both["ours_x_virtual"], both["ours_x"]))
    return fired(f"{text}; {int(apart.sum())} of them are apart") if apart.any() else quiet(text)


def off_percent(virtual: pd.Series, real: pd.Series) -> pd.Series:
    """Return the difference of virtual time from real time, in per cent of real time."""
    return 100 * (virtual / real - 1)


def said_of_clocks(errors_percent: pd.Series) -> str:
    """Return in words how far the two clocks of a model differ."""
    off = errors_percent.abs()
    return (
        f"{plural(len(off), 'part')} in real and in virtual time of one model differ by "
        f"{off.median():.0f} %, up to {off.max():.0f} %: that is the model's error, which is in "
        "none of their intervals, so that virtual time decides directions and no size"
    )


def _campaigns(report: Report) -> Answer:
    if report.others is None:
        return unknown("judged over all campaigns of the study: fsgreen rules 49 --campaign NAME")
    own = estimates(report.parts)
    told = {name: estimates(parts) for name, parts in report.others.items()}
    every = pooled([own, *told.values()])
    ours = {key: together for key, together in every.items() if key in own}
    if not ours:
        return not_asked("no other campaign of this study has an interval for the same part")
    beside = [name for name, of_campaign in told.items() if of_campaign.keys() & ours.keys()]
    disagree = [key for key, p in same_p(every).items() if key in own and p < stats.LEVEL]
    spread_percent = 100 * math.expm1(
        float(np.median([together.spread for together in ours.values()]))
    )
    text = (
        f"{plural(len(ours), 'part')} also in {listed(sorted(beside))}: {len(disagree)} of them "
        "disagree by more than their intervals, and campaigns typically differ by "
        f"{spread_percent:.0f} %"
    )
    if disagree:
        return fired(f"{text}; each verdict here is that of one campaign, and not of the next")
    return quiet(text)


class Key(NamedTuple):
    """The key of a part of a claim: campaigns that share it may be pooled.

    `basis` is the kind of evidence. `boundary` is that of the power, for a part about power
    (rule 19). `model` is the kind of testbed that simulated the part, as two models of a machine
    differ by their errors. `detail` names the worst cells of several, as other cells are another
    quantity.
    """

    slug: str
    part: str
    basis: str
    boundary: str
    model: str
    detail: str

    @classmethod
    def of(cls, row: Mapping[Any, Any]) -> Key:
        """Return the key of a row of a campaign's `claim_parts.csv`."""
        boundary, detail = (
            "" if pd.isna(row.get(name)) else str(row[name]) for name in ("boundary", "detail")
        )
        model = row["testbed"] if row["basis"] == "simulated" else ""
        return cls(row["slug"], row["part"], row["basis"], boundary, model, detail)


class Known(NamedTuple):
    """The logarithm of a campaign's estimate, its standard error, and its degrees of freedom."""

    value: float
    error: float
    degrees: float


Estimates = Mapping[Key, Known]
"""A campaign's estimates of the parts that it decides."""


def estimates(parts: pd.DataFrame) -> Estimates:
    """Return a campaign's estimate of each part that trials decide and that has an interval.

    `parts` is the table `claim_parts.csv` with a column `testbed`, its kind. Parts in another state
    than the claim's have no basis there.
    """
    if parts.empty:
        return {}
    numbers = ["ours_x", "ours_low_x", "ours_high_x"]
    known = parts[parts["basis"].isin(MEASURED)].dropna(subset=numbers)
    known = known[(known["ours_low_x"] > 0) & (known["ours_high_x"] > known["ours_low_x"])]
    known = known[known["degrees_count"] > 0]
    quantiles = distributions.t_quantile(1 - stats.LEVEL / 2, known["degrees_count"])
    return {
        Key.of(row): Known(
            math.log(row["ours_x"]),
            math.log(row["ours_high_x"] / row["ours_low_x"]) / (2 * quantile),
            row["degrees_count"],
        )
        for row, quantile in zip(known.to_dict("records"), quantiles, strict=True)
    }


def pooled(told: Sequence[Estimates]) -> dict[Key, stats.Together]:
    """Return the pooled estimate of each part that two or more campaigns decide.

    It is from a model with random effects (`stats.random_effects`).
    """
    keys = dict.fromkeys(key for of_campaign in told for key in of_campaign)
    every = {key: [of_campaign[key] for of_campaign in told if key in of_campaign] for key in keys}
    together = {}
    for key, of_part in every.items():
        if len(of_part) > 1:
            values, errors, degrees = np.array(of_part).T
            together[key] = stats.random_effects(values, errors, degrees)
    return together


def same_p(together: Mapping[Key, stats.Together]) -> dict[Key, float]:
    """Return the p-value of "campaigns do not differ" for each part.

    Holm's correction takes all parts of a study as one family.
    """
    adjusted = stats.holm([of_part.same_p for of_part in together.values()])
    return dict(zip(together, adjusted, strict=True))


JUDGES: Mapping[int, Callable[[Report], Answer]] = {
    45: in_the_state_of_the_claim,
    46: assay,
    49: one_row_of_all,
}
