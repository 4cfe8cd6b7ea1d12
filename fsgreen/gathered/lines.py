"""What files of results say together, in lines for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from fsgreen.analysis.claims.ledger import SIMULATED
from fsgreen.gathered.document import Results
from fsgreen.gathered.pools import KEY, Gathered, differs
from fsgreen.words import listed, plural

MODELLED = "modelled"
SEVERAL = 2


def about(results: Results) -> str:
    """Return in a line on what the numbers of a file rest."""
    machine, testbed = results.machine, results.testbed
    told = [
        "" if results.testbeds_count == 1 else f"{results.testbeds_count} testbeds that are alike",
        machine.cpu or "unknown processor",
        "" if machine.cores_count is None else plural(machine.cores_count, "core"),
        "" if machine.memory_b is None else f"{machine.memory_b >> 30} GiB",
        machine.kernel,
    ]
    place = f"{testbed.kind}{' in memory' if testbed.in_memory else ''}"
    if testbed.kind in SIMULATED:
        model = f" ({testbed.model})" if testbed.model else ""
        place = f"SIMULATED: {testbed.kind}{model}"
    meters = dict.fromkeys(meter.model or meter.driver for meter in results.meters)
    power = f"power {results.boundary}, by {listed(meters) or 'no meter'}"
    if results.boundary == MODELLED:
        power = "power MODELLED: it decides nothing"
    return "; ".join([", ".join(filter(None, told)), place, power])


def lines(gathered: Gathered) -> Iterator[str]:
    """Yield what files of results say: what each is, and each comparison that two of them share."""
    yield from files(gathered)
    shared = gathered.shared
    if len(gathered.files) < SEVERAL:
        each = gathered.each
        yield f"one file: {plural(each['comparison'].nunique(), 'comparison')}, nothing to pool"
        shared = each
    elif shared.empty:
        yield "no comparison is in two of the files: they share no pair of cells and metric"
    for metric in dict.fromkeys(shared["metric"]):
        yield ""
        yield f"{metric}, ratios with 95 % intervals"
        of_metric = shared[shared["metric"] == metric]
        for comparison, rows in of_metric.groupby("comparison", sort=False):
            yield f"  {comparison}"
            yield from _of_comparison(rows, _pools(gathered.together, metric, str(comparison)))
    if not gathered.together.empty:
        yield ""
        yield from _what_it_means(gathered)


def files(gathered: Gathered) -> Iterator[str]:
    """Yield what each file is, by its number."""
    for number, (file, results) in enumerate(
        zip(gathered.files, gathered.results, strict=True), start=1
    ):
        rules = ", ".join(map(str, results.rules_fired)) or "none"
        yield f"{number}  {file.name}: {results.study}, profile {results.profile.name}"
        yield f"   {about(results)}"
        yield f"   rules that fired: {rules}"
    yield from alike(gathered)


def alike(gathered: Gathered) -> Iterator[str]:
    """Yield which files are of machines that look alike, and what that would mean."""
    for numbers in gathered.alike:
        yield (
            f"files {' and '.join(map(str, numbers))} are of machines that look alike: if they are "
            "one machine, what is said of the next holds for its next campaign, and for no other "
            "machine"
        )


def _pools(together: pd.DataFrame, metric: str, comparison: str) -> pd.DataFrame:
    return together[(together["metric"] == metric) & (together["comparison"] == comparison)]


def _of_comparison(rows: pd.DataFrame, pools: pd.DataFrame) -> Iterator[str]:
    """Yield a row for each file, and what may be said of them together."""
    for row in rows.to_dict("records"):
        yield f"    {row['file']:>2}  {ratio(row)}{_marks(row)}"
    for pool in pools.to_dict("records"):
        among = [row["file"] for row in rows.to_dict("records") if _is_in(row, pool)]
        of_some = len(among) < rows["file"].nunique()
        yield f"    {'files ' + ', '.join(map(str, among)) if of_some else 'all'}: {summary(pool)}"
    apart = list(_apart(rows))
    if apart and rows["file"].nunique() >= SEVERAL:
        yield f"    not pooled, as they differ in: {'; '.join(apart)}"


def summary(pool: Mapping[Any, Any]) -> str:
    """Return what machines say together: their mean, how far they differ, and the next."""
    mean = f"mean {_number(pool['ratio_x'])}x {interval(pool, 'ratio')}"
    spread = f"spread {pool['spread_percent']:.2g} %"
    word = "they differ" if differs(pool) else "no sure difference"
    return f"{mean}; {spread} ({word}); next machine {interval(pool, 'next')}: {next_says(pool)}"


def next_says(pool: Mapping[Any, Any]) -> str:
    """Return on which side of 1 the next machine will probably be."""
    if pool["next_low_x"] > 1:
        return "more"
    if pool["next_high_x"] < 1:
        return "less"
    return "more or less"


def ratio(row: Mapping[Any, Any]) -> str:
    """Return the ratio of a file with its interval; none without a steady state (rule 24)."""
    if row["outcome"] == "inconsistent":
        return "no steady state"
    ends = "" if math.isnan(row["ratio_low_x"]) else f" {interval(row, 'ratio')}"
    return f"{_number(row['ratio_x'])}x{ends}"


def _marks(row: Mapping[Any, Any]) -> str:
    marks = [
        f"simulated: {row['model']}" if row["basis"] == "simulated" else "",
        f"{row['boundary']} power" if row["boundary"] else "",
        "" if row["gate"] == "passed" else f"confound: {row['gate']}",
    ]
    told = ", ".join(filter(None, marks))
    return f"  ({told})" if told else ""


def _apart(rows: pd.DataFrame) -> Iterator[str]:
    """Yield in what the files of a comparison differ that keeps them apart."""
    for name in KEY[2:]:
        values = dict.fromkeys(str(value) or "-" for value in rows[name])
        if len(values) > 1:
            yield f"{name} ({' / '.join(values)})"


def _what_it_means(gathered: Gathered) -> Iterator[str]:
    few = (gathered.together["files_count"] < 3).any()
    yield (
        "Mean: of machines like these. Spread: by how much they differ beyond their own intervals. "
        "Next machine: where a further one like these will probably be (95 %), by a random-effects "
        "model (rule 49)."
        + (" Two machines say little of a third: Student's t is then 12.7." if few else "")
    )


def _is_in(row: Mapping[Any, Any], pool: Mapping[Any, Any]) -> bool:
    return row["pooled"] and all(row[name] == pool[name] for name in KEY)


def interval(row: Mapping[Any, Any], name: str) -> str:
    """Return the ends of an interval: of `ratio`, or of `next`."""
    return f"[{_number(row[f'{name}_low_x'])}, {_number(row[f'{name}_high_x'])}]"


def _number(value: float) -> str:
    return f"{value:.3g}"
