"""What a simulated disk costs beside its model, and how exactly it keeps its time.

The floor is what is left when the model is off (the instant clock): reads with direct I/O from a
loop device over the disk's file, beside the same from a loop device over a file on a tmpfs. Then
the model is on, and the server says how many of its answers were on time: within 2 % of the
service time after the plan, and never before it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench import command, programs
from bench.processes import run
from bench.rounds import Spread, interleaved, met, print_row
from fsgreen import paths
from fsgreen.errors import FsgreenError

PROGRAM = "fsgreen-simdisk"
SECTOR_B = 512
SIZE_B = 256 << 20
READ_AHEAD_KIB = 128
DISK, MEMORY = "simulated disk", "tmpfs"


@dataclass(frozen=True)
class Work:
    """Reads of one kind, and what the floor is to be.

    Attributes
    ----------
    depth : int
        Reads under way at once.
    block_b : int
        Bytes of each.
    order : str
        `random` or `sequential`.
    unit : str
        What is compared: `us` (median latency), `IOPS` or `MB/s`.
    target : float
        The most of a latency, the least of a rate.
    """

    depth: int
    block_b: int
    order: str
    unit: str
    target: float

    def value(self, reads: int, seconds: float, median_us: float) -> float:
        """Return what is compared."""
        rate = reads / seconds
        return {"us": median_us, "IOPS": rate, "MB/s": rate * self.block_b / 1e6}[self.unit]

    def is_met(self, value: float) -> bool:
        """Tell whether the target is met."""
        return value <= self.target if self.unit == "us" else value >= self.target


FLOOR = {
    "4 KiB, depth 1": Work(1, 4096, "random", "us", 15),
    "4 KiB, depth 32": Work(32, 4096, "random", "IOPS", 60_000),
    "1 MiB, sequential": Work(1, 1 << 20, "sequential", "MB/s", 900),
}
EXACT = {
    "4 KiB, depth 1": Work(1, 4096, "random", "IOPS", 0),
    "4 KiB, depth 32": Work(32, 4096, "random", "IOPS", 0),
    "128 KiB, sequential": Work(1, 128 << 10, "sequential", "MB/s", 0),
}
SHARE_TARGET = 0.99


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(
        __doc__, example="python -m bench.simdisk_floor --disk wd200bb --rounds 3", rounds=5
    )
    parser.add_argument(
        "--disk", default="wd200bb", help="whose model keeps its time (default: %(default)s)"
    )
    parser.add_argument(
        "--seconds", type=command.positive, default=2, help="of each run (default: %(default)s)"
    )
    return parser.parse_args()


@contextlib.contextmanager
def loop_over(file: Path) -> Iterator[Path]:
    """Yield a loop device with direct I/O where it is possible, and read ahead as for a disk."""
    attach = ["losetup", "--find", "--show", "--direct-io=on", str(file)]
    device = Path(run(attach).output.strip())
    try:
        queue = Path("/sys/block", device.name, "queue")
        (queue / "read_ahead_kb").write_text(str(READ_AHEAD_KIB))
        yield device
    finally:
        run(["losetup", "--detach", str(device)])


class Server:
    """A simulated disk, and orders to it."""

    def __init__(self, disk: str, folder: Path, clock: str) -> None:
        program = paths.program(PROGRAM)
        if program is None:
            raise FsgreenError("the engine is not installed", next_step="./run engine")
        control = folder / "control"
        (folder / "at").mkdir(exist_ok=True)
        self._process = subprocess.Popen(
            [
                *(program, "serve", disk, "--die-with-parent", "--clock", clock),
                *("--sectors", str(SIZE_B // SECTOR_B), "--store", str(folder / "store")),
                *("--at", str(folder / "at"), "--control", str(control)),
            ],
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            raise FsgreenError("the disk cannot be served: see above")
        self.ready: dict[str, Any] = json.loads(line)
        self.file = Path(self.ready["disk"])
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(control))
        self._lines = self._socket.makefile("rw")

    def order(self, **order: object) -> dict[str, Any]:
        """Give an order and return its answer."""
        self._lines.write(json.dumps(order) + "\n")
        self._lines.flush()
        answer: dict[str, Any] = json.loads(self._lines.readline())
        if not answer["ok"]:
            raise FsgreenError(answer["what"], next_step=answer["next"])
        return answer

    def close(self) -> None:
        """End the server."""
        self._lines.close()
        self._socket.close()
        self._process.terminate()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def read(loop: str, device: Path, work: Work, seconds: int) -> float:
    """Read from a device and return what is compared."""
    words = [str(device), str(work.depth), str(work.block_b), str(seconds), work.order]
    reads, elapsed_s, median_us = run([loop, *words]).output.split()
    return work.value(int(reads), float(elapsed_s), float(median_us))


def print_floor(loop: str, devices: dict[str, Path], asked: argparse.Namespace) -> None:
    """Print what reads cost with the model off, beside a loop device over memory."""
    widths = (18, 6, 30, 30, 22, 16)
    print_row(("read", "unit", DISK, MEMORY, "ratio", "target"), widths)
    for name, work in FLOOR.items():
        ways = {
            way: partial(read, loop, device, work, asked.seconds) for way, device in devices.items()
        }
        found = interleaved(ways, asked.rounds)
        ratios = [a / b for a, b in zip(found[DISK], found[MEMORY], strict=True)]
        disk = Spread.of(found[DISK])
        print_row(
            [
                name,
                work.unit,
                f"{disk:.1f}",
                f"{Spread.of(found[MEMORY]):.1f}",
                f"{Spread.of(ratios):.2f}",
                f"{work.target:g} {met(work.is_met(disk.median))}",
            ],
            widths,
        )


def print_exactness(loop: str, server: Server, device: Path, asked: argparse.Namespace) -> None:
    """Print how many answers were on time with the model on."""
    server.order(do="clock", to="real")
    widths = (22, 10, 12, 10, 8, 30, 16)
    names = ("read", "answers", "rate", "on time", "early", "late us p50 p90 p99 max", "target")
    print_row(names, widths)
    for name, work in EXACT.items():
        # The cost of an answer is learnt first.
        read(loop, device, work, asked.seconds)
        server.order(do="timing", reset=True)
        value = read(loop, device, work, asked.seconds * asked.rounds)
        timing = server.order(do="timing")
        late_us = [f"{timing['late_ns'][key] / 1e3:.1f}" for key in ("p50", "p90", "p99", "max")]
        print_row(
            [
                name,
                str(timing["requests"]),
                f"{value:.1f} {work.unit}",
                f"{timing['share']:.4f}",
                str(timing["early"]),
                " ".join(late_us),
                f"{SHARE_TARGET:.2f} {met(timing['share'] >= SHARE_TARGET)}",
            ],
            widths,
        )


def main() -> None:
    """Print the floor, then how exactly the model keeps its time."""
    asked = arguments()
    if os.geteuid() != 0:
        raise FsgreenError("loop devices need root", next_step="sudo python -m bench.simdisk_floor")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=asked.directory)))
        loop = programs.build_loop("device", folder)
        server = Server(asked.disk, folder, "instant")
        stack.callback(server.close)
        plain = folder / "plain"
        disk = stack.enter_context(loop_over(server.file))
        for file in (plain, disk):
            with file.open("wb") as opened:
                for _ in range(SIZE_B >> 20):
                    opened.write(os.urandom(1 << 20))
        memory = stack.enter_context(loop_over(plain))
        print_floor(loop, {DISK: disk, MEMORY: memory}, asked)
        print(f"\n{server.ready['model']}; privileges: {server.ready['privileges']}")
        print_exactness(loop, server, disk, asked)


if __name__ == "__main__":
    command.run(main)
