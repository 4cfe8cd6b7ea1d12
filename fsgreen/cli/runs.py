"""The sub-command on runs that other programs measured."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsgreen.cli import command

BOUNDARIES = ("wall", "dc-rail", "cpu", "modelled")


def add(commands: command.Commands) -> None:
    """Add the sub-command of this module."""
    read = command.add(
        commands,
        "import-runs",
        _import_runs,
        "make a campaign of runs that Experiment Runner, EnergiBridge, fio, Filebench or the "
        "Phoronix Test Suite measured, and analyse it",
        "fsgreen import-runs ext4/*.json xfs/*.json --name mine --path '{file_system}/*.json'",
    )
    read.add_argument("files", nargs="+", type=Path, metavar="FILE")
    read.add_argument("--name", required=True, metavar="CAMPAIGN", help="a new one")
    read.add_argument("--title", help="of the report (default: the campaign's name)")
    read.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="COLUMN=MEANING",
        dest="meanings",
        help="what a column is that does not say it: a factor, a quantity with its unit, or aside",
    )
    read.add_argument(
        "--path",
        metavar="PATTERN",
        help="what the ends of the files' paths say: '{file_system}/{option}-{block}.json'",
    )
    read.add_argument(
        "--boundary", choices=BOUNDARIES, help="what energy and power include, where there is any"
    )


def _import_runs(options: argparse.Namespace) -> None:
    from fsgreen import campaign, pipeline, runs
    from fsgreen.runs.meanings import meanings_of
    from fsgreen.runs.places import path_pattern

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
