"""Whether any version out of a long history is restored soon by `greenfs restore`.

Two remote folders are made with as many versions each: of one file, and of many files in a folder.
What lies in their history is made here, as docs/greenfs.md describes it, and not by as many
synchronisations. Each restore is of another version, and its data are compared. In memory, a folder
of a million names is read as fast as it can be: name a folder on a disk for another answer.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench import command
from bench.processes import run
from bench.rounds import Spread, met, print_row
from fsgreen import greenfs
from fsgreen.progress import progress

MOST_S = 2.0
FILES = 1000
"""Files of the second volume."""

TEXTS = 100
"""Versions of other data; a file system limits how many names one file may have."""

FIRST = datetime(2020, 1, 1, tzinfo=UTC)
APART = timedelta(seconds=30)
SEED = 20
HEAD = ("history", "versions", "restored in (s)", "target")
WIDTHS = (12, 11, 30, 12)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(__doc__, example="python -m bench.history --rounds 20", rounds=20)
    parser.add_argument(
        "--versions", type=command.positive, default=1_000_000, help="(default: 1,000,000)"
    )
    return parser.parse_args()


def main() -> None:
    """Print how long restores take, and whether each is soon enough."""
    asked = arguments()
    print_row(HEAD, WIDTHS)
    for name, files in (("one file", 1), (f"{FILES:,} files", FILES)):
        with tempfile.TemporaryDirectory(dir=asked.directory) as place:
            each = max(1, asked.versions // files)
            remote = made(Path(place), files, each)
            spread = Spread.of(restored(remote, files, each, asked.rounds))
        told = f"< {MOST_S:g} {met(spread.greatest < MOST_S)}"
        print_row((name, f"{files * each:,}", f"{spread:.3f}", told), WIDTHS)


def made(place: Path, files: int, each: int) -> Path:
    """Make a volume and its remote with so many versions of each file; return the remote."""
    flash, remote, texts = (place / name for name in ("flash", "remote", "texts"))
    for folder in (flash, remote, texts, flash / "folder"):
        folder.mkdir()
    for nth in range(TEXTS):
        (texts / str(nth)).write_text(text(nth))
    for nth in range(files):
        (flash / "folder" / str(nth)).write_text("now")
    run([greenfs.program(), "sync", "--flash", str(flash), "--remote", str(remote)])
    identity = remote / ".greenfs" / "branch.json"
    said = json.loads(identity.read_text())
    said["history"]["since_us"] = round(FIRST.timestamp() * 1e6)
    identity.write_text(json.dumps(said))
    history = remote / ".greenfs" / "history" / "folder" / "in"
    with progress(None, "versions", "version", total=files * each) as bar:
        for nth in range(files):
            of_file = history / str(nth)
            of_file.mkdir(parents=True)
            for version in range(each):
                name = f"{until(version):%Y-%m-%dT%H:%M:%S.%fZ}"
                os.link(texts / str((nth + version) % TEXTS), of_file / name)
            bar.update(each)
    return remote


def text(nth: int) -> str:
    """Return the data of a version."""
    return f"{nth:03d} " * 256


def until(version: int) -> datetime:
    """Return until when a version of a file stood there."""
    return FIRST + (version + 1) * APART


def restored(remote: Path, files: int, each: int, count: int) -> list[float]:
    """Return the seconds in which versions at random are restored; each is compared."""
    drawn, took_s = random.Random(SEED), []
    for _ in range(count):
        nth, version = drawn.randrange(files), drawn.randrange(each)
        to = remote.with_name("restored")
        at = f"{until(version) - APART / 2:%Y-%m-%dT%H:%M:%SZ}"
        asked = [greenfs.program(), "restore", "--remote", remote, "--at", at, f"folder/{nth}"]
        took_s.append(run([*map(str, asked), "--to", str(to)]).wall_s)
        assert to.read_text() == text((nth + version) % TEXTS), "it is another version"
        to.unlink()
    return took_s


if __name__ == "__main__":
    command.run(main)
