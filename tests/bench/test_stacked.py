"""The comparison of GreenFS with mergerfs: that each way does the work where it says it does."""

import re
import shutil
from pathlib import Path

import pytest
from mounts_of_greenfs import needs_a_mount

from bench import stacked


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler: apt-get install gcc")
def test_all_ways_do_the_same_work_and_leave_no_mount(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mount that stays would keep the folder, and a row without work would pass for speed."""
    needs_a_mount()
    words = ["--directory", str(tmp_path), "--rounds", "1", "--cycles", "30"]
    monkeypatch.setattr("sys.argv", ["stacked", *words, "--creates", "30", "--mib", "1"])
    stacked.main()
    said = capsys.readouterr().out
    ways = [stacked.NATIVE, stacked.ALONE, stacked.PROTECTED]
    ways += [stacked.MERGED] if shutil.which("mergerfs") else []
    for way in ways:
        row = next(line for line in said.splitlines() if line.startswith(f"{way}  "))
        cpu_us, *rates = map(float, re.findall(r"([\d.]+) \(", row))
        assert cpu_us >= 0 and len(rates) == 3 and min(rates) > 0, "it compiled nothing"
    assert said.count("warm reads, over the same files below") == 2
    assert not [*tmp_path.iterdir()]
