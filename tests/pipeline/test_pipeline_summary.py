"""The lines that a run of the pipeline ends with: every claim counted once, by its evidence."""

import csv
from pathlib import Path
from typing import get_args

import pytest

from fsgreen.claims import DISAGREE, VERDICTS, Basis
from fsgreen.pipeline.summary import GROUPS, table

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
    counts = [word for group in GROUPS for word in group.line(rows).split()]
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
    assert row.split() == ["fast10", "12", "1", "3", "1", "1", "1"]
    ends = {at: name for at, name in ((m + len(w), w) for w, m in positions(names))}
    assert [ends[m + len(w)] for w, m in positions(row)[1:]] == [
        *("yes", "no", "yes", "partly", "powered", "state")
    ]
    assert len(names) <= WIDEST


def test_a_claim_of_which_a_part_was_not_tested_holds_partly(tmp_path: Path) -> None:
    """One number of three was looked at, and the claim was counted as one that holds."""
    file = written(tmp_path / "claims.csv", ("reproduced", "measured"), scope="part")
    _, _, names, row = table({"fast10": file})
    ends = {at + len(word): word for word, at in positions(names)}
    assert [ends[at + len(word)] for word, at in positions(row)[1:]] == ["partly"]


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
