"""Sub-commands on single runs: those that other programs measured, and latencies of two."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsgreen.cli import command

BOUNDARIES = ("wall", "dc-rail", "cpu", "modelled")


def add(commands: command.Commands) -> None:
    """Add the sub-commands of this module."""
    read = command.add(
        commands,
        "import-runs",
        _import_runs,
        "make a campaign from runs that Experiment Runner, EnergiBridge, fio, Filebench or the "
        "Phoronix Test Suite measured, and analyse it",
        "fsgreen import-runs ext4/*.json xfs/*.json --name mine --path '{file_system}/*.json'",
    )
    read.add_argument("files", nargs="+", type=Path, metavar="FILE")
    read.add_argument("--name", required=True, metavar="CAMPAIGN", help="a new name")
    read.add_argument("--title", help="title of the report (default: the campaign's name)")
    read.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="COLUMN=MEANING",
        dest="meanings",
        help="the meaning of a column: a factor, a quantity with its unit, or aside",
    )
    read.add_argument(
        "--path",
        metavar="PATTERN",
        help="the levels in the ends of the paths: '{file_system}/{option}-{block}.json'",
    )
    read.add_argument(
        "--boundary", choices=BOUNDARIES, help="what energy and power include, if there is any"
    )

    latency = command.add(
        commands,
        "latency",
        _latency,
        "compare the latencies of two runs, for each operation",
        "fsgreen latency ext2.json ext3.json",
    )
    latency.add_argument(
        "candidate", type=Path, help="the output of fsgreen-wml run --json, of one run"
    )
    latency.add_argument("baseline", type=Path, help="the output of the run to compare with")


def _import_runs(options: argparse.Namespace) -> None:
    from fsgreen import campaign, pipeline, runs
    from fsgreen.runs.meanings import meanings_of, path_pattern

    imported = runs.import_runs(
        options.files,
        meanings_of(options.meanings),
        pattern=path_pattern(options.path) if options.path else None,
        boundary=options.boundary,
    )
    imported.keep(options.name, options.title or f"Imported runs: {options.name}")
    for line in campaign.status(campaign.Campaign(options.name)):
        command.show(line, hang=12)
    if not imported.aside.empty:
        print(f"  aside     {', '.join(map(str, imported.aside.columns[1:]))}")
    pipeline.after_measure(options.name)


def _latency(options: argparse.Namespace) -> None:
    from fsgreen import stats
    from fsgreen.reduce.single_run import report_profile

    candidate, baseline = map(report_profile, (options.candidate, options.baseline))
    print(f"{'operation':16}{'ops':>12}{'baseline ops':>14}{'EMD':>8}{'shift':>8}")
    for row in stats.compare_profiles(candidate, baseline).itertuples():
        counts = f"{row.candidate_ops:12}{row.baseline_ops:14}"
        print(f"{row.operation:16}{counts}{row.emd_buckets:8.2f}{row.shift_buckets:+8.2f}")
    print("in log2 buckets: 1 is a factor of two, and a shift above 0 is slower than the baseline")
    print("One run each cannot tell a difference from noise; repeat in blocks: fsgreen measure")
