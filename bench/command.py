"""What the commands of this package share: how they are called, and how they fail."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path

from bench.processes import adopt_orphans
from fsgreen.errors import FsgreenError

MEMORY = Path("/dev/shm")
"""A tmpfs on every Linux: the least that a file system costs, so that what is added shows."""


def parser(description: str | None, *, example: str, rounds: int) -> argparse.ArgumentParser:
    """Return a parser of `--directory` and `--rounds`, with an example in its help."""
    made = argparse.ArgumentParser(
        description=description,
        epilog=f"example: {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "--directory",
        type=Path,
        default=MEMORY,
        help="where a folder for the files is made, and removed (default: %(default)s)",
    )
    made.add_argument(
        "--rounds", type=positive, default=rounds, help="rounds of all ways (default: %(default)s)"
    )
    return made


def positive(text: str) -> int:
    """Return a whole number above 0, for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not above 0")
    return number


def emptied(folder: Path) -> Path:
    """Make a folder anew, so that what a program leaves there stands beside nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def run(main: Callable[[], None]) -> None:
    """Call `main`; an error that a user can mend ends the program with its words alone."""
    adopt_orphans()
    try:
        main()
    except FsgreenError as error:
        raise SystemExit(str(error)) from None
