"""What the workload engine adds to an operation: one thread against a bare loop.

Usage: python bench/engine_rate.py [DIRECTORY]. Prints operations per second side by side, medians
of interleaved rounds. The engine reads the clock twice for each operation, picks a file, keeps a
histogram and a series; the bare loop does nothing but the system calls. Filebench joins in where
it is installed.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from fsgreen import paths
from fsgreen.workloads import engine

ROUNDS = 5
SECONDS = 2
FILES = """
define fileset name=files, path={directory}, size=4k, entries=1000, dirwidth=20, prealloc
define process name=p, instances=1 {{ thread name=t, instances=1, memsize=1m {{ {flowops} }} }}
run {seconds}
"""
FLOWOPS = {
    "stat": "flowop statfile name=work, filesetname=files",
    "open": "flowop openfile name=work, filesetname=files, fd=1 flowop closefile name=close, fd=1",
    "read": "flowop read name=work, filesetname=files, iosize=4k, random",
}
IO_SUMMARY = re.compile(r"IO Summary:.*?([\d.]+) ops/s")


def text(kind: str, directory: Path) -> Path:
    """Write the text of a workload of one thread."""
    file = directory / f"{kind}.f"
    content = FILES.format(directory=directory, flowops=FLOWOPS[kind], seconds=SECONDS)
    # Filebench knows blanks and newlines only.
    file.write_text(content)
    return file


def by_engine(kind: str, directory: Path) -> float:
    """Return pairs of open and close, or operations, per second."""
    report = json.loads(
        subprocess.run(
            [engine.require(), "run", str(text(kind, directory)), "--warmup=0.2"],
            check=True,
            capture_output=True,
        ).stdout
    )
    flowops = {flowop["flowop"]: flowop for flowop in report["measure"]["flowops"]}
    return flowops["work"]["work_ops"] / report["measure"]["duration_s"]


def by_loop(kind: str, directory: Path) -> float:
    """Return the rate of the bare loop over the files that the engine left."""
    example = [
        *("cargo", "run", "--quiet", "--release", "--example", "bare_loop"),
        *("--manifest-path", str(paths.root() / "engine" / "Cargo.toml"), "-p", "wml", "--"),
    ]
    command = [*example, kind, str(directory / "files"), str(SECONDS)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def by_filebench(kind: str, directory: Path) -> float:
    """Return Filebench's rate for the same text; it needs address randomisation off."""
    command = ["setarch", "-R", "filebench", "-f", str(text(kind, directory))]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = IO_SUMMARY.search(output)
    if found is None:
        raise SystemExit(f"filebench gave no result:\n{output}")
    return float(found[1]) / (2 if kind == "open" else 1)


def main() -> None:
    """Print a table of rates and their ratio to the bare loop."""
    ways: dict[str, Callable[[str, Path], float]] = {"engine": by_engine, "loop": by_loop}
    if shutil.which("filebench"):
        ways["filebench"] = by_filebench
    place = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        directory = Path(folder)
        print("ops/s".ljust(8), *(way.rjust(12) for way in ways), "  of the loop")
        for kind in FLOWOPS:
            rates: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(ROUNDS):
                for way, measure in ways.items():
                    rates[way].append(measure(kind, directory))
            medians = {way: statistics.median(values) for way, values in rates.items()}
            shares = [
                f"{way} {medians[way] / medians['loop']:.2f}" for way in ways if way != "loop"
            ]
            print(kind.ljust(8), *(f"{rate:12.0f}" for rate in medians.values()), " ", *shares)


if __name__ == "__main__":
    main()
