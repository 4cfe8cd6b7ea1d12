"""Sub-commands of what campaigns say together: of a study, and of all studies as a paper."""

from __future__ import annotations

import argparse

from fsgreen.cli import command


def add(commands: command.Commands) -> None:
    """Add the sub-commands of this module."""
    parser = command.add(
        commands,
        "ledger",
        _ledger,
        "put what all campaigns of a study say of its claims side by side, and together",
        "fsgreen ledger fast10, or one claim in full: fsgreen ledger fast10 web_dtlg",
    )
    parser.add_argument("study", help="one whose campaigns have been judged here")
    parser.add_argument("claim", nargs="?", help="show the parts of this one, by campaign")
    command.add(
        commands,
        "article",
        _article,
        "write the paper over all studies as PDF and HTML: question, answer, evidence and limits",
        "fsgreen article, after ./run reproduce",
    )


def _ledger(options: argparse.Namespace) -> None:
    from fsgreen import ledger

    for line in ledger.lines(options.study, options.claim):
        command.show(line, hang=len(line) - len(line.lstrip()) + 4)


def _article(_options: argparse.Namespace) -> None:
    from fsgreen import article

    folder = article.write()
    print("\n".join(str(file) for file in sorted(folder.glob("article.*"))))
