"""An entry of `dvc.lock` that is replaced leaves the file as DVC itself would."""

from __future__ import annotations

from pathlib import Path

import pytest
from dvc.utils.serialize import dumps_yaml, modify_yaml, parse_yaml

from fsgreen import paths
from fsgreen.pipeline.lockfile import replace_entry

STAGES = 6


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    """The first stages of the one that ships, and what DVC has behind the stages."""
    lines = (paths.root() / "dvc.lock").read_text().splitlines(keepends=True)
    stages = [n for n, line in enumerate(lines) if line.startswith("  ") and line[2] != " "]
    file = tmp_path / "dvc.lock"
    file.write_text("".join(lines[: stages[STAGES]]))
    return file


@pytest.mark.parametrize("position", range(STAGES))
@pytest.mark.parametrize("after", ["", "datasets: []\n"])
def test_the_file_is_as_dvc_writes_it(lock: Path, position: int, after: str) -> None:
    """The next `dvc repro` would else write it anew, or take stages for out of date."""
    lock.write_text(lock.read_text() + after)
    stages = parse_yaml(lock.read_text(), lock)["stages"]
    name = list(stages)[position]
    other = {
        **stages[name],
        "cmd": "fsgreen " + 30 * "argument ",
        "outs": [{"path": "x", "size": 1}],
    }
    by_dvc = lock.with_name("by-dvc")
    by_dvc.write_text(lock.read_text())
    with modify_yaml(by_dvc) as data:
        data["stages"].update({name: other})
    entry = dumps_yaml({"stages": {name: other}}).partition("\n")[2]
    assert replace_entry(lock, entry)
    assert lock.read_text() == by_dvc.read_text()


def test_a_stage_that_is_not_there_is_left_to_dvc(lock: Path) -> None:
    before = lock.read_text()
    assert not replace_entry(lock, "  new@stage:\n    cmd: true\n")
    assert lock.read_text() == before
