"""Whether what was made here is what ships: by the digests that git has in `dvc.lock`."""

from __future__ import annotations

import csv
import io
import math
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fsgreen import paths, schema
from fsgreen.words import listed

Row = Mapping[str, str]

NUMBERS = ("ours_x", "ours_low_x", "ours_high_x")
"""What is compared number by number, in what a campaign says of each part of a claim."""


@dataclass(frozen=True)
class Output:
    """A file or a folder that a stage makes."""

    md5: str
    files_count: int


@lru_cache(maxsize=2)
def outputs(lock: str) -> Mapping[str, Output]:
    """Return the outputs that the text of a `dvc.lock` has, by path from the root."""
    stages = schema.plain(lock)["stages"]
    return {
        out["path"]: Output(out["md5"], out.get("nfiles", 1))
        for stage in stages.values()
        for out in stage.get("outs", ())
    }


def committed(file: Path) -> str | None:
    """Return the text of a file as git has it in its last commit; None if it has none."""
    git = paths.program("git")
    if git is None:
        return None
    name = file.relative_to(paths.root())
    shown = subprocess.run(
        [git, "-C", paths.root(), "show", f"HEAD:./{name}"], capture_output=True, check=False
    )
    return shown.stdout.decode() if shown.returncode == 0 else None


def lock_file() -> Path:
    """Return the file with the digests of all outputs."""
    return paths.root() / "dvc.lock"


def identity(before: str, folders: Iterable[Path], told: Iterable[Path]) -> str:
    """Return in a sentence whether outputs are those that ship, and by how much they are not.

    `before` is the text of `dvc.lock` before anything ran, for a folder that is under no git.
    `folders` are where the outputs are that were asked for, and `told` are tables of what campaigns
    say of claims, of which git has the numbers.
    """
    shipped, here = (
        {name: out for name, out in outputs(text).items() if _within(name, folders := [*folders])}
        for text in (committed(lock_file()) or before, lock_file().read_text())
    )
    differ = sorted(
        name for name in shipped if name not in here or here[name].md5 != shipped[name].md5
    )
    new = f"; {len(here.keys() - shipped.keys())} more do not ship" if here.keys() - shipped else ""
    if not differ:
        files = sum(out.files_count for out in shipped.values())
        return f"all {len(shipped)} outputs ({files} files) are identical to those shipped{new}"
    apart = _apart([file for file in told if str(file.relative_to(paths.root())) in differ])
    return (
        f"{len(differ)} of {len(shipped)} outputs differ from those shipped{new}; {apart}: "
        f"{listed(differ)}"
    )


def _within(name: str, folders: Iterable[Path]) -> bool:
    return any((paths.root() / name).is_relative_to(folder) for folder in folders)


def _apart(told: Iterable[Path]) -> str:
    """Return how far tables of what campaigns say of claims are from those that ship."""
    parts, verdicts, largest = 0, 0, 0.0
    for file in told:
        before = committed(file)
        if before is None:
            return "git has no shipped numbers to say by how much"
        old, new = (dict(_by_part(text)) for text in (before, file.read_text()))
        for key in old.keys() | new.keys():
            parts += 1
            one, other = old.get(key), new.get(key)
            if one is None or other is None or one["verdict"] != other["verdict"]:
                verdicts += 1
            else:
                largest = max(largest, *(_share(one[name], other[name]) for name in NUMBERS))
    if not parts:
        return "no number and no verdict of a claim does"
    return (
        f"of {parts} parts of claims {verdicts} have another verdict, and numbers of the others "
        f"differ by {100 * largest:.2g} % at most"
    )


def _by_part(table: str) -> Iterator[tuple[tuple[object, ...], Row]]:
    """Yield the rows of a table, each with a key of its own."""
    seen: Counter[tuple[str, ...]] = Counter()
    for row in csv.DictReader(io.StringIO(table)):
        key = (row["slug"], row["part"], row["kind"], row["published"])
        yield (*key, seen[key]), row
        seen[key] += 1


def _share(before: str, now: str) -> float:
    """Return by which share a number changed; nothing is as far from a number as can be."""
    if before == now:
        return 0.0
    if not before or not now or not float(before):
        return math.inf
    return abs(float(now) / float(before) - 1)
