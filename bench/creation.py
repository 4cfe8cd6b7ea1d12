"""Creating a tree of 500,000 files of 4 KiB: `fsgreen-wml prepare` against loops in C.

The target is three times the speed of one thread that does nothing else, or the file system's own
limit, whichever is lower. The limit is what loops on as many threads or processes as there are
cores reach in directories of their own: they share nothing but the file system.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import command, programs, texts
from bench.processes import Used, run
from bench.rounds import Spread, interleaved, met, print_row

ENGINE, SINGLE = "fsgreen-wml prepare", "loop, 1 thread"
SPEED_TARGET_X = 3.0
LIMIT_SHARE = 0.95
"""The share of the file system's own limit that counts as reaching it."""

HEAD = ("way", "seconds", "user s", "system s", "files/s", "of 1 thread")
WIDTHS = (21, 22, 7, 9, 9, 22)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(__doc__, example="python -m bench.creation --files 100000", rounds=5)
    parser.add_argument(
        "--files", type=command.positive, default=500_000, help="(default: %(default)s)"
    )
    return parser.parse_args()


def used_by_way(asked: argparse.Namespace, cores: int) -> dict[str, list[Used]]:
    """Return what each way used in each round."""
    with (
        tempfile.TemporaryDirectory() as programs_place,
        tempfile.TemporaryDirectory(dir=asked.directory) as place,
    ):
        text = Path(programs_place) / "tree.f"
        text.write_text(texts.many_files(Path(place), asked.files, "4k") + "create files\n")
        loop = programs.build_loop("creation", Path(programs_place))

        def alone(create: Callable[[], Used]) -> Used:
            used = create()
            run(["find", place, "-mindepth", "1", "-delete"])
            return used

        def by_loop(how: str, workers: int) -> Callable[[], Used]:
            line = [loop, how, str(workers), place, str(asked.files)]
            return lambda: alone(lambda: run(line))

        ways = {
            SINGLE: by_loop("threads", 1),
            f"loop, {cores} threads": by_loop("threads", cores),
            f"loop, {cores} processes": by_loop("processes", cores),
            ENGINE: lambda: alone(lambda: programs.prepare(text)),
        }
        return interleaved(ways, asked.rounds)


def main() -> None:
    """Print a row for each way, and whether the target is met."""
    asked = arguments()
    rounds = used_by_way(asked, len(os.sched_getaffinity(0)))
    print_row(HEAD, WIDTHS)
    speeds_x = {
        way: Spread.of(a.wall_s / b.wall_s for a, b in zip(rounds[SINGLE], used, strict=True))
        for way, used in rounds.items()
    }
    for way, speed_x in speeds_x.items():
        took_s = Spread.of(used.wall_s for used in rounds[way])
        cells = (
            way,
            f"{took_s:.2f}",
            f"{Spread.of(used.user_s for used in rounds[way]).median:.2f}",
            f"{Spread.of(used.system_s for used in rounds[way]).median:.2f}",
            f"{asked.files / took_s.median:.0f}",
            f"{speed_x:.2f}",
        )
        print_row(cells, WIDTHS)
    limit_x = max(speed_x.median for way, speed_x in speeds_x.items() if way != ENGINE)
    target_x = min(SPEED_TARGET_X, LIMIT_SHARE * limit_x)
    print(
        f"target: {target_x:.2f} of 1 thread (3, or {LIMIT_SHARE:.0%} of the limit {limit_x:.2f}): "
        + met(speeds_x[ENGINE].median >= target_x)
    )


if __name__ == "__main__":
    command.run(main)
