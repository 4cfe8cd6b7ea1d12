"""The sub-command that builds the documentation as a site."""

from __future__ import annotations

import argparse

from fsgreen.cli import command


def add(commands: command.Commands) -> None:
    """Add the sub-command of this module."""
    command.add(
        commands,
        "docs",
        _docs,
        "build README and docs/ as a site, with a gallery of all figures; checks every link",
        "fsgreen docs, after ./run reproduce for the figures; then open build/site/index.html",
    )


def _docs(_options: argparse.Namespace) -> None:
    from fsgreen import site

    print(site.write())
