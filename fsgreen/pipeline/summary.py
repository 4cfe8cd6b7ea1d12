"""What a run of the pipeline ends with: whether claims hold, a line for each study or campaign."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fsgreen.claims import DISAGREE, OTHER_STATE, SIZE_EXCLUDED, SIZE_OPEN

IN_PART = "reproduced in part"
YES, NO = ("reproduced",), ("not reproduced", "reversed")
PARTLY = (SIZE_OPEN, SIZE_EXCLUDED, IN_PART)
HOLDS = {"yes": YES, "part": PARTLY, "no": NO}
"""Whether a claim holds: in part where its direction does, and its size is another or open, or
where only a part of it was tested."""


def answer(claim: Mapping[str, str]) -> str:
    """Return the verdict on a claim, a row of `claims.csv`, or that it was reproduced in part."""
    in_part = claim["scope"] == "part" and claim["verdict"] in YES
    return IN_PART if in_part else claim["verdict"]


class Group(NamedTuple):
    """Columns below one title: counts of claims by verdict, of one kind of evidence or of none."""

    title: str
    basis: str
    counted: Mapping[str, tuple[str, ...]]

    @property
    def width(self) -> int:
        """Return the columns of text that it takes."""
        return max(len(self.title), len(" ".join(self.counted)))

    def line(self, rows: Sequence[Mapping[str, str]]) -> str:
        """Return how many claims have each verdict."""
        counts = []
        for name, verdicts in self.counted.items():
            of_kind = (row for row in rows if self.basis in ("", row["basis"]))
            count = sum(answer(row) in verdicts for row in of_kind)
            counts.append(f"{count:>{len(name)}}")
        return " ".join(counts).rjust(self.width)


LEGEND = "Kinds of evidence are never added up; legend: docs/first-answer.md"

GROUPS = (
    Group("measured", "measured", HOLDS),
    Group("simulated", "simulated", HOLDS),
    Group("by", "by construction", {"construction": ("by construction",)}),
    Group("from print", "published", HOLDS),
    Group("", "", {"open": ("inconclusive", DISAGREE)}),
    Group("under-", "", {"powered": ("underpowered",)}),
    Group("other", "", {"state": (OTHER_STATE,)}),
    Group("not", "", {"tested": ("not testable here",)}),
)
"""Every claim is counted once. Kinds of evidence are never added up (rule 50)."""


def table(of_claims: Mapping[str, Path]) -> Iterator[str]:
    """Yield how many claims hold, by what they rest on: a line for each name.

    `of_claims` has by the name of a study or campaign its `claims.csv`.
    """
    if not of_claims:
        return
    width = max(map(len, of_claims))
    yield f"Do the published claims hold? {LEGEND}"
    yield _line("", width, "", (f"{group.title:>{group.width}}" for group in GROUPS))
    names = (" ".join(group.counted).rjust(group.width) for group in GROUPS)
    yield _line("", width, "all", names)
    for name, file in of_claims.items():
        with file.open(newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        yield _line(name, width, str(len(rows)), (group.line(rows) for group in GROUPS))


def _line(name: str, width: int, count: str, cells: Iterator[str]) -> str:
    return "  ".join([f"{name:{width}}", f"{count:>3}", *cells]).rstrip()
