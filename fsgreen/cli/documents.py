"""Sub-commands that write documents: the paper, the page for committees, the site, the course."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsgreen.cli import command
from fsgreen.labs.versions import VERSIONS


def add(commands: command.Commands) -> None:
    """Add the sub-commands of this module."""
    command.add(
        commands,
        "article",
        _article,
        "write the paper over all studies as PDF and HTML: question, answer, evidence and limits",
        "fsgreen article, after ./run reproduce",
    )
    command.add(
        commands,
        "artifact",
        _artifact,
        "write ARTIFACT.md, the page for artifact evaluation, from what ships",
        "fsgreen artifact",
    )
    command.add(
        commands,
        "docs",
        _docs,
        "build README and docs/ as a site, with a gallery of all figures; checks every link",
        "fsgreen docs, after ./run reproduce for the figures; then open build/site/index.html",
    )
    labs = command.add(
        commands,
        "labs",
        _labs,
        "write the notebooks of the course: for students, with solutions, or for the instructor",
        "fsgreen labs solutions --version solution",
    )
    labs.add_argument("folder", type=Path, metavar="FOLDER", help="the folder, made if missing")
    labs.add_argument("--version", choices=VERSIONS, default="student", help="default: student")
    labs.add_argument(
        "--replace", action="store_true", help="replace notebooks that have these names there"
    )


def _article(_options: argparse.Namespace) -> None:
    from fsgreen import article

    folder = article.write()
    print("\n".join(str(file) for file in sorted(folder.glob("article.*"))))


def _artifact(_options: argparse.Namespace) -> None:
    from fsgreen import artifact

    print(artifact.write())


def _docs(_options: argparse.Namespace) -> None:
    from fsgreen import site

    print(site.write())


def _labs(options: argparse.Namespace) -> None:
    from fsgreen.labs import versions

    for file in versions.write(options.version, options.folder, replace=options.replace):
        print(file)
