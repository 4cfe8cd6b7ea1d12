"""The report of a campaign as PDF, typeset by Typst from tables, figures and generated numbers."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from fsgreen import papers, paths
from fsgreen.errors import FsgreenError
from fsgreen.reduce import of_this_version, read_plan

TABLES = ("cells", "effects", "trust", "confounds", "claims", "claim_parts", "interactions")


def write(campaign: str) -> Path:
    """Write `numbers.json` and `report.pdf` into the results of a campaign; return the PDF.

    The text is `paper/STUDY.typ`, or `paper/study.typ` where there is none. Every number in it
    comes from `numbers.json` or a result table (rule 43). The same results give the same bytes: no
    date, no system font.

    Raises
    ------
    FsgreenError
        If a table or figure has not been made, or the text does not compile.
    """
    import typst

    texts = paths.texts()
    text = texts.get(f"{read_plan(campaign).study}.typ", texts["study.typ"])
    results = paths.results(campaign)
    with of_this_version(campaign):
        numbers = papers.step(campaign, "numbers").numbers(campaign)
    (results / "numbers.json").write_text(json.dumps(numbers, indent=1, sort_keys=True) + "\n")
    pdf = results / "report.pdf"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        _lay_out(texts.values(), results, folder)
        try:
            typst.compile(
                str(folder / text.name),
                output=str(pdf),
                root=str(folder),
                ignore_system_fonts=True,
                timestamp=0,
            )
        except typst.TypstError as error:
            raise FsgreenError(
                f"the report does not compile: {error}", where=text, next_step="mend the text"
            ) from error
    return pdf


def _lay_out(texts: Iterable[Path], results: Path, folder: Path) -> None:
    """Put the texts and everything that they read into one folder, which Typst may not leave."""
    for text in texts:
        shutil.copy(text, folder)
    try:
        shutil.copy(results / "numbers.json", folder)
        for name in TABLES:
            shutil.copy(results / f"{name}.csv", folder)
        for part in ("figures", "interactions", "tables"):
            shutil.copytree(results / part, folder / part)
    except FileNotFoundError as error:
        raise FsgreenError(
            "a part of the report has not been made",
            where=error.filename,
            next_step=paths.made_anew(results.name),
        ) from None
