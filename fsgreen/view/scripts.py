"""The scripts and styles that the browser gets with a widget."""

from __future__ import annotations

from importlib import resources


def static(*names: str) -> str:
    """Return the texts of files in `static/`, one behind the other."""
    folder = resources.files("fsgreen.view").joinpath("static")
    return "\n".join(folder.joinpath(name).read_text("utf-8") for name in names)
