"""GreenFS beside mergerfs and the folder below: processor time of small files, creation, reads.

All ways lie on one file system. Processor time is that of the working program and of the daemon; in
the way with a remote it includes that of bringing all there, until it holds all. One and the same
file is read through the mount and in the folder below in turns, as another file lies elsewhere on
the disk. Root reads through the kernel's passthrough, and another user through the daemon: both are
worth a run. mergerfs (apt-get install mergerfs) has the options of its own. In memory nothing is
cold, and ext4 looks for an inode that was not just freed at each creation: an XFS that is otherwise
empty serves best. With `--programs`, OpenSSH of Debian 12 is compiled in each way, and its Emacs
starts from a cold cache, in turns with the folder below (docs/workloads.md).
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from statistics import median

from bench import command, programs
from bench.processes import run
from bench.rounds import Spread, interleaved, met, print_row
from bench.ways import ALONE, MERGED, NATIVE, PROTECTED, WAYS, Mounted, Way
from fsgreen import greenfs
from fsgreen.workloads import Workload, load_workload

TICKS_HZ = os.sysconf("SC_CLK_TCK")
COLD_TARGET, WARM_TARGET, WARM_BY_DAEMON_TARGET = 0.95, 0.90, 0.33
COMPILE_TARGET_X = 1.024
"""What the module of the paper took on its flash."""

START_TARGET_X = 1.02

HEAD = ("way", "CPU us a cycle", "creates/s", "cold MB/s", "warm MB/s", "compile s")
WIDTHS = (23, 22, 25, 21, 21, 20)
DIGITS = (1, 0, 0, 0, 1)
TURNS = 6
"""Reads of the large file in each way, cold and warm."""

SEED, LONGEST_S = 1, 3600.0
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
    start_x: float
    """The time in which Emacs starts over that in the folder below, in turns."""


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(
        __doc__, example="sudo .venv/bin/python -m bench.stacked --directory /mnt", rounds=9
    )
    parser.add_argument("--cycles", type=command.positive, default=5000, help="(default: 5000)")
    parser.add_argument("--creates", type=command.positive, default=10000, help="(default: 10000)")
    parser.add_argument("--mib", type=command.positive, default=512, help="to read (default: 512)")
    parser.add_argument(
        "--programs", action="store_true", help="compile OpenSSH and start Emacs, too"
    )
    return parser.parse_args()


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
    """Drop a file that is on its disk from the kernel's memory, which takes nobody's rights."""
    fd = os.open(file, os.O_RDONLY)
    try:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)


def taken(workload: Workload, folder: Path) -> float:
    """Return the seconds of a run of a workload on files that it prepared here."""
    return workload.run(folder, SEED, 0.0, LONGEST_S).summary.duration_s


def compiled(asked: argparse.Namespace, folder: Path) -> float:
    """Return the seconds in which OpenSSH compiles here; not a number if nobody asked for it."""
    if not asked.programs:
        return math.nan
    openssh = load_workload("openssh")
    folder.mkdir()
    openssh.prepare(folder, SEED)
    return taken(openssh, folder)


def started(asked: argparse.Namespace, mount: Mounted, below: Path) -> float:
    """Return in how many times the time below Emacs starts, nothing of it in memory, in turns."""
    if not asked.programs or mount.at == below:
        return math.nan
    emacs, name = load_workload("emacs"), "emacs"
    (mount.at / name).mkdir()
    emacs.prepare(mount.at / name, SEED)
    mount.wait()
    os.sync()

    def start(folder: Path) -> float:
        for place in (mount.at, below):
            for file in (place / name).rglob("*"):
                if file.is_file() and not file.is_symlink():
                    forget(file)
        return taken(emacs, folder / name)

    through_s, below_s = in_turns(start, mount.at, below)
    return through_s / below_s


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
            os.sync()
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
            start_x = started(asked, mount, below)
    large_mb = (asked.mib << 20) / 1e6
    return Work(
        cpu_s / asked.cycles * 1e6,
        asked.creates / create_s,
        large_mb / cold_s,
        large_mb / warm_s,
        compile_s,
        cold_below_s / cold_s,
        warm_below_s / warm_s,
        start_x,
    )


def asked_of(asked: argparse.Namespace, way: str) -> argparse.Namespace:
    """Return what is asked of a way: of mergerfs no programs, which nothing is held against."""
    return argparse.Namespace(**{**vars(asked), "programs": asked.programs and way != MERGED})


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


def compare_below(
    found: dict[str, list[Work]], what: str, called: str, bound: str, target: float
) -> None:
    """Compare GreenFS with the folder below it, of which the same files were read in turns."""
    for name in (ALONE, PROTECTED):
        ratio = Spread.of(getattr(work, what) for work in found[name])
        told(name, called, "the same files below", ratio, bound, target)


def main() -> None:
    """Print a row for each way, and whether GreenFS is as fast as it has to be."""
    asked = arguments()
    greenfs.program()
    if asked.programs:
        for name in ("openssh", "emacs"):
            load_workload(name).check()
    has_mergerfs = shutil.which("mergerfs") is not None
    with tempfile.TemporaryDirectory() as programs_place:
        loop = programs.build_loop("stacked", Path(programs_place))
        found = interleaved(
            {
                name: partial(measured, asked_of(asked, name), loop, way)
                for name, way in WAYS.items()
                if has_mergerfs or name != MERGED
            },
            asked.rounds,
        )
    digits = DIGITS if asked.programs else DIGITS[:-1]
    widths = WIDTHS[: 1 + len(digits)]
    print_row(HEAD[: len(widths)], widths)
    for name, works in found.items():
        values = list(zip(*map(astuple, works), strict=True))[: len(digits)]
        texts = [f"{Spread.of(some):.{d}f}" for some, d in zip(values, digits, strict=True)]
        print_row((name, *texts), widths)
    if has_mergerfs:
        compare(found, "cycle_cpu_us", MERGED, "at most", 1)
        compare(found, "creates_per_s", MERGED, "at least", 1)
    warm_target = WARM_TARGET if os.geteuid() == 0 else WARM_BY_DAEMON_TARGET
    compare_below(found, "cold_x", "cold reads", "at least", COLD_TARGET)
    compare_below(found, "warm_x", "warm reads", "at least", warm_target)
    if asked.programs:
        compare(found, "compile_s", NATIVE, "at most", COMPILE_TARGET_X)
        compare_below(found, "start_x", "start of Emacs", "at most", START_TARGET_X)


if __name__ == "__main__":
    command.run(main)
