"""The ledger of a study: what its campaigns say side by side of each part, and together (rule 49).

Kinds of evidence are never pooled with each other, and neither are real and virtual time of one
simulated disk, a simulated disk and a virtual machine, or power of two boundaries. Other campaigns
are pooled where two decide the same part: both are then in the state that the claim is about.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, get_args

import pandas as pd
import scipy

from fsgreen import stats
from fsgreen.analysis.claims.clocks import COMPUTED, model_error_percent, once
from fsgreen.analysis.claims.ledger import SIDES
from fsgreen.analysis.claims.refusals import by_one_of
from fsgreen.analysis.claims.told import Told, with_texts
from fsgreen.claims import (
    DISAGREE,
    OTHER_STATE,
    REFUSED,
    UNDECIDED,
    UNTESTED,
    Band,
    Basis,
    Part,
    combine,
    shown,
)
from fsgreen.rules.verdicts import Key, estimates, pooled, same_p
from fsgreen.stats import Estimate

KINDS: tuple[Basis, ...] = get_args(Basis)

Row = Mapping[str, Any]
"""A row of a table, by its columns. There are thousands, and Pandas takes long for each."""

COLUMNS = (
    *("slug", "part", "detail", "kind", "verdict", "published", "campaigns_count", "ours"),
    *("ours_x", "ours_low_x", "ours_high_x", "next_low_x", "next_high_x"),
    *("spread_percent", "same_holm_p", "model_error_percent", "power_p"),
)
"""Before those that are named as campaigns, with what each has found."""


def parts_together(of_campaigns: Told) -> pd.DataFrame:
    """Return a row for each part and kind of evidence, with all campaigns side by side.

    `ours_x` is that of the campaign that decides the part; of several it is their mean, with
    `ours_low_x` and `ours_high_x`, and the verdict is from `next_low_x` to `next_high_x`, which
    holds for the next campaign like these. `spread_percent` is how far campaigns lie apart beyond
    their intervals, and `same_holm_p` belongs to "they do not"; below 5 % nothing is pooled. Of
    virtual time, `model_error_percent` is by how much it differs from real time. `power_p` is that
    of the only campaign that decides a part. A column for each campaign has what it found. What is
    pooled is refused only if it is over all parts of its claim; what several campaigns computed
    alike counts once.
    """
    together = pooled([estimates(table) for table in of_campaigns.values()])
    same = same_p(together)
    every = with_texts(pd.concat(of_campaigns.values(), ignore_index=True), ("detail",))
    # A part of one name may be held against several published numbers.
    named = ["slug", "part", "kind", "published"]
    every["nth"] = every.groupby(["campaign", *named], dropna=False).cumcount()
    keys = [*named, "nth"]
    decided = every[~every["verdict"].isin(UNTESTED)].drop_duplicates(keys)
    count = Counter(decided[["slug", "kind"]].itertuples(index=False, name=None))
    of_parts: dict[int, list[Row]] = {}
    numbers = every.groupby(keys, sort=False, dropna=False).ngroup()
    for number, one in zip(numbers, every.to_dict("records"), strict=True):
        of_parts.setdefault(number, []).append(one)
    rows = [_row(of_part, together, same, count) for of_part in of_parts.values()]
    table = pd.DataFrame(rows, columns=[*COLUMNS, *of_campaigns])
    table["model_error_percent"] = model_error_percent(table, every)
    return with_texts(table, ("published", "ours", *of_campaigns))


def _row(
    of_part: Sequence[Row],
    together: Mapping[Key, stats.Together],
    same: Mapping[Key, float],
    count: Mapping[tuple[str, str], int],
) -> dict[str, Any]:
    decided = once([one for one in of_part if one["verdict"] not in UNTESTED])
    # Too few trials give a number and no interval.
    known = [one for one in decided if not pd.isna(one["ours_low_x"])]
    telling = known or decided
    every = telling or of_part
    first = every[0]
    row = {
        **{name: first[name] for name in ("slug", "part", "kind")},
        "detail": first["detail"] if len(_known(every, "detail")) == 1 else "",
        "verdict": _alike([one["verdict"] for one in decided])
        if decided
        else min((one["verdict"] for one in of_part), key=UNTESTED.index),
        "published": first["published"],
        "campaigns_count": len(_known(decided, "campaign")),
        **{one["campaign"]: _found(one) for one in of_part},
    }
    # Where campaigns differ in what keeps them apart, none of them is pooled.
    apart = {Key.of(one) for one in telling}
    if len(apart) == 1 and (key := apart.pop()) in together:
        of_claim = count[first["slug"], first["kind"]]
        return {**row, **_pooled(first, together[key], same[key], of_claim)}
    if len(telling) == 1 or len(_known(telling, "ours")) == 1:
        numbers = ("ours", "ours_x", "ours_low_x", "ours_high_x")
        row |= {name: first[name] for name in numbers}
    if len(telling) == 1:
        row["power_p"] = first["power_p"]
    return row


def _known(rows: Iterable[Row], name: str) -> set[Any]:
    """Return the different values of a column, without empty ones."""
    return {one[name] for one in rows if not pd.isna(one[name])}


def _pooled(first: Row, one: stats.Together, same: float, of_claim: int) -> dict[str, Any]:
    """Return the mean of campaigns and its verdict as one of so many parts, or that they differ."""
    tested = {"spread_percent": 100 * math.expm1(one.spread), "same_holm_p": same}
    if same < stats.LEVEL:
        return {**tested, "verdict": DISAGREE}
    mean, low, high, next_low, next_high = map(
        math.exp, (one.value, one.low, one.high, one.next_low, one.next_high)
    )
    side = next(side for side, word in SIDES.items() if word == _text(first["side"]))
    target = Band(first["band_low_x"], first["band_high_x"], side)
    ours = Estimate(mean, next_low, next_high, one.degrees + 1, one.degrees)
    unit = _text(first["unit"])
    part = by_one_of(Part.judged("", ours, target, "", first["kind"], unit=unit), of_claim)
    return {
        **tested,
        "verdict": part.verdict,
        "ours": shown(part),
        "ours_x": mean,
        "ours_low_x": low,
        "ours_high_x": high,
        "next_low_x": next_low,
        "next_high_x": next_high,
    }


def _alike(verdicts: Sequence[str]) -> str:
    """Return the verdict of campaigns of which no two may be pooled: theirs, if they agree.

    Of many campaigns some refuse a right claim by chance: where the others cannot tell, there must
    be more of these than chance gives one claim in twenty.
    """
    told = [verdict for verdict in verdicts if verdict not in UNDECIDED] or verdicts
    if len({*told}) == 1:
        chance = scipy.stats.binom.sf(len(told) - 1, len(verdicts), stats.LEVEL / 2)
        return "inconclusive" if told[0] in REFUSED and chance > stats.LEVEL else told[0]
    return DISAGREE if {*told} - {*UNDECIDED} else "inconclusive"


def _found(one: Row) -> str:
    """Return what a campaign found of a part, with its verdict and the power that it had."""
    ours = Estimate(one["ours_x"], one["ours_low_x"], one["ours_high_x"], 2)
    number = (
        ""
        if math.isnan(ours.value)
        else shown(Part("", OTHER_STATE, ours=ours, unit=_text(one["unit"])))
    )
    detail = f" ({one['detail']})" if one["detail"] else ""
    if one["verdict"] == OTHER_STATE:
        word = "in another state"
    else:
        known = not pd.isna(one["power_p"])
        word = f"{one['verdict']} at power {one['power_p']:.2f}" if known else one["verdict"]
    return ", ".join(filter(None, (number, f"{word}{detail}")))


def _text(value: Any) -> Any:
    return "" if pd.isna(value) else value


def claims_together(parts: pd.DataFrame, statements: Mapping[str, str]) -> pd.DataFrame:
    """Return a row per claim: its verdict by each kind of evidence, and that of the strongest.

    `scope` is `part` where that kind did not test all parts of the claim. `campaigns_count` is how
    many campaigns are behind it: 0 where models computed it without a trial. `statements` are what
    claims say, by slug; `parts` as `parts_together` gives them.
    """
    of_claims: dict[str, list[Row]] = {slug: [] for slug in statements}
    for one in parts.to_dict("records"):
        of_claims.get(one["slug"], []).append(one)
    rows = []
    for slug, every in of_claims.items():
        of_claim = [one for one in every if one["verdict"] != "not testable here"]
        verdicts: dict[str, str] = {
            kind: over_parts(*zip(*of_kind, strict=True))
            for kind in KINDS
            if (of_kind := [(x["verdict"], x["power_p"]) for x in of_claim if x["kind"] == kind])
        }
        decided = [kind for kind, verdict in verdicts.items() if verdict != OTHER_STATE]
        basis = decided[0] if decided else ""
        of_basis = [one for one in of_claim if one["kind"] == basis]
        measured = [one for one in of_basis if not COMPUTED.search(one["part"])]
        rows.append(
            {
                "slug": slug,
                "statement": statements[slug],
                "verdict": verdicts[decided[0]]
                if decided
                else next(iter(verdicts.values()), "not testable here"),
                "scope": _scope(every, of_basis),
                "basis": basis,
                "campaigns_count": int(max((x["campaigns_count"] for x in measured), default=0)),
                **{str(kind): verdicts.get(kind, "") for kind in KINDS},
            }
        )
    columns = ["slug", "statement", "verdict", "scope", "basis", "campaigns_count", *KINDS]
    return pd.DataFrame(rows, columns=columns)


def _scope(every: Sequence[Row], of_basis: Sequence[Row]) -> str:
    """Return whether one kind of evidence tested all parts of a claim; "" where it tested none."""
    tested = [one for one in of_basis if one["verdict"] not in (*UNTESTED, "by construction")]
    if not tested:
        return ""
    parts, known = (
        {(one["part"], _text(one["published"])) for one in of} for of in (every, tested)
    )
    return "whole" if len(known) == len(parts) else "part"


def over_parts(verdicts: Iterable[str], powers: Iterable[float] = ()) -> str:
    """Return the verdict on a claim by those on its parts, and their powers if these are known."""
    every = list(zip_longest(verdicts, powers, fillvalue=math.nan))
    words = {word for word, _ in every}
    if DISAGREE in words and not {*REFUSED} & words:
        return DISAGREE
    parts = [Part("", word, power=power) for word, power in every]  # type: ignore[arg-type]
    return combine([part for part in parts if part.verdict != DISAGREE])[0]
