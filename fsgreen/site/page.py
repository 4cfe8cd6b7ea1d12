"""A page of the site: its text, with the list of all pages beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path, PurePosixPath
from string import Template
from typing import NamedTuple

from fsgreen.site.links import address

HERE = Path(__file__).parent
STYLE = PurePosixPath("site.css")
ARTICLE = PurePosixPath("article.css")
"""The look of the paper over all studies, which pages have too."""


class Page(NamedTuple):
    """A page of the site: its file there, its title, its sections by anchor, its text in HTML."""

    path: PurePosixPath
    title: str
    sections: Mapping[str, str]
    html: str


class Entry(NamedTuple):
    """A page in the list of all, and those that stand below it."""

    page: Page
    below: Sequence[Page] = ()


def whole(page: Page, home: Page, kinds: Mapping[str, Sequence[Entry]]) -> str:
    """Return a page with what stands around its text.

    `home` is where the site begins; `kinds` has all other pages, by the heading of their kind.
    """
    return _template().substitute(
        title=escape(page.title if page is home else f"{page.title} - fsgreen"),
        article=address(ARTICLE, page.path),
        style=address(STYLE, page.path),
        home=address(home.path, page.path),
        text=page.html,
        pages="\n".join(_kind(heading, entries, page) for heading, entries in kinds.items()),
    )


@cache
def _template() -> Template:
    return Template((HERE / "page.html").read_text(encoding="utf-8"))


def _kind(heading: str, entries: Sequence[Entry], here: Page) -> str:
    items = "".join(_item(entry, here) for entry in entries)
    return f"<h2>{escape(heading)}</h2>\n<ul>\n{items}</ul>"


def _item(entry: Entry, here: Page) -> str:
    """Return an entry of the list; the page that is shown has its sections below it."""
    below = ""
    if entry.below:
        is_open = " open" if here in (entry.page, *entry.below) else ""
        items = "".join(_item(Entry(page), here) for page in entry.below)
        below = (
            f"<details{is_open}><summary>{len(entry.below)} pages</summary>\n"
            f"<ul>\n{items}</ul></details>"
        )
    return f"<li>{_link(entry.page, here)}{_sections(entry.page, here)}{below}</li>\n"


def _link(page: Page, here: Page) -> str:
    current = ' aria-current="page"' if page is here else ""
    return f'<a href="{address(page.path, here.path)}"{current}>{escape(page.title)}</a>'


def _sections(page: Page, here: Page) -> str:
    if page is not here or not page.sections:
        return ""
    items = (
        f'<li><a href="#{escape(name)}">{escape(text)}</a></li>'
        for name, text in page.sections.items()
    )
    return f"\n<ul>\n{''.join(items)}</ul>"
