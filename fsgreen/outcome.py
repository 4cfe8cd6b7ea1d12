"""What came of a campaign, in short: verdicts, rules, table 2, and what to change."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fsgreen import paths

KINDS = {
    "measured": "measured",
    "simulated": "simulated",
    "by construction": "constructed",
    "published": "from print",
    "": "undecided",
}
"""What a verdict can rest on, and what that is called; these are never added up (rule 50)."""


def write(campaign: str) -> Path:
    """Write `outcome.txt` into the results of a campaign: what its report says, in short.

    The files that it names are in the same folder.

    Raises
    ------
    FsgreenError
        If its `trust.csv` has not been made.
    """
    folder = paths.results(campaign)
    parts = [
        _verdicts(campaign, _rows(folder / "claims.csv")),
        _comparisons(campaign),
        _rules(campaign),
        _agreement(folder / "tables"),
        _advice(campaign),
    ]
    file = folder / "outcome.txt"
    text = "\n\n".join("\n".join(lines) for lines in map(list, parts) if lines)
    file.write_text(text + "\n", encoding="utf-8")
    return file


def _verdicts(campaign: str, rows: list[dict[str, str]]) -> Iterator[str]:
    if not rows:
        return
    counts = Counter((row["verdict"], row["basis"]) for row in rows)
    yield f"{campaign}: verdicts on {len(rows)} claims, by what they rest on\n"
    yield f"{'':30}" + "".join(f"{name:>12}" for name in KINDS.values())
    for verdict, _ in Counter(row["verdict"] for row in rows).most_common():
        yield f"{verdict:30}" + "".join(f"{counts[verdict, kind] or '':>12}" for kind in KINDS)


def _comparisons(campaign: str) -> Iterator[str]:
    """Yield how comparisons came out, for a study without published claims."""
    from fsgreen.reduce import read_table
    from fsgreen.rules import repeated

    effects = read_table(campaign, "effects")
    if len(read_table(campaign, "claims")) or effects.empty:
        return
    counted, mark = len(repeated.once(effects)), repeated.mark_of(effects)
    yield f"{campaign}: {counted} comparisons by factor and metric\n"
    for (kind, metric), outcomes in effects.groupby(["kind", "metric"])["outcome"]:
        counts = ", ".join(f"{count} {name}" for name, count in outcomes.value_counts().items())
        behind = mark if metric == "efficiency" else ""
        yield f"  {kind}, {metric}{behind}: {counts}"
    if mark:
        yield f"  {repeated.NOTE}"


def _rules(campaign: str) -> Iterator[str]:
    from fsgreen import rules

    yield rules.summary(campaign)
    table = rules.read(campaign)
    for state in rules.STATES:
        numbers = [str(number) for number in table[table["state"] == state]["rule"]]
        if state != "fired" and numbers:
            yield f"  {state}: {', '.join(numbers)}"


def _agreement(tables: Path) -> Iterator[str]:
    """Yield how often the options of the paper came out so and so; it may have no such table."""
    if not (tables / "agreement.csv").is_file():
        return
    rows = _rows(tables / "agreement.csv")
    columns = [name for name in rows[0] if name != "published"]
    yield "options, published against here (throughput; all of them: tables/table2.csv)"
    yield f"  {'published':16}" + "".join(f"{name:>19}" for name in columns)
    for row in rows:
        yield f"  {row['published']:16}" + "".join(f"{row[name]:>19}" for name in columns)


def _advice(campaign: str) -> Iterator[str]:
    """Yield the fastest sure gain of each kind of change, by workload."""
    from fsgreen.recommend import percent
    from fsgreen.reduce import read_table

    table = read_table(campaign, "recommended")
    table = table[table["metric"] == "throughput"]
    if table.empty:
        return
    yield "what to change (throughput; everything, with risks: recommended.csv)"
    gains = table[table["verdict"] == "gain"].sort_values(["workload", "order"])
    for row in gains.drop_duplicates(["workload", "change"]).to_dict("records"):
        best = f"{row['file_system']}/{row['option']}"
        yield (
            f"  {row['workload']:20} {row['change']:11}  {best:16} {percent(row):>20}  n={row['n']}"
        )
    rest = sorted(set(table["workload"]) - set(gains["workload"]))
    if rest:
        yield f"  nothing is a sure gain: {', '.join(rest)}"


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))
