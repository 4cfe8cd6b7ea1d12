"""What somebody changes who wants a study otherwise: its file, or a copy of one that ships.

A shipped study says what the shipped campaigns measured. The copy keeps its line `study`, so that
its campaigns are judged on the same claims.
"""

from __future__ import annotations

from fsgreen import paths


def to_change(study: str) -> str:
    """Return the name by which `fsgreen measure` takes the study once it is changed."""
    return f"{study}-own" if _ships(study) else study


def file_to_change(study: str) -> str:
    """Return the file to change, with the command that makes it where it is a copy."""
    file, own = (f"studies/{name}.yaml" for name in (study, to_change(study)))
    return file if own == file else f"{own} (first: cp -n {file} {own})"


def _ships(study: str) -> bool:
    """Return whether campaigns of a study belong to the package; those of a project are its own."""
    return paths.root() == paths.code() and paths.has_campaign(study)
