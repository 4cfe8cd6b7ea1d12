"""A page as it is written, in Markdown: its headings with their anchors, its links, its HTML."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, pairwise
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

MARKDOWN = MarkdownIt("commonmark").enable("table")

COMMENT = re.compile(r"\s*<!--.*?-->\s*", re.DOTALL)


class Heading(NamedTuple):
    """A heading of level 1 to 6, without its marks."""

    level: int
    text: str


class Link(NamedTuple):
    """A link or a picture, and the line that it stands in."""

    line: int
    token: Token

    @property
    def is_picture(self) -> bool:
        """Whether the reader sees it here."""
        return self.token.type == "image"

    @property
    def target(self) -> str:
        """The address, percent-encoded as in HTML."""
        return str(self.token.attrs[self._attribute])

    def point_to(self, address: str) -> None:
        """Change where it leads in the HTML of its page."""
        self.token.attrSet(self._attribute, address)

    @property
    def _attribute(self) -> str:
        return "src" if self.is_picture else "href"


@dataclass(frozen=True)
class Text:
    """A page of Markdown.

    `path` is where it is in the repository. `headings` are by anchor, in their order. `tokens` are
    as markdown-it has them; headings have their anchors.
    """

    path: PurePosixPath
    lines: Sequence[str]
    headings: Mapping[str, Heading]
    tokens: Sequence[Token]

    @property
    def title(self) -> str:
        """Its first heading; without any, its name."""
        return next((heading.text for heading in self.headings.values()), self.path.stem)

    @property
    def html(self) -> str:
        """The page in HTML, without what stands around it."""
        return str(MARKDOWN.renderer.render(self.tokens, MARKDOWN.options, {}))

    def links(self) -> Iterator[Link]:
        """Yield links and pictures in their order."""
        for block in self.tokens:
            if block.type != "inline" or block.map is None:
                continue
            line, end = block.map
            for token in block.children or ():
                if token.type in ("link_open", "image"):
                    link = Link(line, token)
                    has_it = (n for n in range(line, end) if link.target in self.lines[n])
                    line = next(has_it, line)
                    yield link._replace(line=line + 1)

    def raw_html(self) -> Iterator[int]:
        """Yield the lines of HTML that is no comment: nothing in it would be checked."""
        for block in self.tokens:
            for token in (block, *(block.children or ())):
                if token.type.startswith("html_") and not COMMENT.fullmatch(token.content):
                    yield block.map[0] + 1 if block.map else 1


def read(root: Path, path: PurePosixPath) -> Text:
    """Return a page of a repository."""
    written = (root / path).read_text(encoding="utf-8")
    tokens = MARKDOWN.parse(written)
    headings: dict[str, Heading] = {}
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            parts = (part for part in inline.children or () if part.type in ("text", "code_inline"))
            text = "".join(part.content for part in parts)
            name = anchor(text, headings)
            headings[name] = Heading(int(token.tag.removeprefix("h")), text)
            token.attrSet("id", name)
    return Text(path, written.splitlines(), headings, tokens)


def anchor(heading: str, taken: Container[str]) -> str:
    """Return the anchor of a heading as GitHub has it, so that a link works there and here.

    `taken` are those of the headings above it on the page.
    """
    plain = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    numbered = (f"{plain}-{number}" for number in count(1))
    return next(name for name in chain([plain], numbered) if name not in taken)
