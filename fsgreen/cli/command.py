"""What all sub-commands have: a summary, and an example in their help."""

from __future__ import annotations

import argparse
from collections.abc import Callable

Commands = argparse._SubParsersAction  # argparse gives it no public name


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
