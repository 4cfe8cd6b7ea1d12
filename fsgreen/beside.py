"""A campaign beside another, in lines: what differs, what is not compared, and cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from fsgreen.analysis.beside import Differences, cells_beside, differences, other_work, refusal
from fsgreen.audit.pooling import NOT_RECORDED
from fsgreen.design import metrics
from fsgreen.design.metrics import USUAL, Metric
from fsgreen.errors import FsgreenError, unknown
from fsgreen.reduce import read_identity, read_plan, read_study, read_table, simulated
from fsgreen.stats import Estimate
from fsgreen.words import digits, listed, plural


def lines(one: str, other: str, names: Sequence[str] = ()) -> Iterator[str]:
    """Yield how two campaigns compare.

    The ratio is of the first over the second. `names` are metrics; by default work per second and
    per joule. Raises FsgreenError if a campaign has not been analysed, a metric is none of both
    studies, or they have nothing that may be compared.
    """
    campaigns = (one, other)
    plans = [read_plan(name) for name in campaigns]
    identities = [read_identity(name) for name in campaigns]
    trials = [read_table(name, "trials") for name in campaigns]
    chosen = [_metric(name, campaigns) for name in names] or list(USUAL)
    yield f"{one} beside {other}"
    yield "what differs, apart from the time (each may be why a cell differs):"
    yield from _differences(campaigns, differences(plans, identities, trials))
    for name in campaigns:
        if (what := simulated(name)) is not None:
            yield f"  {name} is simulated ({what}): its numbers are those of the model"
    bounds = _bounds(plans)
    if left_out := other_work(identities):
        yield f"not compared: {', '.join(left_out)}, which do other work under the same name"
    shown = False
    for metric in chosen:
        if why := refusal(metric, identities):
            yield f"{metric.name} is not compared: {why}"
            continue
        table = cells_beside(trials, metric, bounds, left_out)
        if table.empty:
            continue
        shown = True
        boundary = f", {identities[0]['boundary']}" if metric.of_power else ""
        unit = metric.unit.replace("_", "/")
        yield f"{metric.name} in {unit}{boundary}: {one}, {other}, and the first over the second"
        yield from _columns(table)
        counts = ", ".join(f"{n} {word}" for word, n in table["outcome"].value_counts().items())
        yield f"  of {plural(len(table), 'cell')} in both: {counts}"
    if not shown:
        raise FsgreenError(
            f"{one} and {other} have no cell that may be compared in "
            f"{' or '.join(metric.name for metric in chosen)}",
            next_step="fsgreen plan STUDY shows the cells of a study; measure some that both have",
        )
    yield (
        "Intervals hold 95 % for this machine and time; tests are Welch's, corrected for all cells "
        "(Holm). Campaigns are neither pooled nor ranked here: fsgreen ledger STUDY pools them, "
        "where that may be done."
    )


def _differences(campaigns: Sequence[str], differences: Differences) -> Iterator[str]:
    """Yield what differs, and in short what a campaign did not record."""
    for name, *values in differences:
        if NOT_RECORDED not in values:
            yield f"  {name}: {' / '.join(map(_value, values))}"
    for nth, campaign in enumerate(campaigns):
        if names := [name for name, *values in differences if values[nth] == NOT_RECORDED]:
            yield f"  not recorded of {campaign}: {listed(names)}"


def _columns(table: pd.DataFrame) -> Iterator[str]:
    """Yield the cells of a table, column below column."""
    rows = [
        (
            row.cell,
            _estimate(row.one),
            _estimate(row.other),
            _ratio(row.ratio) if row.steady else "no steady state",
            _word(row),
        )
        for row in table.itertuples()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *numbers, word in rows:
        told = "  ".join(
            f"{text:>{width}}" for text, width in zip(numbers, widths[1:], strict=False)
        )
        yield f"  {name:{widths[0]}}  {told}  {word}"


def _word(row: Any) -> str:
    """Return how a comparison came out; an undecided one with what it rests on."""
    if row.outcome != "inconclusive":
        return str(row.outcome)
    return f"inconclusive after Holm: {plural(min(row.one.n, row.other.n), 'trial')}"


def _metric(name: str, campaigns: Sequence[str]) -> Metric:
    for campaign in campaigns:
        known = {*read_study(campaign).metrics, *metrics.names()}
        if name not in known:
            raise unknown(f"metric of {campaign}", name, known)
    return metrics.get(name)


def _bounds(plans: Sequence[Any]) -> dict[str, float]:
    """Return the bounds that both plans declared: the stricter, and none of equivalence alone."""
    bounds = {"minimum_trials": max(plan.bounds.get("minimum_trials", 0) for plan in plans)}
    equal = [plan.bounds.get("equivalence_percent") for plan in plans]
    if None not in equal:
        bounds["equivalence_percent"] = min(equal)
    return bounds


def _value(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    return f"{value:,}" if isinstance(value, int) else str(value)


def _estimate(of: Estimate) -> str:
    interval = f" [{digits(of.low)}, {digits(of.high)}]" if of.has_interval else ""
    return f"{digits(of.value)}{interval}"


def _ratio(of: Estimate) -> str:
    interval = f" [{of.low:.3g}, {of.high:.3g}]" if of.has_interval else ""
    return f"{of.value:.3g}x{interval}"
