"""Memory of the engine: bytes for each file entry and for each thread.

Each is the difference between a large and a small run, in the greatest resident memory of the
largest process: what the kernel calls the high-water mark (VmHWM in proc_pid_status(5)).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import command, personalities, programs, texts
from bench.processes import run
from bench.rounds import Spread, interleaved, met, print_row

ENTRIES = (100_000, 600_000)
ENTRY_TARGET_B = 64
THREADS = (100, 1000)
THREAD_TARGET_B = 1_000_000
SECONDS = 2

HEAD = ("for each", "bytes", "target")
WIDTHS = (26, 30, 18)


@dataclass(frozen=True)
class Part:
    """What is counted, a text with so many of it, a small and a large number, and the target."""

    name: str
    text: Callable[[Path, int], str]
    numbers: tuple[int, int]
    target_b: int


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    return command.parser(
        __doc__, example="python -m bench.memory --rounds 1", rounds=3
    ).parse_args()


def high_water_b(pid: int) -> int:
    """Return the high-water mark of a process and of its children, the largest one's, in bytes.

    A process that has ended, or that is starting or ending, has none: 0.
    """
    proc = Path("/proc") / str(pid)
    try:
        status = (proc / "status").read_text()
        children = (proc / "task" / str(pid) / "children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    fields = dict(line.split(":", 1) for line in status.splitlines())
    own_b = int(fields["VmHWM"].split()[0]) * 1024 if "VmHWM" in fields else 0
    return max([own_b, *(high_water_b(int(child)) for child in children)])


def peak_b(text: str, file: Path) -> int:
    """Run a text and return the greatest high-water mark of its processes in bytes."""
    file.write_text(f"{text}run {SECONDS}\n")
    seen = [0]
    run([programs.program(), "run", str(file)], watch=lambda pid: seen.append(high_water_b(pid)))
    return max(seen)


def entry_text(folder: Path, entries: int) -> str:
    """Return a text with so many files."""
    return texts.many_files(folder, entries, "1k")


def thread_text(folder: Path, threads: int) -> str:
    """Return a text with so many threads of one flowop."""
    return texts.operation("stat", folder, threads)


def server_text(folder: Path, threads: int) -> str:
    """Return a text with so many threads of the web server, whose reads are of 1 MiB."""
    return personalities.webserver(folder, 0.01, threads)


PARTS = (
    Part("file entry", entry_text, ENTRIES, ENTRY_TARGET_B),
    Part("thread with 1 flowop", thread_text, THREADS, THREAD_TARGET_B),
    Part("thread of the web server", server_text, THREADS, THREAD_TARGET_B),
)


def each_b(part: Part, folder: Path, rounds: int) -> Spread:
    """Return the bytes for each of what a part counts."""
    file = folder / "text.f"
    ways = {n: lambda n=n: peak_b(part.text(folder, n), file) for n in part.numbers}
    few, many = part.numbers
    peaks = interleaved(ways, rounds)
    return Spread.of((a - b) / (many - few) for a, b in zip(peaks[many], peaks[few], strict=True))


def main() -> None:
    """Print a row for an entry, and for a thread of a small and of a large text."""
    asked = arguments()
    print_row(HEAD, WIDTHS)
    with tempfile.TemporaryDirectory(dir=asked.directory) as place:
        for part in PARTS:
            spent_b = each_b(part, Path(place), asked.rounds)
            target = f"< {part.target_b:,} {met(spent_b.median < part.target_b)}"
            print_row((part.name, f"{spent_b:,.0f}", target), WIDTHS)


if __name__ == "__main__":
    command.run(main)
