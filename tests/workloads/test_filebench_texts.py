"""Filebench's own texts, where they are: accepted, run, and with the shares that they have there.

Nothing of them is kept here but numbers: of each text, the shares of the operations of its threads
that Filebench 1.5-alpha3 counted for their flowops, in the order of the text.
"""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fsgreen import paths

FOLDER = Path(os.environ.get("FSGREEN_FILEBENCH_TEXTS", "/nowhere"))
SHARES = Path(__file__).with_name("filebench_shares.json")
TOLERANCE = 0.05

UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
LARGEST = {"size": 4 * 2**20, "files": 400, "bytes": 8 * 2**20, "ndirs": 400}
"""So that a text takes seconds and megabytes: bytes of a file, files of a set, bytes of a run."""
NUMBER = re.compile(r"(size|\$\w*(?:size|files|bytes|ndirs))=(\d+)([kmg]?)\b")

texts = sorted(FOLDER.glob("*.f"))
pytestmark = [
    pytest.mark.usefixtures("engine"),
    pytest.mark.skipif(
        not texts,
        reason="FSGREEN_FILEBENCH_TEXTS names no folder with Filebench's texts (*.f)",
    ),
]


def small(text: str) -> str:
    """Make files, filesets and what is to be written small, and the run two seconds long."""

    def shrink(found: re.Match[str]) -> str:
        name, number, unit = found.groups()
        if name.endswith("iosize") or name == "memsize":
            return found[0]
        [most] = [most for kind, most in LARGEST.items() if name.endswith(kind)]
        return f"{name}={min(int(number) * UNITS[unit], most)}"

    lines = [NUMBER.sub(shrink, line) for line in text.splitlines()]
    lines = [line for line in lines if not re.match(r"\s*(run|psrun)\b", line)]
    return "\n".join([*lines, "run 2", ""])


def shares(report: Mapping[str, Any]) -> list[float | None]:
    """Return each counted flowop's share of the operations of its thread, None without any."""
    [run] = report["runs"]
    flowops = [flowop for flowop in run["measure"]["flowops"] if flowop["counted"]]
    sums: dict[tuple[str, str], int] = {}
    for flowop in flowops:
        thread = (flowop["process"], flowop["thread"])
        sums[thread] = sums.get(thread, 0) + flowop["work_ops"]
    of_thread = [sums[flowop["process"], flowop["thread"]] for flowop in flowops]
    return [
        flowop["work_ops"] / whole if whole else None
        for flowop, whole in zip(flowops, of_thread, strict=True)
    ]


@pytest.mark.parametrize("file", texts, ids=lambda file: file.stem)
def test_a_text_of_filebench_does_here_what_it_does_there(file: Path, tmp_path: Path) -> None:
    program = paths.program("fsgreen-wml")
    assert program is not None
    text = tmp_path / "text.f"
    text.write_text(small(file.read_text()))
    place = tmp_path / "files"
    place.mkdir()
    command = [program, "run", str(text), f"--set=dir={place}", "--json=-"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    measured = shares(json.loads(done.stdout))
    expected = json.loads(SHARES.read_text()).get(file.stem)
    if expected is not None:
        assert [share is None for share in measured] == [share is None for share in expected]
        assert measured == pytest.approx(expected, abs=TOLERANCE)
