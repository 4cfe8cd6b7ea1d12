"""Which pages the site has, and of which kind each is: `docs/contents.yaml`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from fsgreen import schema
from fsgreen.errors import FsgreenError
from fsgreen.schema import Fault

HOME = PurePosixPath("README.md")
"""The page that the site begins with, which is of no kind."""

FILE = "docs/contents.yaml"
NEXT = f"mend {FILE}, then ./run docs"

KINDS: Mapping[str, str] = {
    "tutorials": "Tutorials",
    "how_to": "How-to guides",
    "reference": "Reference",
    "explanation": "Explanation",
}
"""The four kinds of pages (diataxis.fr) with their headings, in the order of the site."""


class Contents(schema.Declared):
    """The pages of each kind in their order, each as a path in the repository."""

    tutorials: tuple[str, ...]
    how_to: tuple[str, ...]
    reference: tuple[str, ...]
    explanation: tuple[str, ...]


class Listed(NamedTuple):
    """A page, and the pages in the folder of its name: `docs/meters/` of `docs/meters.md`."""

    path: PurePosixPath
    below: tuple[PurePosixPath, ...]


def read(root: Path) -> dict[str, list[Listed]]:
    """Return the pages of a repository by the heading of their kind.

    Raises FsgreenError if a page of `docs/` is not listed, or what is listed is no page or stands
    there twice.
    """
    document = schema.read(root / FILE, "table of contents", NEXT)
    declared = document.as_(Contents)
    by_kind = {kind: [PurePosixPath(name) for name in getattr(declared, kind)] for kind in KINDS}
    if faults := list(_faults(root, by_kind)):
        raise document.refusal(faults)
    listed = {
        heading: [Listed(path, _below(root, path)) for path in by_kind[kind]]
        for kind, heading in KINDS.items()
    }
    _refuse_unlisted(root, listed)
    return listed


def every(listed: Mapping[str, list[Listed]]) -> Iterator[PurePosixPath]:
    """Yield the path of each page, the home page first."""
    yield HOME
    for pages in listed.values():
        for page in pages:
            yield from (page.path, *page.below)


def _faults(root: Path, by_kind: Mapping[str, list[PurePosixPath]]) -> Iterator[Fault]:
    times = Counter(path for paths in by_kind.values() for path in paths)
    for kind, paths in by_kind.items():
        for nth, path in enumerate(paths):
            if not (root / path).is_file():
                yield Fault((kind, nth), f"there is no page {path}")
            elif times[path] > 1:
                yield Fault((kind, nth), f"{path} stands there {times[path]} times")


def _below(root: Path, path: PurePosixPath) -> tuple[PurePosixPath, ...]:
    folder = path.with_suffix("")
    return tuple(folder / file.name for file in sorted((root / folder).glob("*.md")))


def _refuse_unlisted(root: Path, listed: Mapping[str, list[Listed]]) -> None:
    known = set(every(listed))
    written = sorted((root / "docs").rglob("*.md"))
    if missing := [file for file in written if PurePosixPath(file.relative_to(root)) not in known]:
        raise FsgreenError(
            f"no kind is given for {', '.join(file.name for file in missing)}",
            where=root / FILE,
            next_step=f"list it under {', '.join(KINDS)}, then ./run docs",
        )
