"""What came of a campaign, in short: rates, verdicts, rules, table 2, and what to change."""

from __future__ import annotations

import csv
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fsgreen import paths
from fsgreen.words import plural

if TYPE_CHECKING:
    import pandas as pd

KINDS = {
    "measured": "measured",
    "simulated": "simulated",
    "by construction": "by construction",
    "published": "from print",
    "": "undecided",
}
"""What a verdict can rest on, and what that is called; these are never added up (rule 50)."""

WIDTH = 100
"""Columns of text that are read with ease."""

MOST_CELLS = 12
"""Cells whose rates are shown; more would push the rules out of sight."""


def said(kind: str, verdict: str) -> str:
    """Return a verdict with the kind of evidence that it rests on; it may be its own."""
    return verdict if kind in ("", verdict) else f"{KINDS[kind]}: {verdict}"


def write(campaign: str) -> Path:
    """Write `outcome.txt` into the results of a campaign: what its report says, in short.

    The files that it names are in the same folder.

    Raises FsgreenError if its `trust.csv` has not been made.
    """
    from fsgreen.reduce import of_this_version

    folder = paths.results(campaign)
    parts = [
        _rates(campaign),
        _verdicts(campaign, _rows(folder / "claims.csv")),
        _comparisons(campaign),
        _rules(campaign),
        _agreement(folder / "tables"),
        _advice(campaign),
    ]
    file = folder / "outcome.txt"
    with of_this_version(campaign):
        sections = ["\n".join(lines).splitlines() for lines in parts]
    text = "\n\n".join("\n".join(map(_fitted, lines)) for lines in sections if lines)
    file.write_text(text + "\n", encoding="utf-8")
    return file


def _fitted(line: str) -> str:
    """Return a line as lines that fit `WIDTH`; those behind the first are indented further."""
    if len(line) <= WIDTH:
        return line
    hang = " " * (len(line) - len(line.lstrip()) + 3)
    return textwrap.fill(
        line, WIDTH, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False
    )


def _rates(campaign: str) -> Iterator[str]:
    """Yield how much work each cell does, for at most `MOST_CELLS`; runs may tell of none."""
    from fsgreen.analysis.tables import as_shown, interval_text
    from fsgreen.figures import intervals_of
    from fsgreen.generic.figures import cell_name, varied_factors
    from fsgreen.reduce import read_table

    cells = as_shown(read_table(campaign, "cells"))
    if cells["throughput_ops_s"].isna().all():
        return
    known = intervals_of(cells["throughput_low_ops_s"], cells["n"], "trial")
    alone = cells["workload"].nunique() == 1
    of_workload = f" of {cells['workload'].iloc[0]}" if alone else ""
    yield f"{campaign}: operations per second{of_workload}, {known}\n"
    varied = {name: varied_factors(of) for name, of in cells.groupby("workload")}
    rows = []
    for cell in cells.head(MOST_CELLS).to_dict("records"):
        workload = cell["workload"]
        value, bracket, ends = interval_text(cell, "throughput", "ops_s").partition(" [")
        behind = (" ops/s" if value[0].isdigit() else "") + bracket + ends
        name = cell_name(cell, varied[workload])
        rows.append((name if alone else f"{workload} {name}", value, behind))
    name_width, value_width = (max(len(row[at]) for row in rows) for at in (0, 1))
    for name, value, behind in rows:
        yield f"  {name:{name_width}}  {value:>{value_width}}{behind}"
    if len(cells) > MOST_CELLS:
        yield f"  and {plural(len(cells) - MOST_CELLS, 'more cell')}: cells.csv"


def _verdicts(campaign: str, rows: list[dict[str, str]]) -> Iterator[str]:
    if not rows:
        return
    counts = Counter((row["verdict"], row["basis"]) for row in rows)
    own = sum(row["testbed"] != "" for row in rows)
    yield f"{campaign}: verdicts on {len(rows)} claims, {own} of them by its trials\n"
    widths = {kind: len(name) + 2 for kind, name in KINDS.items()}
    yield f"{'':30}" + "".join(f"{name:>{widths[kind]}}" for kind, name in KINDS.items())
    for verdict, _ in Counter(row["verdict"] for row in rows).most_common():
        told = (f"{counts[verdict, kind] or '':>{width}}" for kind, width in widths.items())
        yield f"{verdict:30}" + "".join(told)


def _comparisons(campaign: str) -> Iterator[str]:
    """Yield how comparisons came out, for a study without published claims."""
    from fsgreen.reduce import read_table
    from fsgreen.rules import repeated

    effects = read_table(campaign, "effects")
    if len(read_table(campaign, "claims")) or effects.empty:
        return
    counted, mark = len(repeated.once(effects)), repeated.mark_of(effects)
    yield f"{campaign}: {counted} comparisons by factor and metric\n"
    for (kind, metric), of in effects.groupby(["kind", "metric"]):
        outcomes = of["outcome"].value_counts().items()
        counts = ", ".join(f"{count} {name}" for name, count in outcomes)
        behind = mark if metric == "efficiency" else ""
        yield f"  {kind}, {metric}{behind}, {_against(of, kind)}: {counts}"
    if mark:
        yield f"  {repeated.NOTE}"


def _against(effects: pd.DataFrame, kind: str) -> str:
    """Return what the comparisons of a kind are with."""
    column = f"baseline_{kind.replace(' ', '_')}"
    levels = effects[column].dropna().unique() if column in effects else []
    return f"against {levels[0]}" if len(levels) == 1 else "with each other"


def _rules(campaign: str) -> Iterator[str]:
    from fsgreen import rules

    yield rules.summary(campaign)


def _agreement(tables: Path) -> Iterator[str]:
    """Yield how often the options of the paper came out so and so; none may have been measured."""
    file = tables / "agreement.csv"
    rows = _rows(file) if file.is_file() else []
    if not rows:
        return
    columns = [name for name in rows[0] if name != "published"]
    widths = {name: max(9, len(name) + 3) for name in columns}
    yield (
        "options against the file system's default, published and here "
        "(throughput; tables/table2.csv)"
    )
    yield f"  {'published':16}" + "".join(f"{name:>{widths[name]}}" for name in columns)
    for row in rows:
        told = "".join(f"{row[name]:>{width}}" for name, width in widths.items())
        yield f"  {row['published']:16}{told}"


def _advice(campaign: str) -> Iterator[str]:
    """Yield the fastest sure gain of each kind of change, by workload."""
    from fsgreen.recommend import percent
    from fsgreen.reduce import read_table

    table = read_table(campaign, "recommended")
    table = table[table["metric"] == "throughput"]
    if table.empty:
        return
    now = table[table["change"] == "none"].iloc[0]
    yield (
        f"what to change from {now['file_system']}/{now['option']} (throughput; everything, with "
        "risks: recommended.csv)"
    )
    gains = table[table["verdict"] == "gain"].sort_values(["workload", "order"])
    for row in gains.drop_duplicates(["workload", "change"]).to_dict("records"):
        to = f"{row['file_system']}/{row['option']}"
        yield f"  {row['workload']:20} {row['change']:11}  {to:16} {percent(row):>20}  n={row['n']}"
    if rest := sorted(set(table["workload"]) - set(gains["workload"])):
        yield f"  no change is sure to gain on {', '.join(rest)}{_too_few(campaign)}"


def _too_few(campaign: str) -> str:
    """Return that no trial could have decided, where each cell has too few for an interval."""
    from fsgreen.reduce import read_plan, read_table

    most = int(read_table(campaign, "cells")["n"].max())
    least = read_plan(campaign).bounds["minimum_trials"]
    return f": {plural(most, 'trial')} of a cell, a verdict takes {least:g}" if most < least else ""


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))
