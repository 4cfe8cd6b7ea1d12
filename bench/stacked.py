"""GreenFS beside mergerfs and the folder below: processor time of small files, creation, reads.

All ways lie on one file system. Processor time is that of the working program and of the daemon; in
the way with a remote it includes that of bringing all there, until it holds all. One and the same
file is read through the mount and in the folder below in turns, as another file lies elsewhere on
the disk. Root reads through the kernel's passthrough, and another user through the daemon: both are
worth a run. mergerfs (apt-get install mergerfs) has the options of its own. In memory nothing is
cold, and ext4 looks for an inode that was not just freed at each creation: an XFS that is otherwise
empty serves best. With `--source`, a folder in which `--make` compiles something is copied to each
way and compiled there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from statistics import median

from bench import command, programs
from bench.processes import run
from bench.rounds import Spread, interleaved, met, print_row
from fsgreen import greenfs
from fsgreen.errors import FsgreenError

NATIVE, MERGED = "the folder below", "mergerfs"
ALONE, PROTECTED = "greenfs, flash alone", "greenfs, with a remote"
TICKS_HZ = os.sysconf("SC_CLK_TCK")
COLD_TARGET, WARM_TARGET, WARM_BY_DAEMON_TARGET = 0.95, 0.90, 0.33
COMPILE_TARGET_X = 1.024
"""What the module of the paper took on its flash."""

HEAD = ("way", "CPU us a cycle", "creates/s", "cold MB/s", "warm MB/s", "compile s")
WIDTHS = (23, 22, 25, 21, 21, 20)
DIGITS = (1, 0, 0, 0, 1)
UNMOUNT = ("umount",) if os.geteuid() == 0 else ("fusermount3", "-u")
TURNS = 6
"""Reads of the large file in each way, cold and warm."""

OTHERS = 100
"""Files in the folder in which another one comes and goes."""


@dataclass(frozen=True)
class Work:
    """What one way took in one round."""

    cycle_cpu_us: float
    creates_per_s: float
    cold_mb_s: float
    warm_mb_s: float
    compile_s: float
    cold_x: float
    """The rate of cold reads over that in the folder below, in turns."""
    warm_x: float


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(
        __doc__, example="sudo .venv/bin/python -m bench.stacked --directory /mnt", rounds=9
    )
    parser.add_argument("--cycles", type=command.positive, default=5000, help="(default: 5000)")
    parser.add_argument("--creates", type=command.positive, default=10000, help="(default: 10000)")
    parser.add_argument("--mib", type=command.positive, default=512, help="to read (default: 512)")
    parser.add_argument("--source", type=Path, help="a folder to compile, such as that of OpenSSH")
    parser.add_argument("--make", default="make", help="what compiles it (default: make)")
    return parser.parse_args()


@dataclass(frozen=True)
class Mounted:
    """Where programs work, who serves it, and how one waits until all of it is done."""

    at: Path
    pid: int | None = None
    wait: Callable[[], object] = lambda: None


Way = Callable[[Path], AbstractContextManager[Mounted]]
"""Mounts a folder somehow."""


@contextmanager
def served(command: Sequence[str], at: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Have a program serve a mount, and end."""
    at.mkdir()
    daemon = subprocess.Popen([*command, str(at)], stdout=subprocess.DEVNULL)
    while not at.is_mount():
        if daemon.poll() is not None:
            raise FsgreenError(f"{command[0]} ended", where=at, next_step="fusermount3 --version")
        time.sleep(0.01)
    try:
        yield daemon
    finally:
        run([*UNMOUNT, str(at)])
        daemon.wait()


@contextmanager
def merged(below: Path) -> Iterator[Mounted]:
    """Mount it by mergerfs."""
    at = below.with_name("mergerfs")
    with served(["mergerfs", "-f", str(below)], at) as daemon:
        yield Mounted(at, daemon.pid)


@contextmanager
def stacked(below: Path, *options: str | Path) -> Iterator[Mounted]:
    """Mount it by GreenFS, with its journal."""
    at = below.with_name("greenfs")
    command = [greenfs.program(), "mount", "--foreground", "--flash", str(below)]

    def wait() -> None:
        while options and "holds all" not in greenfs.ask("status", "--flash", below):
            time.sleep(0.2)

    with served([*command, *map(str, options)], at) as daemon:
        yield Mounted(at, daemon.pid, wait)


def protected(below: Path) -> AbstractContextManager[Mounted]:
    """Mount it by GreenFS with a remote on the same file system."""
    remote = below.with_name("remote")
    remote.mkdir()
    return stacked(below, "--remote", remote)


WAYS: dict[str, Way] = {
    NATIVE: lambda below: nullcontext(Mounted(below)),
    MERGED: merged,
    ALONE: stacked,
    PROTECTED: protected,
}


def daemon_s(pid: int | None) -> float:
    """Return the processor time of a daemon so far in seconds, to a tick of the clock."""
    if pid is None:
        return 0.0
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, times)) / TICKS_HZ


def took(loop: str, kind: str, folder: Path, count: int) -> tuple[float, float]:
    """Return seconds, and those of processor time, of the program that works."""
    wall_s, user_s, system_s = map(float, run([loop, kind, str(folder), str(count)]).output.split())
    return wall_s, user_s + system_s


def forget(file: Path) -> None:
    """Drop a file from the kernel's memory, which takes nobody's rights."""
    fd = os.open(file, os.O_RDONLY)
    try:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)


def compiled(asked: argparse.Namespace, folder: Path) -> float:
    """Return the seconds in which a source compiles here; not a number if none was asked for."""
    if asked.source is None:
        return float("nan")
    shutil.copytree(asked.source, folder, symlinks=True)
    return run(["sh", "-c", f"cd '{folder}' && {asked.make}"]).wall_s


def cold(loop: str, folder: Path, files: Sequence[Path]) -> float:
    """Return the seconds in which the file `large` of a folder is read, none of it in memory."""
    for file in files:
        forget(file)
    return took(loop, "read", folder, 1)[0]


def warm(loop: str, folder: Path) -> float:
    """Return the seconds in which the file is read a second time."""
    took(loop, "read", folder, 1)
    return took(loop, "read", folder, 1)[0]


def in_turns(read: Callable[[Path], float], mount: Path, below: Path) -> tuple[float, float]:
    """Return the seconds of a read through a mount and in the folder below: the medians of turns.

    Which comes first changes from turn to turn.
    """
    times_s: dict[Path, list[float]] = {mount: [], below: []}
    for turn in range(TURNS):
        for folder in (mount, below) if turn % 2 else (below, mount):
            times_s[folder].append(read(folder))
    return median(times_s[mount]), median(times_s[below])


def measured(asked: argparse.Namespace, loop: str, way: Way) -> Work:
    """Do all of the work in one way."""
    with tempfile.TemporaryDirectory(dir=asked.directory) as place:
        below = Path(place, "below")
        below.mkdir()
        with way(below) as mount:
            (mount.at / "large").write_bytes(os.urandom(asked.mib << 20))
            mount.wait()
            files = (mount.at / "large", below / "large")
            cold_s, cold_below_s = in_turns(partial(cold, loop, files=files), mount.at, below)
            warm_s, warm_below_s = in_turns(partial(warm, loop), mount.at, below)
            for name in ("cycles", "created"):
                (mount.at / name).mkdir()
            took(loop, "create", mount.at / "cycles", OTHERS)
            mount.wait()
            before_s = daemon_s(mount.pid)
            _, program_s = took(loop, "cycle", mount.at / "cycles", asked.cycles)
            mount.wait()
            cpu_s = program_s + daemon_s(mount.pid) - before_s
            create_s, _ = took(loop, "create", mount.at / "created", asked.creates)
            mount.wait()
            compile_s = compiled(asked, mount.at / "source")
    large_mb = (asked.mib << 20) / 1e6
    return Work(
        cpu_s / asked.cycles * 1e6,
        asked.creates / create_s,
        large_mb / cold_s,
        large_mb / warm_s,
        compile_s,
        cold_below_s / cold_s,
        warm_below_s / warm_s,
    )


def told(name: str, what: str, over: str, ratio: Spread, bound: str, target: float) -> None:
    """Print what GreenFS takes or does over another way, and if that is right."""
    is_met = ratio.median >= target if bound == "at least" else ratio.median <= target
    print(f"{name}: {what}, over {over}: {ratio:.3f}; {bound} {target:g}: {met(is_met)}")


def compare(found: dict[str, list[Work]], what: str, other: str, bound: str, target: float) -> None:
    """Compare GreenFS with another way in the same round."""
    for name in (ALONE, PROTECTED):
        pairs = zip(found[name], found[other], strict=True)
        ratio = Spread.of(getattr(own, what) / getattr(its, what) for own, its in pairs)
        told(name, what, other, ratio, bound, target)


def compare_reads(found: dict[str, list[Work]], what: str, target: float) -> None:
    """Compare reads of one file through GreenFS with those in the folder below it."""
    for name in (ALONE, PROTECTED):
        ratio = Spread.of(getattr(work, what) for work in found[name])
        told(name, what.replace("_x", " reads"), "the same file below", ratio, "at least", target)


def main() -> None:
    """Print a row for each way, and whether GreenFS is as fast as it has to be."""
    asked = arguments()
    greenfs.program()
    has_mergerfs = shutil.which("mergerfs") is not None
    with tempfile.TemporaryDirectory() as programs_place:
        loop = programs.build_loop("stacked", Path(programs_place))
        found = interleaved(
            {
                name: partial(measured, asked, loop, way)
                for name, way in WAYS.items()
                if has_mergerfs or name != MERGED
            },
            asked.rounds,
        )
    print_row(HEAD, WIDTHS)
    for name, works in found.items():
        spreads = [Spread.of(values) for values in zip(*map(astuple, works), strict=True)]
        texts = [
            f"{spread:.{d}f}" for spread, d in zip(spreads[: len(DIGITS)], DIGITS, strict=True)
        ]
        print_row((name, *texts), WIDTHS)
    if has_mergerfs:
        compare(found, "cycle_cpu_us", MERGED, "at most", 1)
        compare(found, "creates_per_s", MERGED, "at least", 1)
    compare_reads(found, "cold_x", COLD_TARGET)
    compare_reads(found, "warm_x", WARM_TARGET if os.geteuid() == 0 else WARM_BY_DAEMON_TARGET)
    if asked.source is not None:
        compare(found, "compile_s", NATIVE, "at most", COMPILE_TARGET_X)


if __name__ == "__main__":
    command.run(main)
