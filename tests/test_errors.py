"""Errors must tell a user what to type next."""

import ast
from pathlib import Path

import fsgreen
from fsgreen.errors import FsgreenError, unknown

ERRORS = ("FsgreenError", "TrialFailed", "WorkloadFailed", "DiskFull")
"""What is raised with a sentence; `unknown` lists what is known, which is its next step."""


def test_message_says_what_where_and_next() -> None:
    error = FsgreenError("the disk is full", where="/data", next_step="free some space")
    assert str(error) == "the disk is full\n  where: /data\n  next:  free some space"


def test_a_misspelt_name_gets_the_nearest_one_suggested() -> None:
    error = unknown("option", "noatme", ["noatime", "notail"])
    assert error.what == "unknown option 'noatme', did you mean noatime? Known: noatime, notail."


def test_a_name_like_no_other_gets_the_list() -> None:
    assert unknown("option", "zzz", ["b", "a"]).what == "unknown option 'zzz'. Known: a, b."


def test_of_hundreds_of_names_only_the_nearest_are_listed() -> None:
    """A screen of names hides the one that was meant; the next step lists them all."""
    names = [f"web_{nth}" for nth in range(99)] + ["file_journal"]
    what = unknown("claim", "file_jurnal", names).what
    assert what.startswith("unknown claim 'file_jurnal', did you mean file_journal? Nearest of 100")
    assert len(what) < 200
    assert unknown("claim", "?", names).what == "unknown claim '?'."


def test_every_error_of_the_package_has_a_next_step() -> None:
    """An error without one leaves its reader alone."""
    package = Path(fsgreen.__file__).parent
    bare = [
        f"{file.relative_to(package)}:{call.lineno}"
        for file in package.rglob("*.py")
        for call in _errors(ast.parse(file.read_text()))
        if "next_step" not in {keyword.arg for keyword in call.keywords}
    ]
    assert bare == []


def _errors(tree: ast.AST) -> list[ast.Call]:
    """Return where errors are made."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS
    ]
