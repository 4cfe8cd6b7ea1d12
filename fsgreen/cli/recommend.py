"""The sub-command `recommend`: fast10's table 3 for one's own machine."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsgreen.cli import command

if TYPE_CHECKING:
    import pandas as pd

    from fsgreen.gathered import Gathered

CAMPAIGN = "fast10-options"
"""Of the campaigns that ship the one with every option."""

HEADINGS = {
    "none": "as it is",
    "mount": "mount options: on a file system as it is",
    "offline": "in place: unmounted, a command, mounted again",
    "format": "format options: mkfs, and the data from a backup",
    "file system": "another file system: mkfs, and the data from a backup",
}
UNITS = {"ops_s": "operations per second", "ops_j": "operations per joule"}
THOUSAND = 1000
INDENT = 7
NAMED = 6
"""Of those that are not told apart from the first; all stand in the ranking below it."""


def add(commands: command.Commands) -> None:
    """Add the sub-command."""
    recommend = command.add(
        commands,
        "recommend",
        _recommend,
        "rank file systems and options for a workload, and say what each change takes",
        'fsgreen recommend --workload mail --constraint "no reformat"',
    )
    recommend.add_argument("--workload", required=True, help="for example mail, or varmail")
    recommend.add_argument(
        "--constraint",
        action="append",
        default=[],
        metavar="TEXT",
        help='"no reformat", "no relaxed durability" or "file system NAME"; may be repeated',
    )
    recommend.add_argument("--campaign", default=CAMPAIGN, help=f"default: {CAMPAIGN}, which ships")
    recommend.add_argument(
        "--now",
        metavar="FILE_SYSTEM/OPTION",
        help="the present configuration (default: the file system of a constraint, or the study's "
        "baseline, with its default options)",
    )
    recommend.add_argument(
        "--gathered",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="also predict the next machine, from files that `fsgreen export` wrote",
    )


def _recommend(options: argparse.Namespace) -> None:
    from fsgreen import recommend
    from fsgreen.analysis import configuration

    source = recommend.read(options.campaign)
    others = _others(options.gathered, source.plan.study)
    known = set(source.cells["workload"])
    workload = recommend.workload_named(options.workload, known, source.apart)
    wanted = recommend.parse(options.constraint, sorted(set(source.cells["file_system"])))
    now = source.baseline
    if wanted.file_system is not None:
        now = configuration.parse(wanted.file_system)
    if options.now is not None:
        now = configuration.parse(options.now)
    admitted, refused = recommend.candidates(source.cells, workload, now, wanted)
    print(f"{workload}, campaign {source.campaign}: changes from {configuration.label(now)}")
    command.show(source.holds_for(workload))
    sys.stdout.flush()
    table = recommend.recommend(
        source.trials, source.cells, workload, source.plan.bounds, source.gate, now, wanted
    )
    for metric in ("throughput", "efficiency"):
        _print_ranking(table[table["metric"] == metric])
    if others is not None:
        from fsgreen import gathered

        print()
        for line in gathered.probably.lines(others, workload, now, admitted):
            command.show(line, hang=INDENT)
    if refused:
        print("\nleft out by the constraints")
        for reason in dict.fromkeys(refused.values()):
            names = [configuration.label(cell) for cell in refused if refused[cell] == reason]
            command.show(f"  {reason}: {', '.join(names)}", hang=4)
    if not admitted:
        print("\nNothing else was measured that the constraints admit.")
        study = source.plan.study
        command.show(
            f"  next:  fsgreen measure {study} --profile PROFILE, one that has such options: "
            f"fsgreen plan {study} --profile PROFILE",
            hang=9,
        )


def _others(files: Sequence[Path], study: str) -> Gathered | None:
    """Return what files of results of this study say; None where none is named."""
    if not files:
        return None
    from fsgreen import gathered

    results = gathered.gather(files)
    gathered.probably.check_study(results, study)
    return results


def _print_ranking(ranked: pd.DataFrame) -> None:
    """Print one metric: the best of all first, then each kind of change from the cheapest on."""
    from fsgreen import confounds
    from fsgreen.design import metrics
    from fsgreen.figures import intervals_of

    metric, boundary = ranked["metric"].iloc[0], ranked["boundary"].iloc[0]
    unit = metrics.get(metric).unit
    power = f", {boundary} power" if metric == "efficiency" else ""
    power += ": decides nothing" if power and boundary == "modelled" else ""
    changes = ranked[ranked["change"] != "none"]
    lows = [*changes["ratio_low_x"], *ranked[f"{metric}_low_{unit}"]]
    print()
    command.show(f"by {UNITS[unit]}{power} ({intervals_of(lows, ranked['n'])})", hang=3)
    if len(ranked) > 1:
        command.show(f"  first: {_first(ranked)}", hang=INDENT)
    if (changes["gate"] != "passed").any():
        command.show(f"  {confounds.sentence(changes)}", hang=INDENT)
    width = max(len(_name(row)) for row in ranked.to_dict("records"))
    for kind, heading in HEADINGS.items():
        rows = ranked[ranked["change"] == kind]
        if rows.empty:
            continue
        print(f"  {heading}")
        for row in rows.to_dict("records"):
            _print_row(row, width, *(f"{metric}{end}_{unit}" for end in ("", "_low", "_high")))


def _first(ranked: pd.DataFrame) -> str:
    """Return the best with all that it is not told apart from: it may be the luckiest of many."""
    best = ranked[ranked["beside_best"] == "best"]
    if best.empty:
        return "none, as none has a steady state"
    level = ranked[~ranked["beside_best"].isin(("best", "different"))]
    return f"{_name(best.iloc[0])}; no sure difference from: {_names(level)}"


def _print_row(row: dict[str, Any], width: int, value: str, low: str, high: str) -> None:
    """Print a configuration; a mean and a place in the ranking only if it has a steady state."""
    from fsgreen.recommend import percent

    order, absolute = "-", ""
    if row["state"] != "inconsistent":
        order = str(row["order"])
        absolute = f"{row[value]:,.4g}" if row[value] < THOUSAND else f"{row[value]:,.0f}"
        half_percent = 50 * (row[high] - row[low]) / row[value]
        absolute += "" if math.isnan(half_percent) else f" +- {half_percent:.0f} %"
    effect = "" if row["change"] == "none" else percent(row)
    says = "" if row["verdict"] == "modelled" else row["says"]  # it stands above all of them
    command.show(
        f"  {order:>4} {_name(row):{width}}  {absolute:>16}  {effect:>18}  n={row['n']}  {says}",
        hang=INDENT + width + 2,
    )
    if row["verdict"] == "gain":
        risk = f"  RISK: {row['risk']}" if row["risk"] else ""
        command.show(f"{'':{INDENT}}{row['how']}{risk}", hang=INDENT)


def _name(row: Mapping[str, Any] | pd.Series) -> str:
    return f"{row['file_system']}/{row['option']}"


def _names(rows: pd.DataFrame) -> str:
    names = [_name(row) for row in rows.to_dict("records")]
    rest = [f"and {len(names) - NAMED} more"] if len(names) > NAMED else []
    return ", ".join(names[:NAMED] + rest) or "none"
