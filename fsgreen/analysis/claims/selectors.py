"""The parts of a claim that cells decide: ratios, orders, amounts and equivalence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fsgreen import stats
from fsgreen.analysis.claims.declared import Amount, Entry, Equivalence, Order, Ratio, Selector
from fsgreen.analysis.claims.source import Numbers, Source, spelled
from fsgreen.claims import ABOVE, Band, Part, about, band, unit_of, written
from fsgreen.design import DEFAULT, Cell, metrics
from fsgreen.design.factors import Level


def selected(entry: Entry, numbers: Numbers, source: Source) -> list[Part]:
    """Return the parts of a claim that its selectors declare."""
    return [
        part
        for _, _, selector in entry.selectors
        for levels in _each(entry, selector)
        for part in _parts(selector, levels, numbers, source)
    ]


def _each(entry: Entry, selector: Selector) -> Iterator[dict[str, Any]]:
    """Yield the levels that all cells have, for each combination that gets parts of its own."""
    for combination in itertools.product(*selector.for_each.values()):
        each = dict(zip(selector.for_each, combination, strict=True))
        yield {**entry.where, **selector.where, **each}


def _parts(
    selector: Selector, levels: Mapping[str, Any], numbers: Numbers, source: Source
) -> Iterator[Part]:
    cells = [Cell(**{**levels, **of}) for of in selector.of]
    number = None if selector.number is None else numbers[selector.number]
    metric = selector.metric or _metric(number)
    if isinstance(selector, Order):
        for above, below in itertools.pairwise(cells):
            yield _ratio(metric, above, below, ABOVE, _above(above, below), source, short=True)
        return
    for cell in cells:
        if isinstance(selector, Amount):
            yield _amount(selector, metric, cell, number, source)
            continue
        against: dict[str, Level] = {"option": DEFAULT}
        if isinstance(selector, Ratio | Equivalence) and selector.against:
            (against,) = selector.against
        baseline = cell.but(**against)
        if isinstance(selector, Equivalence) or number is None:
            equal = Band(1 - source.bound, 1 / (1 - source.bound), 0)
            yield _ratio(metric, cell, baseline, equal, "no difference", source)
        else:
            target, unit = band(number, "measured", source.bound), unit_of(number)
            yield _ratio(metric, cell, baseline, target, written(number), source, unit=unit)


def _ratio(
    metric: str,
    subject: Cell,
    baseline: Cell,
    target: Band,
    published: str,
    source: Source,
    *,
    short: bool = False,
    **fields: Any,
) -> Part:
    """Return the part in which a metric of one cell over that of another meets a band."""
    part = source.part(
        _compared(metric, subject, baseline, short=short),
        target,
        published,
        lambda: source.effect(metric, subject, baseline),
        subject,
        baseline,
        **fields,
    )
    return _of_metric(metric, source.gated(part, subject, baseline), source)


def _amount(
    selector: Amount, metric: str, cell: Cell, number: Mapping[str, Any] | None, source: Source
) -> Part:
    """Return the part in which a metric of a cell meets a number, or lies between two."""
    if number is None:
        low = 0.0 if selector.at_least is None else selector.at_least
        high = math.inf if selector.at_most is None else selector.at_most
        target = Band(low, high, 0)
        published = f"{low:g} to {high:g}"
    else:
        value = float(number["value"])
        target = {
            "at_least": Band(value, math.inf, 0),
            "greater_than": Band(value, math.inf, 0),
            "at_most": Band(0.0, value, 0),
            "less_than": Band(0.0, value, 0),
        }.get(number["op"], about(value))
        published = f"{value:g} {number.get('unit', '')}".strip()
    what = f"{metric} of {source.spelled(cell)}"
    part = source.part(what, target, published, lambda: _total(metric, cell, source), cell, unit="")
    return _of_metric(metric, part, source)


def _total(metric: str, cell: Cell, source: Source) -> stats.Estimate:
    """Return the value of a cell, total over total; with an interval from enough trials on."""
    sample = source.sample(cell, metric)
    found = stats.ratio_of_totals(sample["above"], sample["below"])
    return found if found.n >= stats.MIN_BLOCKS else replace(found, low=math.nan, high=math.nan)


def _of_metric(metric: str, part: Part, source: Source) -> Part:
    """Return a part as far as its metric decides anything: not if a model made it."""
    if metric not in metrics.names() or part.ours is None:
        return part
    known = metrics.get(metric)
    if known.modelled_from:
        needs = f"{metric} as it is measured, not modelled from {known.modelled_from}"
        return replace(part, verdict="not testable here", basis=None, needs=needs)
    if known.of_power:
        return source.about_power(replace(part, boundary=source.boundary))
    return part


def _metric(number: Mapping[str, Any] | None) -> str:
    """Return what a published number is of; throughput where there is no number."""
    known = metrics.published(number["metric"]) if number else None
    return metrics.THROUGHPUT.name if known is None else known.name


def _compared(metric: str, subject: Cell, baseline: Cell, *, short: bool) -> str:
    """Return what is compared, as people write it."""
    workload, other = subject.get("workload"), baseline.get("workload")
    one, against = (_named(cell, short=short) for cell in (subject, baseline))
    if workload != other:
        return f"{metric} of {one}: {workload} over {other}"
    return f"{workload} {metric}: {one} over {against}"


def _named(cell: Cell, *, short: bool) -> str:
    """Return a cell without its workload; short is without what is a default."""
    text = spelled(cell.but(workload=None))
    return text.removesuffix(f"/{DEFAULT}") if short else text


def _above(above: Cell, below: Cell) -> str:
    return f"{_named(above, short=True)} above {_named(below, short=True)}"
