"""The first trial does not pay for what others left unwritten."""

from __future__ import annotations

import os
import signal
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

import pytest

from fsgreen import audit, testbeds
from fsgreen.campaign import unwritten
from fsgreen.preflight import load
from tests.patience import wait_for


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> audit.Tree:
    """A machine with much unwritten data, whose `sync` comes first in PATH."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "meminfo").write_text("Dirty: 200000 kB\nWriteback: 0 kB\n")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(load, "SAMPLE_S", 0.01)
    return audit.Tree(tmp_path)


def have_sync(tree: audit.Tree, text: str) -> None:
    program = tree.root / "bin" / "sync"
    program.write_text(f"#!/bin/sh\ncd {tree.root}\necho $$ >> began\n{text}\n")
    program.chmod(0o755)


def severity(tree: audit.Tree) -> str:
    return {one.subject: one.severity for one in load.check(tree)}["unwritten data"]


def test_what_others_left_unwritten_is_written_and_waited_for(tree: audit.Tree) -> None:
    """The table said `sync`, and went on at once; rule 10 then fired for it."""
    have_sync(tree, "sleep 0.3; echo 'Dirty: 9 kB\nWriteback: 0 kB' > new; mv new proc/meminfo")
    assert severity(tree) == "warning"
    unwritten.write_out(tree)
    assert severity(tree) == "ok"
    unwritten.write_out(tree)
    assert len((tree.root / "began").read_text().split()) == 1, "little is left to the kernel"


def test_what_others_go_on_writing_is_not_waited_for(tree: audit.Tree) -> None:
    have_sync(tree, "true")
    unwritten.write_out(tree)
    assert severity(tree) == "warning"


def test_a_sync_that_never_ends_does_not_keep_a_campaign_for_good(
    tree: audit.Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mount whose server is gone holds it."""
    have_sync(tree, "exec sleep 600")
    monkeypatch.setattr(unwritten, "LIMIT_S", 0.1)
    unwritten.write_out(tree)
    began = tree.root / "began"
    assert severity(tree) == "warning"
    wait_for(lambda: began.exists() and began.read_text().strip())
    os.kill(int(began.read_text()), signal.SIGKILL)


@pytest.mark.usefixtures("data")
def test_it_is_written_before_the_table_of_a_campaign_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measure = import_module("fsgreen.campaign.measure")
    done: list[str] = []
    monkeypatch.setattr(measure, "machine_alone", nullcontext)
    monkeypatch.setattr(testbeds, "sweep", list)
    monkeypatch.setattr(measure, "write_out", lambda: done.append("written"))
    monkeypatch.setattr(measure, "look", lambda *_: done.append("looked") or [][0])
    with pytest.raises(IndexError):
        measure.measure("fast10", "quick", name="demo")
    assert done == ["written", "looked"]
