"""What all sub-commands have: a summary, and an example in their help."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Callable
from typing import TextIO

Commands = argparse._SubParsersAction  # argparse gives it no public name

WIDEST = 100
"""Columns of text that are read with ease, and what a file or a pipe gets."""


def add(
    commands: Commands[argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], None],
    summary: str,
    example: str,
) -> argparse.ArgumentParser:
    """Add a sub-command that calls `run` with its options; return its parser."""
    parser = commands.add_parser(
        name, help=summary, description=summary, epilog=f"example: {example}"
    )
    parser.set_defaults(run=run)
    return parser


def width() -> int:
    """Return how many columns a line of output may have."""
    return min(shutil.get_terminal_size((WIDEST, 0)).columns, WIDEST)


def show(text: str, *, hang: int = 0, out: TextIO | None = None) -> None:
    """Print a text in lines that fit the terminal, all but the first indented by `hang`."""
    print(
        textwrap.fill(
            text,
            width(),
            subsequent_indent=" " * hang,
            break_long_words=False,
            break_on_hyphens=False,
        ),
        file=out,
    )
