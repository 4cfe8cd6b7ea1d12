"""A text set by Typst as PDF or HTML: the same bytes of the same text, numbers and figures."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from fsgreen import paths
from fsgreen.errors import FsgreenError


def typeset(text: Path, output: Path, parts: Iterable[Path], made_anew: Callable[[], str]) -> Path:
    """Set a text beside everything that it reads; return what was written.

    The text is one of `paths.texts()`. What is written is a PDF or, by the end of its name, HTML,
    which the text finds in `sys.inputs.kind`. No date is in it, no system font. `parts` are files
    and folders that the text reads, beside the other texts. `made_anew` returns the command that
    makes them; it is asked only where one is missing. Raises FsgreenError if a part has not been
    made, or the text does not compile.
    """
    import typst

    kind: Literal["pdf", "html"] = "html" if output.suffix == ".html" else "pdf"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)  # which Typst may not leave
        for other in paths.texts("*").values():
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
                output=str(output),
                root=str(folder),
                format=kind,
                sys_inputs={"kind": kind},
                ignore_system_fonts=True,
                timestamp=0,
            )
        except typst.TypstError as error:
            raise FsgreenError(
                f"the report does not compile: {error}", where=text, next_step="mend the text"
            ) from error
    return output
