"""What the workload engine adds to an operation: processor time against a bare loop in C.

The loop makes the same system calls on an equal tree and records nothing. Operations are single
ones on cached files, or short cycles; the cost is of one of them. Processor time is what the kernel
accounts for (user and system): for the loop while it goes, for the engine from its start to its
end. Where Filebench is installed, it joins in. Each run has a tree that is made anew, and no other
stands beside it: of two equal ones the kernel may give one the better memory.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bench import command, filebench, programs, texts
from bench.processes import Used
from bench.programs import Work
from bench.rounds import Spread, interleaved, met, print_row

TARGETS_US = {1: 0.15, 100: 0.20}
"""The most that one operation may cost more than in the loop, by threads. Microseconds."""

WITHOUT_TARGET = ("large",)
"""So little does not show beside a write of 1 MiB."""

HEAD = ("operation", "threads", "loop us", "engine us", "more us", "of it user us", "target us")
WIDTHS = (13, 7, 7, 9, 25, 25, 14)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(
        __doc__, example="python -m bench.operation_cost stat read --rounds 3", rounds=5
    )
    parser.add_argument(
        "operations", nargs="*", metavar="OPERATION", help=f"all, or: {', '.join(texts.OPERATIONS)}"
    )
    parser.add_argument(
        "--threads",
        type=command.positive,
        nargs="+",
        default=sorted(TARGETS_US),
        help="(default: 1 100)",
    )
    parser.add_argument(
        "--seconds", type=command.positive, default=2, help="of each run (default: 2)"
    )
    asked = parser.parse_args()
    unknown = set(asked.operations) - set(texts.OPERATIONS)
    if unknown:
        parser.error(f"no such operation: {', '.join(sorted(unknown))}")
    asked.operations = asked.operations or list(texts.OPERATIONS)
    return asked


def from_outside(work: Work, used: Used) -> Work:
    """Return work with the processor time of the whole program, as the kernel accounts for it."""
    return replace(work, user_s=used.user_s, system_s=used.system_s)


def measured(
    loop: str, kind: str, folder: Path, threads: int, asked: argparse.Namespace
) -> dict[str, list[Work | None]]:
    """Return what each way gave in each round."""
    place, file = folder / "files", folder / "text.f"
    text = texts.operation(kind, place, threads)

    def by_loop() -> Work:
        command.emptied(place)
        programs.prepare(file)
        return programs.by_loop(loop, kind, place / texts.TREE, threads, asked.seconds)

    def by_engine() -> Work:
        command.emptied(place)
        return from_outside(*programs.by_engine(file))

    def by_filebench() -> Work | None:
        command.emptied(place)
        return filebench.by_filebench(text, folder / "filebench.f", asked.seconds)

    file.write_text(f"{text}run {asked.seconds}\n")
    ways: dict[str, Callable[[], Work | None]] = {"loop": by_loop, "engine": by_engine}
    if filebench.is_installed():
        ways["Filebench"] = by_filebench
    return interleaved(ways, asked.rounds)


def more(results: dict[str, list[Work | None]], way: str, part: str) -> Spread | None:
    """Return how much more a way cost than the loop did in the same round.

    Parameters
    ----------
    results : dict
        What each way gave in each round; rounds without a result are left out.
    way : str
        Which of them.
    part : {"cpu_us", "user_us"}
        Which cost.
    """
    pairs = zip(results[way], results["loop"], strict=True)
    differences = [getattr(work, part) - getattr(loop, part) for work, loop in pairs if work]
    return Spread.of(differences) if differences else None


def row(kind: str, threads: int, results: dict[str, list[Work | None]]) -> list[str]:
    """Return the row of an operation."""

    def cost_us(way: str) -> str:
        return f"{Spread.of(work.cpu_us for work in results[way] if work).median:.3f}"

    added_us = more(results, "engine", "cpu_us")
    assert added_us is not None, "the engine gives a result or raises"
    target_us = None if kind in WITHOUT_TARGET else TARGETS_US.get(threads)
    cells = [
        kind,
        str(threads),
        cost_us("loop"),
        cost_us("engine"),
        f"{added_us:+.3f}",
        f"{more(results, 'engine', 'user_us'):+.3f}",
        "" if target_us is None else f"{target_us:.2f} {met(added_us.median <= target_us)}",
    ]
    if "Filebench" in results:
        its_us = more(results, "Filebench", "cpu_us")
        cells.append("no result" if its_us is None else f"{its_us:+.3f}")
    return cells


def main() -> None:
    """Print a row for each operation and number of threads."""
    asked = arguments()
    head, widths = list(HEAD), list(WIDTHS)
    if filebench.is_installed():
        head.append("Filebench more us")
        widths.append(25)
    print_row(head, widths)
    with tempfile.TemporaryDirectory(dir=asked.directory) as place:
        folder = Path(place)
        loop = programs.build_loop("operations", folder)
        for kind in asked.operations:
            for threads in asked.threads:
                results = measured(loop, kind, folder, threads, asked)
                print_row(row(kind, threads, results), widths)


if __name__ == "__main__":
    command.run(main)
