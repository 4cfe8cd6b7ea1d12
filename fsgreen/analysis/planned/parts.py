"""The parts of claims that a plan may decide: their power, and the blocks that they need."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import scipy

from fsgreen.analysis.claims.assay import ENOUGH, Precision, power
from fsgreen.analysis.claims.declared import Claims
from fsgreen.analysis.claims.ledger import on_testbed
from fsgreen.analysis.claims.selectors import selected
from fsgreen.analysis.planned.reach import Expected, power_of
from fsgreen.analysis.planned.source import Planned
from fsgreen.claims import OTHER_STATE, Band, Part
from fsgreen.stats import MIN_BLOCKS

MOST_BLOCKS = 1000
"""Largest number of blocks that is tried."""

BAR = 0.6
"""Share of the two-sided parts that a plan should be able to decide."""

MANY = 100
"""Degrees of freedom that are assumed for an interval from the scatter of all cells."""


@dataclass(frozen=True)
class Prospect:
    """A part of a claim, before it is measured."""

    slug: str
    part: Part
    """Its `ours` is an `Expected`, or None if the plan lacks a cell."""
    bound: float
    """The bound of equivalence as a share: smaller relative differences count as none."""

    @property
    def decidable(self) -> bool:
        """Return whether trials of the plan can test the part, leaving their state aside."""
        judged = self.part.tested or self.part.verdict == OTHER_STATE
        has_band = self.part.band is not None and self.part.band.low < self.part.band.high
        expected = isinstance(self.part.ours, Expected)
        return judged and has_band and expected and self.part.verdict != "by construction"

    @property
    def two_sided(self) -> bool:
        """Return whether our number must lie between two ends."""
        target = self.part.band
        return target is not None and math.isfinite(target.high) and target.low > 0

    @property
    def out_of_state(self) -> bool:
        """Return whether trials of the pilot were in another state than the claim's."""
        return any(not math.isnan(found.low) for found in self.part.found)

    @property
    def state_open(self) -> bool:
        """Return whether it is unknown in which state the trials will be."""
        return bool(self.part.found) and not self.out_of_state

    def power(self, blocks: int) -> float:
        """Return the probability of "reproduced" if the published number is exactly right.

        NaN if the width of the interval cannot be predicted; 0 in another state than the claim's.
        """
        return 0.0 if self.out_of_state else power_of(self.part, blocks, self.bound)

    @cached_property
    def blocks(self) -> int | None:
        """Return the least number of blocks for a power of `ENOUGH`; None above `MOST_BLOCKS`.

        The state of trials is left aside, as more blocks do not change it.
        """
        counts = range(MIN_BLOCKS, MOST_BLOCKS + 1)

        def enough(count: int) -> bool:
            return power_of(self.part, count, self.bound) >= ENOUGH

        place = bisect_left(counts, True, key=enough)
        return counts[place] if place < len(counts) else None


def prospects(claims: Claims, planned: Planned) -> list[Prospect]:
    """Return a prospect of each part that selectors of cells declare.

    Parts that a study's own code tests are not foreseen.
    """
    testbed = None if planned.pilot is None else planned.pilot.testbed
    foreseen = []
    for slug, claim in claims.stated.items():
        entry = claims.entries[slug]
        if entry.built:
            continue
        for part in selected(entry, claim["numbers"], planned, claims.cells, claims.states):
            placed = part if testbed is None else on_testbed(part, claims, slug, testbed)
            foreseen.append(Prospect(slug, placed, planned.bound))
    return foreseen


def blocks_for(foreseen: Sequence[Prospect], share: float) -> int | None:
    """Return the least number of blocks that gives this share of the parts a power of `ENOUGH`.

    None if no number does.
    """
    wanted = sorted(
        math.inf if prospect.out_of_state or prospect.blocks is None else prospect.blocks
        for prospect in foreseen
    )
    enough = wanted[math.ceil(share * len(wanted)) - 1] if wanted else math.inf
    return int(enough) if math.isfinite(enough) else None


def widest_percent(target: Band, bound: float) -> float:
    """Return the largest half-width of an interval, in per cent, that has enough power at a band.

    NaN if no width has, infinite if every width has.
    """

    def spare(error: float) -> float:
        return power(target, Precision(error, MANY), bound) - ENOUGH

    least, most = 1e-5, 3.0
    if not spare(least) > 0:
        return math.nan
    if spare(most) > 0:
        return math.inf
    error = float(scipy.optimize.brentq(spare, least, most, xtol=1e-6))
    return 100 * math.expm1(Precision(error, MANY).half)
