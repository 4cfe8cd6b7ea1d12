"""One row of the preflight table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["blocks", "warning", "note", "ok"]

ORDER: tuple[Severity, ...] = ("blocks", "warning", "note", "ok")
"""The most severe first.

`blocks`: nothing can be measured. `warning`: numbers become worse. `note`: something cannot be
tried, or cannot be seen here, which is no reason to think that it is well.
"""


DISTURBING: tuple[Severity, ...] = ("blocks", "warning")
"""Those that a campaign prints before it begins, and that rule 10 names."""


@dataclass(frozen=True)
class Finding:
    """What was looked at, what it is, and the command that mends it."""

    subject: str
    state: str
    severity: Severity
    remedy: str = ""
