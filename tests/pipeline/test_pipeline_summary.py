"""The lines that a run of the pipeline ends with: every claim counted once, by its evidence."""

import csv
from pathlib import Path
from typing import get_args

import pytest

from fsgreen import paths
from fsgreen.claims import DISAGREE, VERDICTS, Basis
from fsgreen.pipeline.summary import GROUPS, LEGEND, table

WIDEST = 100
"""Columns of text that are read with ease."""


def written(file: Path, *claims: tuple[str, str], scope: str = "whole") -> Path:
    """A table of claims with these verdicts and bases."""
    rows = [("verdict", "basis", "scope"), *((*claim, scope) for claim in claims)]
    with file.open("w", newline="") as lines:
        csv.writer(lines).writerows(rows)
    return file


@pytest.mark.parametrize("verdict", [*VERDICTS, DISAGREE])
@pytest.mark.parametrize("basis", [*get_args(Basis), ""])
def test_every_claim_is_counted_once_at_most(verdict: str, basis: str) -> None:
    """One that were counted twice would be evidence twice."""
    rows = [{"verdict": verdict, "basis": basis, "scope": ""}]
    counts = [word for group in GROUPS for word in group.line(rows).split() if word != "0"]
    undecided = GROUPS[4:]
    if basis or any(verdict in of for group in undecided for of in group.counted.values()):
        consistent = (verdict == "by construction") == (basis == "by construction")
        assert counts == ["1"] or not consistent


def test_kinds_of_evidence_stand_apart(tmp_path: Path) -> None:
    claims = [
        *[("reproduced", "measured")] * 12,
        ("reversed", "measured"),
        *[("reproduced", "simulated")] * 3,
        ("direction only, size open", "published"),
        ("underpowered", "measured"),
        ("not in the state of the claim", ""),
    ]
    title, _groups, names, row = table({"fast10": written(tmp_path / "claims.csv", *claims)})
    assert "never added up" in title
    ends = {at: name for at, name in ((m + len(w), w) for w, m in positions(names))}
    counted = [(ends[m + len(w)], w) for w, m in positions(row)[1:] if w != "0"]
    assert counted == [
        *(("all", "19"), ("yes", "12"), ("no", "1"), ("yes", "3"), ("part", "1")),
        *(("powered", "1"), ("state", "1")),
    ]
    assert max(len(title), len(names), len(row)) <= WIDEST


def test_the_page_that_explains_the_columns_has_them_all() -> None:
    """ "other state" stood in the answer and on no page."""
    page = " ".join((paths.root() / "docs" / "first-answer.md").read_text().split())
    assert "docs/first-answer.md" in LEGEND
    for group in GROUPS:
        (name,) = group.counted if len(group.counted) == 1 else ("",)
        shown = f"{group.title} {name}".strip().replace("- ", "")
        assert f"| `{shown}` |" in page, f"{shown} is not explained"


def test_a_claim_of_which_a_part_was_not_tested_holds_partly(tmp_path: Path) -> None:
    """One number of three was looked at, and the claim was counted as one that holds."""
    file = written(tmp_path / "claims.csv", ("reproduced", "measured"), scope="part")
    _, _, names, row = table({"fast10": file})
    ends = {at + len(word): word for word, at in positions(names)}
    counted = [ends[at + len(word)] for word, at in positions(row)[1:] if word != "0"]
    assert counted == ["all", "part"]


def positions(line: str) -> list[tuple[str, int]]:
    """The words of a line, each with where it begins."""
    found, at = [], 0
    for word in line.split():
        at = line.index(word, at)
        found.append((word, at))
        at += len(word)
    return found


def test_a_project_without_a_ledger_has_no_table() -> None:
    assert list(table({})) == []
