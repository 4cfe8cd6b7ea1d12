"""Runs of readers that claims are judged on: ratios, numbers, orders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.analysis.claims.source import Source
from fsgreen.claims import Band, Part
from fsgreen.design import Cell
from fsgreen.papers.nfstricks03.readers import TREATMENTS, Runs, label, total
from fsgreen.papers.nfstricks03.zones import Zones

Take = Callable[[Cell], pd.DataFrame]
"""How a sample is taken of a setup: `Runs.rate`, say."""

Pair = tuple[Cell, Cell]

WORST_FIRST = ("reversed", "not reproduced", "inconclusive", "direction only", "reproduced")


@dataclass(frozen=True)
class Readers(Source):
    """Runs of readers that claims are judged on, by one clock.

    `zones` has those of each simulated disk, by its name, where its file is known; `waits` the runs
    of `virtual.Simulated`.
    """

    runs: Runs = field(kw_only=True)
    zones: Mapping[str, Zones] = field(default_factory=dict)
    waits: pd.DataFrame = field(default_factory=pd.DataFrame)

    @classmethod
    def of(
        cls,
        runs: Runs,
        bound: float,
        needs: Mapping[str, str],
        zones: Mapping[str, Zones] | None = None,
        **more: Any,
    ) -> Readers:
        """Return runs with what it takes to judge claims on them."""
        return cls(
            runs.trials,
            bound,
            needs,
            clock=runs.clock,
            treatments=TREATMENTS,
            spelled=label,
            runs=runs,
            zones=zones or {},
            **more,
        )

    def ratio(
        self, what: str, take: Take, subject: Cell, baseline: Cell, target: Band, published: str
    ) -> Part:
        """Return the part in which one setup over another meets a band."""
        part = self.part(
            what,
            target,
            published,
            lambda: stats.effect(take(subject), take(baseline)),
            subject,
            baseline,
        )
        return self.of_readers(part, take, subject, baseline)

    def of_readers(self, part: Part, take: Take, subject: Cell, baseline: Cell) -> Part:
        """Return a part with what the gate says of two setups, or of their single readers."""
        each = take in (self.runs.spread, self.runs.bend)
        return self.gated(part, subject, baseline, of_each_reader=each)

    def value(
        self, what: str, take: Take, of: Cell, target: Band, published: str, unit: str = ""
    ) -> Part:
        """Return the part in which a number of one setup meets a band."""
        return self.part(what, target, published, lambda: total(take(of)), of, unit=unit)

    def weakest(
        self, what: str, take: Take, pairs: Sequence[Pair], target: Band, published: str
    ) -> Iterator[Part]:
        """Yield the part of the pair that is worst for a claim on all pairs, and what did not run.

        The worst is that of the worst verdict and, of several, the least above its second: a claim
        on all is no better than that (an intersection-union test, which needs no correction for
        the number of pairs).
        """
        ran = [pair for pair in pairs if not any(self.cell(one).empty for one in pair)]
        parts = []
        for one, other in ran:
            readers = max(one["readers"], other["readers"])
            text = f"{what}, the worst of {len(ran)}: {readers} readers"
            parts.append(self.ratio(text, take, one, other, target, published))
        if parts:
            yield min(parts, key=_badness)
        lacks = {label(one) for pair in pairs for one in pair if self.cell(one).empty}
        if lacks:
            text, missing = f"{what}, others ({self.runs.clock})", tuple(sorted(lacks))
            yield Part(text, "not testable here", published=published, lacks=missing)

    def full_size(self, parts: Iterable[Part]) -> Iterator[Part]:
        """Yield parts in seconds or bytes, which say something for files of the published size."""
        for part in parts:
            if self.runs.scale == 1 or not part.tested:
                yield part
            else:
                yield self._needing(part, "full-size")

    def enough(self, part: Part, least: float, need: str) -> Part:
        """Return the part of a number of runs; fewer than the published are no answer to it."""
        if part.ours is None or part.ours.value >= least:
            return part
        return self._needing(part, need)

    def _needing(self, part: Part, need: str) -> Part:
        needs = self.needs[need]
        return Part(part.what, "not testable here", published=part.published, needs=needs)


def _badness(part: Part) -> tuple[int, float]:
    return WORST_FIRST.index(part.verdict), part.ours.value if part.ours else 0.0
