"""The sub-command on runs that other programs measured."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsgreen.cli import command

BOUNDARIES = ("wall", "dc-rail", "cpu", "modelled")


def add(commands: command.Commands[argparse.ArgumentParser]) -> None:
    """Add the sub-command of this module."""
    read = command.add(
        commands,
        "import-runs",
        _import_runs,
        "make a table of runs that Experiment Runner, EnergiBridge, fio, Filebench or the Phoronix "
        "Test Suite measured",
        "fsgreen import-runs ext4/*.json xfs/*.json --name mine --path '{file_system}/*.json'",
    )
    read.add_argument("files", nargs="+", type=Path, metavar="FILE")
    read.add_argument("--name", required=True, metavar="CAMPAIGN", help="a new name of results")
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
    from fsgreen import runs
    from fsgreen.runs.meanings import meanings_of
    from fsgreen.runs.places import path_pattern

    found = runs.import_runs(
        options.files,
        meanings_of(options.meanings),
        pattern=path_pattern(options.path) if options.path else None,
        boundary=options.boundary,
    )
    print(f"{found.format}: {len(found.trials)} runs from {len(options.files)} files")
    for source in found.sources:
        for decision in source["decisions"]:
            command.show(f"- {source['file']}: {decision}", hang=2)
    if not found.aside.empty:
        print(f"kept aside: {', '.join(map(str, found.aside.columns[1:]))}")
    folder = found.write(options.name)
    for line in runs.describe(found.trials):
        command.show(line, hang=4)
    print(folder)
