"""Runs of readers as a bench that claims are tested on: ratios, numbers, orders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.claims import MEASURED_TOLERANCE, Band, Part, judge
from fsgreen.papers.readers import Runs, Setup, total
from fsgreen.papers.zones import Zones

Take = Callable[[Setup], pd.DataFrame]
"""How a sample is taken of a setup: `Runs.rate`, say."""

Pair = tuple[Setup, Setup]

Numbers = Sequence[Mapping[str, Any]]
"""The published numbers of a claim."""


def about(value: float) -> Band:
    """Return the band of an absolute number: within the tolerance of measured ones."""
    return Band(value * (1 - MEASURED_TOLERANCE), value * (1 + MEASURED_TOLERANCE), 0)


@dataclass(frozen=True)
class Bench:
    """Runs that claims are tested on, and the texts for what a test would take, by name.

    `bound` is the plan's bound of equivalence, as a relative difference; `zones` has those of each
    simulated disk, by its name, where its file is known.
    """

    runs: Runs
    bound: float
    needs: Mapping[str, str]
    zones: Mapping[str, Zones] = field(default_factory=dict)

    def part(
        self,
        what: str,
        target: Band,
        published: str,
        ours: Callable[[], stats.Estimate],
        *of: Setup,
        **fields: Any,
    ) -> Part:
        """Return the part in which an estimate meets a band; or what it lacks."""
        text = f"{what} ({self.runs.clock})"
        lacks = tuple(str(one) for one in of if self.runs.cell(one).empty)
        if lacks:
            return Part(text, "not testable here", published=published, lacks=lacks)
        found = ours()
        verdict = judge(found, target)
        return Part(text, verdict, "measured", published, target, found, **fields)

    def ratio(
        self, what: str, take: Take, subject: Setup, baseline: Setup, target: Band, published: str
    ) -> Part:
        """Return the part in which one setup over another meets a band."""
        return self.part(
            what,
            target,
            published,
            lambda: stats.effect(take(subject), take(baseline)),
            subject,
            baseline,
        )

    def value(
        self, what: str, take: Take, of: Setup, target: Band, published: str, unit: str = ""
    ) -> Part:
        """Return the part in which a number of one setup meets a band."""
        return self.part(what, target, published, lambda: total(take(of)), of, unit=unit)

    def weakest(
        self, what: str, take: Take, pairs: Sequence[Pair], target: Band, published: str
    ) -> Part:
        """Return the part of the pair whose first is least above its second, of those that ran.

        Its interval is that of the one pair; so what is above in all of them is not overstated.
        """
        ran = [pair for pair in pairs if not any(self.runs.cell(one).empty for one in pair)]
        above_x = [total(take(one)).value / total(take(other)).value for one, other in ran]
        one, other = (
            min(zip(above_x, ran, strict=True), key=lambda entry: entry[0])[1] if ran else pairs[0]
        )
        readers = max(one.readers, other.readers)
        text = f"{what}, where it is least: {readers} readers" if ran else what
        return self.ratio(text, take, one, other, target, published)

    def full_size(self, parts: Iterable[Part]) -> Iterator[Part]:
        """Yield parts in seconds or bytes, which say something for files of the published size."""
        for part in parts:
            if self.runs.scale == 1 or not part.tested:
                yield part
            else:
                needs = self.needs["full-size"]
                yield Part(part.what, "not testable here", published=part.published, needs=needs)

    def enough(self, part: Part, least: float, need: str) -> Part:
        """Return the part of a number of runs; fewer than the published are no answer to it."""
        if part.ours is None or part.ours.value >= least:
            return part
        needs = self.needs[need]
        return Part(part.what, "not testable here", published=part.published, needs=needs)
