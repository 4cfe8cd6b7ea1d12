"""A text set by Typst as a PDF: the same bytes of the same text, numbers, tables and figures."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from fsgreen import paths
from fsgreen.errors import FsgreenError


def typeset(text: Path, pdf: Path, parts: Iterable[Path], made_anew: Callable[[], str]) -> Path:
    """Set a text beside everything that it reads; return the PDF.

    Parameters
    ----------
    text : Path
        One of `paths.texts()`.
    pdf : Path
        What is written: no date in it, no system font.
    parts : iterable of Path
        Files and folders that the text reads, beside the other texts.
    made_anew : callable
        Returns the command that makes them; asked only where one is missing.

    Raises
    ------
    FsgreenError
        If a part has not been made, or the text does not compile.
    """
    import typst

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)  # which Typst may not leave
        for other in paths.texts().values():
            shutil.copy(other, folder)
        try:
            for part in parts:
                copy = shutil.copytree if part.is_dir() else shutil.copy
                copy(part, folder / part.name)
        except FileNotFoundError as error:
            raise FsgreenError(
                "a part of the report has not been made",
                where=error.filename,
                next_step=made_anew(),
            ) from None
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
