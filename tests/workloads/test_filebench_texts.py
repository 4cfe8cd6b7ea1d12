"""Filebench's own texts, where they are: accepted, run, and with the shares that they have there.

Nothing of them is kept here but numbers: of each text, the shares of the operations of its threads
that Filebench 1.5-alpha3 counted for their flowops, in the order of the text. What it refuses or
ends without a result was changed for it alone: leftovers of 1.4 left out or written as in 1.5
(`cached`, `define randvar`, arithmetic), the local variables of compflow_demo and networkfs filled
in, goals and filesets made larger than what 2 s use up, and tpcso cut down to 13 of its 30 files
(it has room for 16 filesets), 24 of its 211 threads, and no direct I/O.
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
LENGTHS_S = (2, 8, 32, 128)
"""Of the runs, until one has the shares: a busy machine may end no pass in the first."""

UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
LARGEST = {"size": 4 * 2**20, "files": 400, "bytes": 8 * 2**20, "ndirs": 400, "count": 100}
"""So that a text takes seconds and megabytes: bytes of a file, files and leaf directories of a set,
bytes and operations of a run."""
NUMBER = re.compile(r"(size|\$\w*(?:size|files|bytes|ndirs|count))=(\d+)([kmg]?)\b")

texts = sorted(FOLDER.glob("*.f"))
pytestmark = [
    pytest.mark.usefixtures("engine"),
    pytest.mark.skipif(
        not texts,
        reason="FSGREEN_FILEBENCH_TEXTS names no folder with Filebench's texts (*.f)",
    ),
]


def small(text: str) -> str:
    """Make files, filesets and what is to be written small, and take the runs out."""

    def shrink(found: re.Match[str]) -> str:
        name, number, unit = found.groups()
        if name.endswith("iosize") or name == "memsize":
            return found[0]
        [most] = [most for kind, most in LARGEST.items() if name.endswith(kind)]
        return f"{name}={min(int(number) * UNITS[unit], most)}"

    lines = [NUMBER.sub(shrink, line) for line in text.splitlines()]
    lines = [line for line in lines if not re.match(r"\s*(run|psrun)\b", line)]
    return "\n".join([*lines, ""])


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
    written = small(file.read_text())
    [place] = re.findall(r"^set \$(\w+)=/tmp$", written, re.MULTILINE)
    text, files = tmp_path / "text.f", tmp_path / "files"
    files.mkdir()

    def said(command: str, *options: str) -> str:
        line = [program, command, text, f"--set={place}={files}", *options]
        done = subprocess.run(line, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    expected = pytest.approx(json.loads(SHARES.read_text())[file.stem], abs=TOLERANCE)
    for length_s in LENGTHS_S:
        text.write_text(f"{written}run {length_s}\n")
        said("check")
        measured = shares(json.loads(said("run", "--json=-")))
        if measured == expected:
            break
    assert measured == expected
