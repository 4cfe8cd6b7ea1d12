"""Correction of refusals for the number of parts: of many parts, one is off by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from fsgreen import stats
from fsgreen.claims import REFUSED, Part, judge, undecided


def by_one_of(part: Part, count: int) -> Part:
    """Return a part, refused only if its refusal holds for `count` parts at once (Bonferroni).

    Otherwise it is inconclusive or underpowered. A part without sampling error is unchanged, as it
    was not refused by chance.
    """
    among = part.among * count
    if part.verdict not in REFUSED or among == 1 or not _by_chance(part):
        return part
    assert part.ours is not None and part.band is not None
    verdict = judge(stats.simultaneous(part.ours, among), part.band)
    if verdict in REFUSED:
        return replace(part, verdict=verdict)
    return replace(part, verdict=undecided(part.power))


def of_claim(parts: Sequence[Part]) -> list[Part]:
    """Return the parts of a claim, refused only if the refusal holds after Holm's correction.

    One part is enough to refuse a claim. So the chance to refuse a right claim grows with the
    number of its parts. That all parts hold needs no correction (an intersection-union test).
    Source: Holm 1979, a simple sequentially rejective multiple test procedure.
    """
    corrected, left = list(parts), sum(map(_by_chance, parts))
    doubtful = sure = {nth for nth, part in enumerate(parts) if part.verdict in REFUSED}
    while sure:
        for nth in doubtful:
            corrected[nth] = by_one_of(parts[nth], left)
        sure = {nth for nth in doubtful if corrected[nth].verdict in REFUSED}
        doubtful = doubtful - sure
        left -= sum(_by_chance(parts[nth]) for nth in sure)
    return corrected


def _by_chance(part: Part) -> bool:
    """Return whether a part has a sampling error, so that scatter alone might refuse it."""
    ours = part.ours
    return (
        part.tested
        and part.band is not None
        and ours is not None
        and ours.low < ours.high
        and not math.isnan(ours.degrees)
    )
