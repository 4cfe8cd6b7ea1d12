"""What the browser gets: scripts and styles, and texts and tables as HTML in their classes."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from importlib import resources

from fsgreen.errors import FsgreenError


def static(*names: str) -> str:
    """Return the texts of files in `static/`, one behind the other."""
    folder = resources.files("fsgreen.view").joinpath("static")
    return "\n".join(folder.joinpath(name).read_text("utf-8") for name in names)


def style() -> str:
    """Return the style sheet, which each cell needs: a notebook takes away those out of sight."""
    return f"<style>{static('explore.css')}</style>"


def says(text: str) -> str:
    """Return a sentence."""
    return f'<p class="fsgreen-says">{html.escape(text)}</p>'


def lines(texts: Iterable[str]) -> str:
    """Return lines as a terminal shows them."""
    text = "\n".join(texts)
    return f'<pre class="fsgreen-lines">{html.escape(text)}</pre>' if text else ""


def folded(title: str, inner: str) -> str:
    """Return HTML that is shown once its title is clicked."""
    return f"<details><summary>{html.escape(title)}</summary>{inner}</details>"


def fault(error: FsgreenError) -> str:
    """Return what went wrong, where, and what to do."""
    return f'<pre class="fsgreen-fault">{html.escape(str(error))}</pre>'


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows below a head."""
    titles = "".join(f"<th>{html.escape(title)}</th>" for title in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in row) + "</tr>"
        for row in rows
    )
    return f'<table class="fsgreen-table"><tr>{titles}</tr>{body}</table>'
