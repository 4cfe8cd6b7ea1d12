"""A file server that reads ahead, over real sockets: the ratios of nfstricks03, in one run.

Needs root and FUSE. Files lie in a file system of the kernel on a simulated disk, in real time. For
each way of reading they are mounted anew, so that nothing is in memory, then served by `fsgreen-nfs
serve` and read by `fsgreen-nfs read` over TCP. Rates are simulated as far as the disk goes. What is
compared: cursors beside the default heuristic on strides, a large table beside a small one under
eight files, and SlowDown beside the default on everything.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import command, nfs
from bench.rounds import Spread, interleaved, met, print_row
from fsgreen.errors import FsgreenError
from fsgreen.simdisk import Disk, parameters
from fsgreen.testbeds import Testbed, open_testbed

STRIDES = (2, 4, 8)
FILES = 8
SMALL, LARGE = (4, 4), (1017, 32)
"""Slots and probes of the table: too few for the files, and those of later versions of FreeBSD."""
CURSORS_TARGET_X = 5.0
TABLE_TARGET_X = 5.0
SLOWDOWN_TARGET_X = 0.95
SIZE_B = 512 << 20
ONE = ("--workers", "1", "--ahead", "0")
LOADS: dict[str, tuple[str, ...]] = {
    "in order": ONE,
    "in order, 4 workers": ("--workers", "4", "--ahead", "4"),
    "in order, 6 % late": (*ONE, "--late-percent", "6"),
    **{f"{strides} strides": (*ONE, "--strides", str(strides)) for strides in STRIDES},
    f"{FILES} files": ("--workers", str(FILES), "--ahead", "0"),
}


@dataclass(frozen=True)
class Way:
    """A load, and the server that it is put on."""

    load: str
    heuristic: str
    table: tuple[int, int] = LARGE


@dataclass(frozen=True)
class Read:
    """What came of it: 10^6 B/s, and the share of reads that were taken up out of order."""

    rate_mb_s: float
    late_share: float


WAYS = [
    *(Way(load, heuristic) for load in LOADS for heuristic in ("default", "slowdown")),
    *(Way(f"{strides} strides", "cursors") for strides in STRIDES),
    Way(f"{FILES} files", "default", SMALL),
]


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(
        __doc__, example="sudo python -m bench.nfs_read_ahead --mib 32 --rounds 3", rounds=3
    )
    parser.add_argument(
        "--disk", default="wd200bb", help="the simulated one (default: %(default)s)"
    )
    parser.add_argument(
        "--disk-ahead-kib",
        type=int,
        default=0,
        help="that the disk reads ahead itself, into its own cache (default: %(default)s)",
    )
    parser.add_argument("--file-system", default="ext4", help="(default: %(default)s)")
    parser.add_argument(
        "--mib", type=command.positive, default=16, help="of each load (default: %(default)s)"
    )
    return parser.parse_args()


def profile(asked: argparse.Namespace, folder: Path) -> str:
    """Write the parameters of the disk with the read-ahead that is asked for; return the path."""
    line = f"read_ahead_kib = {asked.disk_ahead_kib}"
    text, changed = re.subn(r"(?m)^read_ahead_kib = \d+$", line, parameters(asked.disk))
    if changed != 1:
        raise FsgreenError(f"the disk {asked.disk} has no read_ahead_kib", next_step="another one")
    file = folder / "disk.toml"
    file.write_text(text)
    return str(file)


def write_files(folder: Path, mib: int) -> None:
    """Write a file of so many MiB, and as much in several."""
    (folder / "one").write_bytes(os.urandom(mib << 20))
    for nth in range(FILES):
        (folder / f"file{nth}").write_bytes(os.urandom((mib << 20) // FILES))


def measured(testbed: Testbed, way: Way) -> Read:
    """Read by a way, with nothing of it in memory."""
    folder = testbed.remount().directory
    slots, probes = map(str, way.table)
    table = ("--slots", slots, "--probes", probes)
    files = [f"file{nth}" for nth in range(FILES)] if way.load.endswith("files") else ["one"]
    with nfs.serving(folder, ["--heuristic", way.heuristic, *table]) as (address, summary):
        report = nfs.read(address, files, LOADS[way.load])
    return Read(report["mb_s"], summary["late_count"] / summary["reads_count"])


def print_rates(found: dict[Way, list[Read]]) -> None:
    """Print what clients got, and how many requests were out of order."""
    widths = (22, 10, 10, 24, 26)
    print_row(("load", "heuristic", "slots", "MB/s, simulated disk", "% out of order"), widths)
    for way, reads in found.items():
        rate = Spread.of(read.rate_mb_s for read in reads)
        late = Spread.of(100 * read.late_share for read in reads)
        row = (way.load, way.heuristic, str(way.table[0]), f"{rate:.2f}", f"{late:.2f}")
        print_row(row, widths)


def print_ratios(found: dict[Way, list[Read]]) -> None:
    """Print each ratio, of rates of the same round, beside its target."""
    widths = (40, 24, 14)
    print_row(("ratio", "", "target"), widths)

    def ratio(name: str, above: Way, below: Way, target_x: float) -> None:
        pairs = zip(found[above], found[below], strict=True)
        spread = Spread.of(a.rate_mb_s / b.rate_mb_s for a, b in pairs)
        verdict = f"{target_x:g} {met(spread.median >= target_x)}"
        print_row((name, f"{spread:.2f}", verdict), widths)

    for strides in STRIDES:
        load = f"{strides} strides"
        name = f"cursors / default, {load}"
        ratio(name, Way(load, "cursors"), Way(load, "default"), CURSORS_TARGET_X)
    load = f"{FILES} files"
    name = f"{LARGE[0]} slots / {SMALL[0]}, {load}"
    ratio(name, Way(load, "default"), Way(load, "default", SMALL), TABLE_TARGET_X)
    for load in LOADS:
        name = f"slowdown / default, {load}"
        ratio(name, Way(load, "slowdown"), Way(load, "default"), SLOWDOWN_TARGET_X)


def main() -> None:
    """Measure all ways in rounds, then print rates and ratios."""
    asked = arguments()
    if asked.mib < FILES:
        raise FsgreenError(f"{asked.mib} MiB are less than {FILES} files of 1", next_step="more")
    shares: list[float] = []

    def once(testbed: Testbed, way: Way) -> Read:
        read = measured(testbed, way)
        control = testbed.simulator()
        assert control is not None
        shares.append(control.ask("timing")["share"])
        return read

    with tempfile.TemporaryDirectory() as made:
        disk = Disk(name=profile(asked, Path(made)))
        with open_testbed("simdisk", folder=asked.directory, size_b=SIZE_B, disk=disk) as testbed:
            levels = {"file_system": asked.file_system, "option": "default"}
            write_files(testbed.prepare(levels).directory, asked.mib)
            found = interleaved({way: partial(once, testbed, way) for way in WAYS}, asked.rounds)
    print_rates(found)
    print()
    print_ratios(found)
    print(
        f"\n{asked.file_system} on {asked.disk}, which reads {asked.disk_ahead_kib} KiB ahead; "
        f"{asked.mib} MiB a load; answers of the disk on time: {Spread.of(shares):.3f}"
    )


if __name__ == "__main__":
    command.run(main)
