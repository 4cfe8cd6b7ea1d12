"""What runs studies in virtual time. No stage of the pipeline imports it."""

from __future__ import annotations

from types import ModuleType

from fsgreen import papers
from fsgreen.papers.nfstricks03 import virtual as readers


def simulator(study: str) -> ModuleType:
    """Return what runs a study in virtual time: of its own room, else that of any readers."""
    return papers.room(study, "virtual") if papers.has_step(study, "virtual") else readers
