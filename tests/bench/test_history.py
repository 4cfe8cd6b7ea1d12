"""What says how soon a version is restored must restore the right one."""

import re
from pathlib import Path

import pytest

from bench import history
from fsgreen import paths


@pytest.mark.skipif(
    paths.program("greenfs") is None, reason="needs the program greenfs: run ./run engine"
)
def test_versions_of_one_file_and_of_many_are_restored_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A history that is empty, or another version, would be restored soonest."""
    words = ["--directory", str(tmp_path), "--versions", "2000", "--rounds", "3"]
    monkeypatch.setattr("sys.argv", ["history", *words])
    history.main()
    said = capsys.readouterr().out
    for name in ("one file", "1,000 files"):
        assert re.search(rf"^{name} +2,000 +\d+\.\d", said, re.MULTILINE)
    assert not [*tmp_path.iterdir()]
