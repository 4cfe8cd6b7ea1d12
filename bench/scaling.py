"""Whether threads wait for each other in the engine: statfile by 8 threads against 2, on 2 cores.

Beside it the same for the loop in C, which shares nothing but the file system.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench import command, programs, texts
from bench.programs import Work
from bench.rounds import Spread, interleaved, met, print_row
from fsgreen.errors import FsgreenError

CORES = 2
FEW, MANY = 2, 8
TARGET_X = 0.95

HEAD = ("way", f"ops/s by {FEW}", f"ops/s by {MANY}", f"{MANY} of {FEW} threads", "target")
WIDTHS = (7, 12, 12, 22, 14)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(__doc__, example="python -m bench.scaling --rounds 9", rounds=7)
    parser.add_argument(
        "--seconds", type=command.positive, default=3, help="of each run (default: 3)"
    )
    return parser.parse_args()


def confine() -> None:
    """Keep this process, and all that it starts, on so many cores."""
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < CORES:
        raise FsgreenError(
            f"this machine gives {len(usable)} core, and {CORES} are compared",
            next_step=f"run it where nproc says {CORES} or more",
        )
    os.sched_setaffinity(0, usable[:CORES])


def engine_text(folder: Path, threads: int, seconds: int) -> Path:
    """Write the text of so many threads and return its file."""
    file = folder / f"{threads}.f"
    file.write_text(texts.operation("stat", folder, threads) + f"run {seconds}\n")
    return file


def by_engine(file: Path) -> Work:
    """Return the work of a text."""
    return programs.by_engine(file)[0]


def main() -> None:
    """Print a row for the engine and one for the loop."""
    asked = arguments()
    confine()
    with tempfile.TemporaryDirectory(dir=asked.directory) as place:
        folder = Path(place)
        loop = programs.build_loop("operations", folder)
        files = {threads: engine_text(folder, threads, asked.seconds) for threads in (FEW, MANY)}
        tree = folder / texts.TREE
        ways: dict[str, Callable[[], Work]] = {}
        for threads, file in files.items():
            ways[f"engine {threads}"] = partial(by_engine, file)
            ways[f"loop {threads}"] = partial(
                programs.by_loop, loop, "stat", tree, threads, asked.seconds
            )
        programs.prepare(files[FEW])
        results = interleaved(ways, asked.rounds)
    print_row(HEAD, WIDTHS)
    for way in ("engine", "loop"):
        rates = {
            threads: [work.throughput_ops_s for work in results[f"{way} {threads}"]]
            for threads in (FEW, MANY)
        }
        ratio_x = Spread.of(a / b for a, b in zip(rates[MANY], rates[FEW], strict=True))
        target = f">= {TARGET_X} {met(ratio_x.median >= TARGET_X)}" if way == "engine" else ""
        medians = [f"{Spread.of(rates[threads]).median:.0f}" for threads in (FEW, MANY)]
        print_row((way, *medians, f"{ratio_x:.3f}", target), WIDTHS)


if __name__ == "__main__":
    command.run(main)
