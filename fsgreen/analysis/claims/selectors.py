"""The parts of a claim that cells decide: ratios, orders, levels and equivalence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fsgreen import units
from fsgreen.analysis.claims.agreement import band_of
from fsgreen.analysis.claims.cells import NamedCell, Pair, any_level, without_workload
from fsgreen.analysis.claims.checks import worst
from fsgreen.analysis.claims.kinds import (
    Amount,
    Comparing,
    Entry,
    Equivalence,
    Order,
    Ratio,
    Selector,
    levels_of,
)
from fsgreen.analysis.claims.source import Numbers, Source
from fsgreen.analysis.claims.states import State
from fsgreen.claims import Band, Part, by_construction, unit_of, written
from fsgreen.design import DEFAULT, Cell, metrics


def selected(
    entry: Entry,
    numbers: Numbers,
    source: Source,
    named: Mapping[str, Mapping[str, Any]] = {},
    states: Mapping[str, State] = {},
) -> list[Part]:
    """Return the parts of a claim that its selectors declare.

    `numbers` are those published for it. `named` are cells that selectors mention by name, `states`
    those that trials are to be in.
    """
    parts = []
    for _, _, selector in entry.selectors:
        asked = [states[name] for name in (*entry.state, *selector.state)]
        for combination in combinations(selector.for_each):
            levels = {**entry.where, **selector.where, **combination}
            test = _Test(selector, levels, numbers, source, named, asked)
            if source.records(test.metric):
                parts += [by_construction(p) if selector.built else p for p in test.parts()]
    return parts


def combinations(levels: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each combination of levels of several factors."""
    for combination in itertools.product(*levels.values()):
        yield dict(zip(levels, combination, strict=True))


@dataclass(frozen=True)
class _Test:
    """A selector at the levels that all of its cells have."""

    selector: Selector
    levels: Mapping[str, Any]
    numbers: Numbers
    source: Source
    named: Mapping[str, Mapping[str, Any]]
    states: Sequence[State]

    @property
    def number(self) -> Mapping[str, Any] | None:
        """Return the published number, with the relation that the selector names, if it does."""
        if self.selector.number is None:
            return None
        number = self.numbers[self.selector.number]
        return number if self.selector.op is None else {**number, "op": self.selector.op}

    @property
    def metric(self) -> str:
        """Return what the selector is about; throughput where neither it nor its number says."""
        known = metrics.published(self.number["metric"]) if self.number else None
        return self.selector.metric or (metrics.THROUGHPUT if known is None else known).name

    @property
    def target(self) -> Band:
        """Return what counts as agreement."""
        return band_of(self.selector, self.number, self.source.bound)

    def parts(self) -> Iterator[Part]:
        """Yield a part for each cell or comparison, or the worst one over several levels."""
        if isinstance(self.selector, Comparing):
            if self.selector.over:
                yield from self._worst(self.selector.over)
            else:
                yield from (self._compared(self.selector, pair) for pair in self._pairs({}))
        else:
            yield from (self._level(self._cell(of)) for of in self.selector.of)

    def _cell(self, of: Mapping[str, Any], over: Mapping[str, Any] = {}) -> NamedCell:
        """Return a cell: what its name stands for, what all cells have, and its own levels."""
        name, base, own = levels_of(of, self.named)
        return NamedCell(name, Cell(**{**base, **self.levels, **over, **own}))

    def _pairs(self, over: Mapping[str, Any]) -> Iterator[Pair]:
        """Yield the cells that are compared."""
        selector = self.selector
        if isinstance(selector, Order):
            yield from itertools.pairwise(self._cell(of, over) for of in selector.of)
            return
        for of in selector.of:
            subject = self._cell(of, over)
            given = getattr(selector, "against", None) or ({"option": DEFAULT},)
            others = [self._against(subject, against, over) for against in given]
            ran = (other for other in others if not self.source.cell(other.cell).empty)
            yield subject, next(ran, others[-1])

    def _against(
        self, subject: NamedCell, against: Mapping[str, Any], over: Mapping[str, Any]
    ) -> NamedCell:
        """Return the cell of a name, or the subject with other levels."""
        name, _, levels = levels_of(against, self.named)
        if name:
            return self._cell(against, over)
        return NamedCell("", subject.cell.but(**levels))

    def _worst(self, over: Mapping[str, Any]) -> Iterator[Part]:
        """Yield the part of the levels that are worst for a claim on all, and what did not run."""
        selector = self.selector
        assert isinstance(selector, Comparing)
        every = [(pair, levels) for levels in combinations(over) for pair in self._pairs(levels)]
        what, published = self._of_all(over)
        ran = [
            (pair, levels)
            for pair, levels in every
            if not any(self.source.cell(named.cell).empty for named in pair)
        ]
        parts = [
            replace(
                self._compared(selector, pair),
                what=self.source.text(what),
                published=published,
                detail=self._place(pair, levels, len(ran)),
            )
            for pair, levels in ran
        ]
        tested = [part for part in parts if part.tested]
        if tested:
            yield worst(tested)
        yield from [part for part in parts if not part.tested][:1]
        cells = [named.cell for pair, _ in every for named in pair]
        lacks = {self.source.spelled(cell) for cell in cells if self.source.cell(cell).empty}
        if lacks:
            text, missing = self.source.text(f"{what}, others"), tuple(sorted(lacks))
            yield Part(text, "not testable here", published=published, lacks=missing)

    def _of_all(self, over: Mapping[str, Any]) -> tuple[str, str]:
        """Return what a part over all levels is called, and what the paper says of it.

        Neither names the cells in which the claim fares worst: these differ between campaigns.
        """
        pairs = [*self._pairs({factor: any_level(factor) for factor in over})]
        whats, published = (
            " and ".join(dict.fromkeys(text(*pair) for pair in pairs))
            for text in (self._what, self._published)
        )
        return f"{whats}, the worst over {', '.join(over)}", published

    def _place(self, pair: Pair, levels: Mapping[str, Any], count: int) -> str:
        """Return at which levels, and of which cells, a claim fares worst, of how many."""
        subject, _ = pair
        several = len([*self._pairs(levels)]) > 1
        which = [subject.name or without_workload(subject.cell, short=True)] if several else []
        where = [f"{level} {factor}" for factor, level in levels.items()]
        return f"{', '.join([*which, *where])}, the worst of {count}"

    def _compared(self, selector: Comparing, pair: Pair) -> Part:
        """Return the part in which a metric of one cell over that of another meets a band."""
        subject, baseline = (named.cell for named in pair)
        other_metric = getattr(selector, "against_metric", None) or self.metric
        what, published = self._what(*pair), self._published(*pair)
        for metric, cell in ((self.metric, subject), (other_metric, baseline)):
            if self.source.untold(metric, cell):
                return self._untold(what, published, metric)
        part = self.source.part(
            what,
            self.target,
            published,
            lambda: self.source.effect(self.metric, subject, baseline, other_metric),
            subject,
            baseline,
            metric=self.metric,
            **({"unit": unit_of(self.number)} if self.number else {}),
        )
        if part.tested and self.source.same_by_model(self.metric, subject, baseline, other_metric):
            part = by_construction(part)
        gated = self.source.gated(part, subject, baseline, self.metric)
        return self._decided(gated, subject, baseline)

    def _level(self, named: NamedCell) -> Part:
        """Return the part in which a metric of a cell meets a number, or lies between two."""
        cell = named.cell
        what, published = self._what(named, named), self._published(named, named)
        if self.source.untold(self.metric, cell):
            return self._untold(what, published, self.metric)
        part = self.source.part(
            what,
            self.target,
            published,
            lambda: self.source.value(self.metric, cell),
            cell,
            metric=self.metric,
            unit=getattr(self.selector, "unit", ""),
        )
        return self._decided(part, cell)

    def _untold(self, what: str, published: str, metric: str) -> Part:
        """Return a part that rests on what no trial of its cells recorded."""
        return Part(
            self.source.text(what),
            "not testable here",
            published=published,
            source=self.source.clock,
            needs=f"trials that tell {metric}",
        )

    def _what(self, subject: NamedCell, baseline: NamedCell) -> str:
        """Return what is tested, as people write it."""
        if self.selector.what is not None:
            return self._filled(self.selector.what, subject, baseline)
        if isinstance(self.selector, Amount):
            return f"{self.metric} of {self.source.spelled(subject.cell)}"
        short = isinstance(self.selector, Order)
        one, other = (without_workload(named.cell, short=short) for named in (subject, baseline))
        workload, against = subject.cell.get("workload"), baseline.cell.get("workload")
        if workload != against:
            return f"{self.metric} of {one}: {workload} over {against}"
        return f"{workload} {self.metric}: {one} over {other}"

    def _published(self, subject: NamedCell, baseline: NamedCell) -> str:
        """Return what the paper says, as people write it."""
        selector, number, target = self.selector, self.number, self.target
        if selector.published is not None:
            return self._filled(selector.published, subject, baseline)
        if isinstance(selector, Order):
            cells = [subject.cell, baseline.cell]
            workloads = [str(cell.get("workload")) for cell in cells]
            short = [without_workload(cell, short=True) for cell in cells]
            return " above ".join(short if len({*workloads}) == 1 else workloads)
        if isinstance(selector, Equivalence):
            return "no difference"
        if number is None:
            unit = "x" if isinstance(selector, Ratio) else ""
            if math.isinf(target.high):
                return f"at least {target.low:g}{unit}"
            if not target.low:
                return f"at most {target.high:g}{unit}"
            return f"{target.low:g} to {target.high:g}{unit}"
        if isinstance(selector, Ratio) or getattr(selector, "unit", "") == "x":
            return written(number)
        return f"{float(number['value']):g} {number.get('unit', '')}".strip()

    def _filled(self, text: str, subject: NamedCell, baseline: NamedCell) -> str:
        """Return a text with the names of the cells, and the levels of the first."""
        spelled_out = self.source.spelled(subject.cell)
        names = {"of": subject.name or spelled_out, "against": baseline.name, "cell": spelled_out}
        return text.format_map({**subject.cell, **names})

    def _decided(self, part: Part, cell: Cell, *others: Cell) -> Part:
        """Return a part as far as it decides anything.

        It does not where its metric rests on a model, nor without what the selector requires, nor
        on trials in another state than that which the claim is about (rule 45).
        """
        return self.source.in_state(self._of_metric(part, cell), self.states, (cell, *others))

    def _of_metric(self, part: Part, cell: Cell) -> Part:
        """Return a part undecided without what it requires, and where its metric is modelled."""
        if (required := self.selector.requires) is not None:
            part = self.source.requiring(part, required, self.source.meets(required, cell))
        if part.ours is None:
            return part
        known = metrics.get(self.metric) if self.metric in metrics.names() else None
        if known is not None and known.modelled_from:
            needs = f"{self.metric} as it is measured, not modelled from {known.modelled_from}"
            return replace(part, verdict="not testable here", basis=None, needs=needs)
        if known.of_power if known is not None else units.of_power(self.metric):
            return self.source.about_power(replace(part, boundary=self.source.boundary))
        return part
