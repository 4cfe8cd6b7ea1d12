"""Where the links of pages lead: to a file of the site, or nowhere, which is an error."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from urllib.parse import quote, unquote

from fsgreen.errors import FsgreenError, nearest
from fsgreen.site.contents import HOME
from fsgreen.site.text import Link, Text

ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
"""How an address begins that is not of this repository, and is not looked at."""

Texts = Mapping[PurePosixPath, Text]


def on_site(path: PurePosixPath) -> PurePosixPath:
    """Return the file of the site that a page of the repository becomes."""
    return PurePosixPath("index.html") if path == HOME else path.with_suffix(".html")


def address(target: PurePosixPath, here: PurePosixPath) -> str:
    """Return what a page of the site calls a file of it."""
    return quote(relpath(target, here.parent))


def resolve(texts: Texts, root: Path) -> set[PurePosixPath]:
    """Point the links of pages to the files of the site.

    Returns the files of the repository that links name and that are no pages. Raises FsgreenError
    with file and line of each link that leads nowhere, of each picture that says nothing to those
    who cannot see it, and of HTML.
    """
    files: set[PurePosixPath] = set()
    faults: list[tuple[str, str]] = []
    for text in texts.values():
        flaws = [(line, "HTML, whose links nobody checks") for line in text.raw_html()]
        for link in text.links():
            if link.is_picture and not link.token.content:
                flaws.append((link.line, f"{link.target} has no text for who cannot see it"))
            if ELSEWHERE.match(link.target):
                continue
            target, section = _target(text.path, link)
            if wrong := _wrong(target, section, texts, root):
                flaws.append((link.line, wrong))
                continue
            if target not in texts:
                files.add(target)
            link.point_to(_new_address(text.path, target, section, texts))
        faults += [(f"{text.path}:{line}", what) for line, what in sorted(flaws)]
    if faults:
        raise FsgreenError(
            "\n".join(_told(faults)), where=faults[0][0], next_step="mend it, then ./run docs"
        )
    return files


def _target(page: PurePosixPath, link: Link) -> tuple[PurePosixPath, str]:
    """Return the file of the repository that a link of a page names, and the section or ""."""
    path, _, section = unquote(link.target).partition("#")
    return PurePosixPath(normpath(page.parent / path)) if path else page, section


def _wrong(target: PurePosixPath, section: str, texts: Texts, root: Path) -> str:
    """Return what is wrong with the target of a link; "" if nothing is."""
    if ".." in target.parts or not (root / target).is_file():
        return f"there is no file {target}{nearest(target, map(str, texts))}"
    if section and target not in texts:
        return f"{target} is no page, and has no sections"
    if section and section not in texts[target].headings:
        return f"{target} has no section #{section}{nearest(section, texts[target].headings)}"
    return ""


def _new_address(page: PurePosixPath, target: PurePosixPath, section: str, texts: Texts) -> str:
    """Return what a page of the site calls the file that a page or another file becomes."""
    file = on_site(target) if target in texts else target
    path = "" if target == page and section else address(file, on_site(page))
    return f"{path}#{quote(section)}" if section else path


def _told(faults: list[tuple[str, str]]) -> Iterator[str]:
    yield "the pages have a fault:" if len(faults) == 1 else f"the pages have {len(faults)} faults:"
    yield from (f"  {where}: {what}" for where, what in faults)
