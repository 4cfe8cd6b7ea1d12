"""The four servers beside Filebench: operations per second, and user time for each.

One text goes through both programs, on a file system that is made anew for every run: tmpfs, and
ext4 and xfs on an image behind a loop device (root). User time is what the run takes: the engine
reports that of its measured interval, and of Filebench's the making of its trees is taken off. A
run of Filebench that aborts gives no result; the rounds in which it gave one are compared. Beside
the mail server, a loop in C that makes the same system calls and records nothing shows what these
take.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench import command, filebench, programs
from bench.personalities import PERSONALITIES, THREADS
from bench.programs import Work
from bench.rounds import Spread, interleaved, met, print_row
from fsgreen.testbeds import open_testbed

FILE_SYSTEMS = ("tmpfs", "ext4", "xfs")
THROUGHPUT_TARGET_X = 1.0
USER_TARGET_X = 0.5
NO_USER_TARGET = ("oltp", "oltp-no-hog")
"""Most of what Filebench uses there is spinning."""
LOOPS = {"varmail": "mail"}
"""Kinds of the loop `operations` that do what a server does."""

HEAD = (
    "on, server",
    "rounds",
    "engine ops/s",
    "Filebench",
    "ratio",
    ">= 1",
    "engine user us",
    "Filebench",
    "ratio",
    "<= 0.5",
    "loop user us",
    "of Filebench's",
)
WIDTHS = (18, 6, 12, 9, 20, 6, 14, 9, 20, 6, 12, 20)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(
        __doc__,
        example="sudo python -m bench.servers --on tmpfs xfs --only webserver --rounds 3",
        rounds=3,
    )
    parser.add_argument("--on", nargs="+", choices=FILE_SYSTEMS, default=FILE_SYSTEMS)
    parser.add_argument("--only", nargs="+", choices=PERSONALITIES, default=list(PERSONALITIES))
    parser.add_argument(
        "--seconds", type=command.positive, default=10, help="of each run (default: 10)"
    )
    parser.add_argument(
        "--scale", type=float, default=0.05, help="of the published trees (default: 0.05)"
    )
    parser.add_argument(
        "--image-mib", type=command.positive, default=4096, help="size of the image (default: 4096)"
    )
    return parser.parse_args()


@contextmanager
def place(file_system: str, asked: argparse.Namespace) -> Iterator[Callable[[], Path]]:
    """Yield what makes an empty file system, or on tmpfs an empty folder, and returns it."""
    if file_system != "tmpfs":
        size_b = asked.image_mib << 20
        with open_testbed("loop", folder=asked.directory, size_b=size_b) as testbed:
            yield (
                lambda: testbed.prepare({"file_system": file_system, "option": "default"}).directory
            )
        return
    with tempfile.TemporaryDirectory(dir=command.MEMORY) as made:
        yield partial(command.emptied, Path(made) / "files")


def measured(
    personality: str,
    fresh: Callable[[], Path],
    folder: Path,
    loop: str,
    asked: argparse.Namespace,
) -> dict[str, list[Work | None]]:
    """Return what each program gave in each round."""
    define = PERSONALITIES[personality]

    def by_engine() -> Work:
        file = folder / "engine.f"
        file.write_text(f"{define(fresh(), asked.scale)}run {asked.seconds}\n")
        return programs.by_engine(file)[0]

    def by_filebench() -> Work | None:
        text = define(fresh(), asked.scale)
        return filebench.by_filebench(text, folder / "filebench.f", asked.seconds)

    def by_loop() -> Work:
        place, file = fresh(), folder / "loop.f"
        file.write_text(f"{define(place, asked.scale)}run 1\n")
        programs.prepare(file)
        return programs.by_loop(loop, LOOPS[personality], place, THREADS, asked.seconds)

    ways: dict[str, Callable[[], Work | None]] = {"engine": by_engine, "Filebench": by_filebench}
    if personality in LOOPS:
        ways["loop"] = by_loop
    return interleaved(ways, asked.rounds)


def row(file_system: str, server: str, results: dict[str, list[Work | None]]) -> list[str]:
    """Return the row of a server on a file system."""
    ours = [work for work in results["engine"] if work]
    both = zip(results["engine"], results["Filebench"], strict=True)
    pairs = [(a, b) for a, b in both if a and b]

    def columns(part: str, spec: str, is_met: Callable[[float], bool] | None) -> list[str]:
        median = f"{Spread.of(getattr(work, part) for work in ours).median:{spec}}"
        if not pairs:
            return [median, "aborted", "", ""]
        its = Spread.of(getattr(work, part) for _, work in pairs)
        ratio_x = Spread.of(getattr(a, part) / getattr(b, part) for a, b in pairs)
        verdict = "" if is_met is None else met(is_met(ratio_x.median))
        return [median, f"{its.median:{spec}}", f"{ratio_x:.2f}", verdict]

    def of_loop() -> list[str]:
        loops = results.get("loop", [])
        pairs = [(a, b) for a, b in zip(loops, results["Filebench"], strict=False) if a and b]
        if not pairs:
            return ["", ""]
        own_us = Spread.of(loop.user_us for loop, _ in pairs)
        share = Spread.of(loop.user_us / its.user_us for loop, its in pairs)
        return [f"{own_us.median:.3f}", f"{share:.2f}"]

    user_target = None if server in NO_USER_TARGET else lambda x: x <= USER_TARGET_X
    return [
        f"{file_system} {server}",
        f"{len(pairs)}/{len(ours)}",
        *columns("throughput_ops_s", ".0f", lambda x: x >= THROUGHPUT_TARGET_X),
        *columns("user_us", ".3f", user_target),
        *of_loop(),
    ]


def main() -> None:
    """Print a row for each file system and server."""
    asked = arguments()
    filebench.require()
    print_row(HEAD, WIDTHS)
    with tempfile.TemporaryDirectory() as folder:
        loop = programs.build_loop("operations", Path(folder))
        for file_system in asked.on:
            with place(file_system, asked) as fresh:
                for personality in asked.only:
                    results = measured(personality, fresh, Path(folder), loop, asked)
                    print_row(row(file_system, personality, results), WIDTHS)


if __name__ == "__main__":
    command.run(main)
