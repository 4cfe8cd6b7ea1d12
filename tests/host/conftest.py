"""Each test has a machine of its own, made of files."""

import os
from pathlib import Path

import machines
import pytest

from fsgreen import host


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> host.Tree:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return machines.make(tmp_path)
