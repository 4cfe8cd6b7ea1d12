"""How often each interval covers the truth and each test errs, by simulation.

Every estimator of `fsgreen.stats` meets trials whose truth is known: normal, log-normal with a
coefficient of variation of 80 %, and of two modes, at n = 5, 10 and 30. The rates are printed and
written to fsgreen/stats/coverage.csv, from which notes on results are made, and into
docs/statistics.md. All numbers are simulated; the same seed gives the same.
"""

from __future__ import annotations

import argparse
import math
import os
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pandas as pd
from tqdm import tqdm

from bench import command
from bench.coverage_cases import CASES, rate
from bench.coverage_trials import DISTRIBUTIONS
from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.stats import coverage

REPETITIONS, QUICK = 2_000, 200
SEED = 1
DOCUMENT = "docs/statistics.md"
BEGIN, END = "<!-- coverage -->", "<!-- end of coverage -->"

TITLES = {
    "interval": "Intervals: how often they cover, in per cent (nominal: 95)",
    "test": "Tests: false alarms, in per cent (nominal: 5)",
    "power": "Power: how often what is there is found, in per cent",
}
MARKS = {"short": "**", "liberal": "**", "long": "*", "strict": "*"}
"""What stands around a rate that breaks its promise, and around one that is too careful."""

Job = tuple[int, str, int, int, int]
"""Index of the case, distribution, n, repetitions, seed."""


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="example: python -m bench.coverage --quick",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--repetitions",
        type=command.positive,
        default=REPETITIONS,
        help="of the cheapest estimators; costly ones have fewer (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=SEED, help="(default: %(default)s)")
    parser.add_argument(
        "--only", default="", help="estimators whose name has this text; the rest stays as it is"
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK} repetitions, printed and not written"
    )
    return parser.parse_args()


def jobs(repetitions: int, seed: int, only: str = "") -> Iterator[Job]:
    """Yield what is to be simulated, each with a seed of its own."""
    for index, case in enumerate(CASES):
        if only not in case.estimator:
            continue
        for distribution in case.distributions:
            for n in case.counts:
                own = zlib.crc32(f"{seed} {case.estimator} {distribution} {n}".encode())
                yield index, distribution, n, max(1, repetitions // case.cost), own


def simulate(job: Job) -> float:
    """Return the rate of one job."""
    index, *given = job
    return rate(CASES[index], *given)


def simulated(repetitions: int, seed: int, only: str = "") -> pd.DataFrame:
    """Return the table of rates, made by as many processes as there are cores."""
    todo = list(jobs(repetitions, seed, only))
    costly_first = sorted(todo, key=lambda job: -CASES[job[0]].cost * job[2])
    workers = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        found = pool.map(simulate, costly_first)
        shown = tqdm(found, total=len(todo), unit="case", leave=False)
        rates = dict(zip(costly_first, shown, strict=True))
    rows = [
        (CASES[index].estimator, CASES[index].kind, distribution, n, rates[job], count)
        for job in todo
        for index, distribution, n, count, _ in [job]
    ]
    return pd.DataFrame(rows, columns=coverage.COLUMNS).round({"rate_percent": 2})


def check(only: str, old: pd.DataFrame) -> None:
    """Refuse a text that no estimator has, or that leaves out one which was never simulated.

    Raises FsgreenError if so.
    """
    left = {case.estimator for case in CASES if only not in case.estimator}
    if len(left) == len({case.estimator for case in CASES}):
        raise FsgreenError(f"no estimator has {only!r} in its name", next_step="leave out --only")
    if never := sorted(left - set(old["estimator"])):
        raise FsgreenError(
            f"never simulated, and left out by --only {only!r}: {', '.join(never)}",
            next_step="python -m bench.coverage",
        )


def merged(fresh: pd.DataFrame, old: pd.DataFrame) -> pd.DataFrame:
    """Return fresh rates and the old ones of what was not simulated, in the order of the cases."""
    key = ["estimator", "kind", "distribution", "n"]
    rows = pd.concat([fresh, old]).drop_duplicates(key).set_index(key)
    wanted = [
        (case.estimator, case.kind, distribution, n)
        for case in CASES
        for distribution in case.distributions
        for n in case.counts
    ]
    return rows.loc[wanted].reset_index()[coverage.COLUMNS]


def markdown(table: pd.DataFrame) -> str:
    """Return the rates as Markdown: a table for each kind and set of n, with `MARKS`."""
    counts = table["repetitions_count"]
    most, least = (
        f"{n:,} repetitions (error at 95 %: {100 * math.sqrt(0.05 * 0.95 / n):.1f} points)"
        for n in (counts.max(), counts.min())
    )
    parts = [f"Each rate comes from {most}, those of costly estimators from {least} at least.\n"]
    for kind, title in TITLES.items():
        rows = table[table["kind"] == kind]
        parts.append(f"### {title}\n")
        by_counts = rows.groupby("estimator")["n"].transform(lambda n: str(sorted(set(n))))
        for _, these in rows.groupby(by_counts, sort=False):
            parts.append(_grid(these, kind))
    return "\n".join(parts)


def _grid(rows: pd.DataFrame, kind: coverage.Kind) -> str:
    counts = sorted(rows["n"].unique())
    drawn = set(rows["distribution"])
    distributions = [name for name in DISTRIBUTIONS if name in drawn]
    lines = [
        f"| n = {', '.join(map(str, counts))} | " + " | ".join(distributions) + " |",
        "|---|" + "---|" * len(distributions),
    ]
    for estimator, these in rows.groupby("estimator", sort=False):
        fields = [
            ", ".join(_cell(kind, rate) for rate in of.sort_values("n")["rate_percent"])
            for of in (these[these["distribution"] == name] for name in distributions)
        ]
        lines.append(f"| {estimator} | " + " | ".join(fields) + " |")
    return "\n".join(lines) + "\n"


def _cell(kind: coverage.Kind, percent: float) -> str:
    if math.isnan(percent):
        return "none"
    mark = MARKS.get(coverage.verdict(kind, percent), "")
    return f"{mark}{percent:.1f}{mark}"


def written(text: str, table: pd.DataFrame) -> str:
    """Return the document with the table between its marks.

    Raises FsgreenError if a mark is missing.
    """
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise FsgreenError(
            f"the marks {BEGIN} and {END} are missing",
            where=DOCUMENT,
            next_step=f"git checkout {DOCUMENT}",
        )
    return f"{head}{BEGIN}\n{markdown(table)}\n{END}{tail}"


def main() -> None:
    """Simulate, print, and write unless it was quick."""
    asked = arguments()
    document = paths.root() / DOCUMENT
    check(asked.only, coverage.table())
    table = simulated(QUICK if asked.quick else asked.repetitions, asked.seed, asked.only)
    print(markdown(table))
    if not asked.quick:
        table = merged(table, coverage.table()) if asked.only else table
        document.write_text(written(document.read_text(), table))
        table.to_csv(coverage.FILE, index=False, lineterminator="\n")


if __name__ == "__main__":
    command.run(main)
