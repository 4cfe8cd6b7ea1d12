"""Runs of readers as a bench that claims are tested on: ratios, numbers, orders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.claims import MEASURED_TOLERANCE, Band, Part, judge
from fsgreen.confounds import Gate
from fsgreen.design import Cell
from fsgreen.papers.nfstricks03.readers import Runs, label, total
from fsgreen.papers.nfstricks03.zones import Zones
from fsgreen.reduce import factors_of

Take = Callable[[Cell], pd.DataFrame]
"""How a sample is taken of a setup: `Runs.rate`, say."""

Pair = tuple[Cell, Cell]

Numbers = Sequence[Mapping[str, Any]]
"""The published numbers of a claim."""

WORST_FIRST = ("reversed", "not reproduced", "inconclusive", "direction only", "reproduced")


def about(value: float) -> Band:
    """Return the band of an absolute number: within the tolerance of measured ones."""
    return Band(value * (1 - MEASURED_TOLERANCE), value * (1 + MEASURED_TOLERANCE), 0)


@dataclass(frozen=True)
class Bench:
    """Runs that claims are tested on, and the texts for what a test would take, by name.

    `bound` is the plan's bound of equivalence, as a relative difference; `zones` has those of each
    simulated disk, by its name, where its file is known. `gate` knows what a campaign in real time
    held; in virtual time there is nothing that was not declared. `waits` has the runs of
    `virtual.Simulated`.
    """

    runs: Runs
    bound: float
    needs: Mapping[str, str]
    zones: Mapping[str, Zones] = field(default_factory=dict)
    gate: Gate | None = None
    waits: pd.DataFrame = field(default_factory=pd.DataFrame)

    def part(
        self,
        what: str,
        target: Band,
        published: str,
        ours: Callable[[], stats.Estimate],
        *of: Cell,
        **fields: Any,
    ) -> Part:
        """Return the part in which an estimate meets a band; or what it lacks."""
        text = f"{what} ({self.runs.clock})"
        lacks = tuple(label(one) for one in of if self.runs.cell(one).empty)
        source = self.runs.clock
        if lacks:
            return Part(text, "not testable here", published=published, lacks=lacks, source=source)
        found = ours()
        verdict = "inconclusive" if self._moves(*of) else judge(found, target)
        return Part(text, verdict, "measured", published, target, found, source=source, **fields)

    def _moves(self, *of: Cell) -> bool:
        """Return whether one of these has no steady state (rule 24); virtual time has no series."""
        cells = (self.runs.cell(one) for one in of)
        classes = [stats.classify_cell(list(cell["steady"])) for cell in cells if "steady" in cell]
        return "inconsistent" in classes

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
        return self.gated(part, take, subject, baseline)

    def gated(self, part: Part, take: Take, subject: Cell, baseline: Cell) -> Part:
        """Return a part with what the gate says of the two setups; what differs is compared."""
        if self.gate is None or part.ours is None:
            return part
        studied = {name for name, level in subject.items() if level != baseline[name]}
        candidate, against = (
            self.runs.cell(one)[factors_of(self.runs.trials)].iloc[0].to_dict()
            for one in (subject, baseline)
        )
        each = take in (self.runs.spread, self.runs.bend)
        ruling = self.gate.rule(candidate, against, studied, part.ours, of_each_reader=each)
        return replace(part, gate=ruling.state)

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
        ran = [pair for pair in pairs if not any(self.runs.cell(one).empty for one in pair)]
        parts = []
        for one, other in ran:
            readers = max(one["readers"], other["readers"])
            text = f"{what}, the worst of {len(ran)}: {readers} readers"
            parts.append(self.ratio(text, take, one, other, target, published))
        if parts:
            yield min(parts, key=_badness)
        lacks = {label(one) for pair in pairs for one in pair if self.runs.cell(one).empty}
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
