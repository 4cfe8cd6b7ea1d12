"""The paper over all studies: question, answer, evidence and limits of each, as PDF and as HTML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fsgreen import exhibits, paths, schema
from fsgreen.article.section import section
from fsgreen.errors import FsgreenError
from fsgreen.pipeline import params
from fsgreen.typeset import typeset
from fsgreen.words import plural

TEXT = "article.typ"
TITLE = "File systems, work and energy: published studies run again"
KINDS = ("pdf", "html")


def write() -> Path:
    """Write `numbers.json`, `article.pdf` and `article.html` into `data/article`; return it.

    The text is `paper/article.typ`. Every number in it comes from `numbers.json`, and that from the
    ledgers of studies and from what their campaigns gave with their reports. The same ledgers give
    the same bytes.

    Raises FsgreenError if there is no study, or the report of one of its campaigns has not been
    made.
    """
    studies = _studies()
    if not studies:
        raise FsgreenError(
            "there is no study to write of", where=paths.root() / "params.yaml", next_step="add one"
        )
    sections = [section(study) for study in studies]
    folder = paths.article()
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "numbers.json"
    made.write_text(json.dumps(_numbers(sections), indent=1, sort_keys=True) + "\n")
    parts = [made, *_folders(sections)]
    for kind in KINDS:
        typeset(paths.texts()[TEXT], folder / f"article.{kind}", parts, lambda: "./run reproduce")
    return folder


def _studies() -> list[str]:
    """Return the studies of this project; in the checkout those of all papers, too."""
    own = list(params.studies())
    if paths.root() != paths.shipped():
        return own
    text = (paths.reference() / "methods.yaml").read_text()
    papers = schema.plain(text)["methods"]
    order = [*exhibits.declared(), *papers]
    return [study for study in dict.fromkeys([*order, *own]) if study in {*papers, *own}]


def _numbers(sections: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the values that `paper/article.typ` shows."""
    campaigns = [about for of_study in sections for about in of_study["campaigns"]]
    counted = ("claims", "constructed", "elsewhere", "untested")
    return {
        "title": TITLE,
        "subtitle": ", ".join(of_study["study"] for of_study in sections),
        "sections": sections,
        "studies": "1 study" if len(sections) == 1 else f"{len(sections)} studies",
        "campaigns": plural(len(campaigns), "campaign"),
        "modelled": {about["boundary"] for about in campaigns} == {"modelled"},
        "telling": [row for of_study in sections for row in of_study["telling"]],
        **{name: sum(of_study[name] for of_study in sections) for name in counted},
    }


def _folders(sections: Sequence[dict[str, Any]]) -> list[Path]:
    """Return the folders of the figures that sections show, by campaign."""
    shown = {
        (of_study["study"], figure["campaign"])
        for of_study in sections
        for figure in of_study["figures"]
    }
    return [paths.exhibits(study) / campaign for study, campaign in sorted(shown)]
