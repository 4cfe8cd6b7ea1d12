"""The page that shows all figures, each with its claims and the command that makes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path, PurePosixPath

from fsgreen.design import load_study
from fsgreen.site.figures import Figure, Group
from fsgreen.site.links import address
from fsgreen.site.page import Page
from fsgreen.words import plural

PATH = PurePosixPath("docs/gallery.html")
TITLE = "All figures"


def files(groups: Sequence[Group]) -> dict[PurePosixPath, Path]:
    """Return the file of each figure by its place on the site."""
    return {_place(group, figure): figure.file for group in groups for figure in group.figures}


def page(groups: Sequence[Group]) -> Page:
    """Return the page that shows all figures."""
    titles = {group.study: load_study(group.study).title for group in groups}
    shown = plural(sum(len(group.figures) for group in groups), "figure")
    intro = (
        f"<h1>{TITLE}</h1>\n<p>What <code>./run reproduce</code> has drawn here, by study and "
        f"campaign: {shown}. Below each stand the claims that the paper rests on its own figure of "
        "that number, with the verdict of this campaign alone, and the command that makes the "
        "figure anew.</p>"
    )
    sections = [
        f'<h2 id="{study}">{escape(title)}</h2>\n'
        + "\n".join(_section(group) for group in groups if group.study == study)
        for study, title in titles.items()
    ]
    return Page(PATH, TITLE, titles, "\n".join([intro, *sections]))


def _place(group: Group, figure: Figure) -> PurePosixPath:
    return PurePosixPath("figures", group.name, figure.file.name)


def _section(group: Group) -> str:
    plates = "\n".join(_plate(group, figure) for figure in group.figures)
    return (
        f'<h3 id="campaign-{group.name}">{escape(group.name)}</h3>\n'
        f"<p>{escape(group.about)}</p>\n{plates}"
    )


def _plate(group: Group, figure: Figure) -> str:
    source = address(_place(group, figure), PATH)
    return (
        f'<figure id="{group.name}-{figure.file.stem}">\n'
        f'<img src="{source}" alt="{escape(figure.caption)}" loading="lazy">\n'
        f"<figcaption>{escape(figure.caption)}</figcaption>\n{_claims(figure)}"
        f"<p>Made by <code>{escape(figure.command)}</code></p>\n</figure>"
    )


def _claims(figure: Figure) -> str:
    if not figure.number:
        return "<p>The paper has no such figure.</p>\n"
    if not figure.claims:
        return f"<p>No claim of the paper rests on its figure {figure.number}.</p>\n"
    verdicts = Counter(claim.verdict for claim in figure.claims)
    counts = "; ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    items = "".join(
        f"<li>{escape(claim.name)}: {escape(claim.statement)} "
        f"<strong>{escape(claim.verdict)}</strong></li>\n"
        for claim in figure.claims
    )
    return (
        f"<details><summary>{plural(len(figure.claims), 'claim')} of the paper's figure "
        f"{figure.number}: {escape(counts)}</summary>\n<ul>\n{items}</ul></details>\n"
    )
