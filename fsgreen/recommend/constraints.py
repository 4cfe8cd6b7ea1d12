"""The constraints of a user: they are parsed strictly, and checked for each configuration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fsgreen.design import Cell
from fsgreen.errors import FsgreenError, unknown
from fsgreen.recommend.changes import change

KNOWN = {
    "no reformat": "nothing that needs mkfs, and the data from a backup",
    "no relaxed durability": "nothing that puts data at a risk that they do not run now",
    "file system NAME": "this file system only, with any of its options",
}
"""Every constraint and its meaning."""

_FILE_SYSTEM = "file system "


@dataclass(frozen=True)
class Constraints:
    """The constraints that a recommendation must meet."""

    no_reformat: bool = False
    no_relaxed_durability: bool = False
    file_system: str | None = None

    def why_not(self, now: Cell, then: Cell) -> str | None:
        """Return why a configuration violates the constraints; None if it does not."""
        step = change(now, then)
        if self.file_system not in (None, then["file_system"]):
            return f"the file system is to be {self.file_system}"
        if self.no_reformat and step.reformats:
            return "it takes a reformat"
        if self.no_relaxed_durability and step.hazards:
            return step.risk
        return None


ANYTHING = Constraints()


def parse(texts: Iterable[str], file_systems: Sequence[str]) -> Constraints:
    """Return the constraints, given as texts in the form of `KNOWN`.

    Upper and lower case, and the number of blanks, do not matter.

    `file_systems` are those that were measured. Raises FsgreenError if a constraint is unknown, or
    if two of them name different file systems.
    """
    flags: set[str] = set()
    named: set[str] = set()
    for text in texts:
        words = " ".join(text.lower().split())
        if words.startswith(_FILE_SYSTEM):
            name = words.removeprefix(_FILE_SYSTEM)
            if name not in file_systems:
                raise unknown("file system", name, file_systems, next_step="name a measured one")
            named.add(name)
        elif words in KNOWN:
            flags.add(words)
        else:
            raise unknown("constraint", text, KNOWN, next_step='for example: "no reformat"')
    if len(named) > 1:
        raise FsgreenError(
            f"it cannot be {' and '.join(sorted(named))} at once", next_step="keep one of them"
        )
    return Constraints(
        no_reformat="no reformat" in flags,
        no_relaxed_durability="no relaxed durability" in flags,
        file_system=next(iter(named), None),
    )
