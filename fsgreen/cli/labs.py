"""The sub-command `labs`: the notebooks of the course in the version that one needs."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsgreen.cli import command
from fsgreen.labs.versions import VERSIONS


def add(commands: command.Commands) -> None:
    """Add the sub-command of this module."""
    parser = command.add(
        commands,
        "labs",
        _labs,
        "write the notebooks of the course: for students, with solutions, or for the instructor",
        "fsgreen labs solutions --version solution",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to; made if missing")
    parser.add_argument("--version", choices=VERSIONS, default="student", help="default: student")
    parser.add_argument(
        "--replace", action="store_true", help="replace other notebooks of these names there"
    )


def _labs(options: argparse.Namespace) -> None:
    from fsgreen.labs import versions

    for file in versions.write(options.version, options.folder, replace=options.replace):
        print(file)
