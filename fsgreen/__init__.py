"""fsgreen: which file system, options and scheduler do most work per joule, and is it true?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsgreen.results import Results

__version__ = "0.1.0"


def open(campaign: str) -> Results:
    """Return a campaign as data frames: `.plan`, `.trials`, `.cells`, `.effects`, `.trace(trial)`.

    Raises FsgreenError if there is no such campaign.
    """
    from fsgreen.results import Results

    return Results(campaign)


if "SUDO_UID" in os.environ:
    from fsgreen import ownership

    ownership.begin()
