"""What all sub-commands have: a summary, and an example in their help."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn, TextIO, TypeAlias

from fsgreen.errors import unknown


class Parser(argparse.ArgumentParser):
    """A parser whose errors suggest the nearest word, as argparse does from Python 3.14 on."""

    def parse(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Return the options; ends the program where an argument is wrong, with status 2."""
        options, left = self.parse_known_args(arguments)
        parser: Parser = options.parser
        if left:
            word, known = left[0].partition("=")[0], parser._option_string_actions
            parser.error(
                unknown("option", word, known).what
                if word.startswith("-")
                else f"nothing is done with the argument '{word}'"
            )
        return options

    def error(self, message: str) -> NoReturn:
        """End the program with what is wrong, and where the command is explained."""
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: {message}\n  next:  {self.prog} --help\n")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            kind = "command" if isinstance(action, argparse._SubParsersAction) else "word"
            raise argparse.ArgumentError(
                action, unknown(kind, value, map(str, action.choices)).what
            )


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # argparse gives it no public name

WIDEST = 100
"""Columns of text that are read with ease, and what a file or a pipe gets."""


def add(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], None],
    summary: str,
    example: str,
) -> Parser:
    """Add a sub-command that calls `run` with its options; return its parser."""
    parser = commands.add_parser(
        name, help=summary, description=summary, epilog=f"example: {example}"
    )
    parser.set_defaults(run=run, parser=parser)
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


def show_indented(lines: Iterable[str]) -> None:
    """Print lines that keep their indentation, and hang four columns deeper where they go on."""
    for line in lines:
        show(line, hang=len(line) - len(line.lstrip()) + 4)


def add_study(parser: argparse.ArgumentParser, *, name: str | None = None) -> None:
    """Add a study and its profile; `name` says what --name is of, where there is that."""
    text = "one of `fsgreen list studies`"
    parser.add_argument("study", help=text if name else f"{text}, or the path of a file (.yaml)")
    parser.add_argument("--profile", default="quick", help="one of the study (default: quick)")
    if name:
        parser.add_argument("--name", help=name)
