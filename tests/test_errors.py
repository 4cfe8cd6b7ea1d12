"""Errors must tell a user what to type next."""

import ast
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import start_new_kernel

import fsgreen
from fsgreen import paths
from fsgreen.errors import FsgreenError, unknown
from tests.patience import LIMIT_S

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


@pytest.mark.notebook
def test_a_notebook_shows_what_the_command_line_does_and_the_frames_who_asks_for_them() -> None:
    """Under forty frames of a library nobody finds the next step."""
    manager, client = start_new_kernel(cwd=str(paths.root()), transport_encryption="auto")
    try:

        def shown(code: str) -> str:
            told: list[dict[str, Any]] = []
            client.execute_interactive(code, timeout=LIMIT_S, output_hook=told.append)
            (error,) = [one["content"] for one in told if one["msg_type"] == "error"]
            return "\n".join(error["traceback"])

        error = shown("import fsgreen; fsgreen.open('no-such-campaign').cells")
        assert error.startswith("fsgreen: ")
        what, *steps = [line.partition(":")[0] for line in error.splitlines()]
        assert (what, steps[-2:]) == ("fsgreen", ["  next", "  frames"])
        assert "results.py" in shown("%xmode Verbose\n%tb"), "as the last line says"
        assert shown("%xmode Context\n%tb") == error
        assert "ZeroDivisionError" in shown("1 / 0"), "what is no FsgreenError has its frames"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def _errors(tree: ast.AST) -> list[ast.Call]:
    """Return where errors are made."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS
    ]
