"""What it costs to record power, as a share of one core, and whether a sample is lost.

Meters without hardware deliver at their pace: at 1 Hz a Watts Up's records on a pseudo-terminal,
at 10 kHz two channels of blocks of int16, a block every 50 ms. The cost is the processor time of
the recording threads: reading, storing, parsing. A channel is a power of its own. While the fast
ones are recorded another process keeps each other core busy, and every sample has a number: what
stands in `power.parquet` is compared with what was sent.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from bench import command
from bench.rounds import met, print_row
from fsgreen.meters import Capture, Chunk, Meter, Readings
from fsgreen.meters import capture as capturing
from fsgreen.meters.emulator import EmulatedMeter
from fsgreen.meters.rawtrace import RawTrace
from fsgreen.trace import MeterInfo

RATE_HZ = 10_000
BLOCK = RATE_HZ // 20
CHANNELS = ("rail5", "rail12")
COUNT_W = 0.00122
SLOW_TARGET_PERCENT, FAST_TARGET_PERCENT = 0.1, 3.0

HEAD = ("recording", "seconds", "% of a core", "lost", "target")
WIDTHS = (30, 10, 12, 10, 30)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="example: python -m bench.capture_cost --minutes 10",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--minutes", type=float, default=0.5, help="of each recording (default: %(default)s)"
    )
    parser.add_argument(
        "--directory",
        type=Path,
        default=Path(tempfile.gettempdir()),
        help="where a folder for the traces is made, and removed (default: %(default)s)",
    )
    return parser.parse_args()


class Blocks:
    """A meter that delivers numbered samples at its pace, whenever it is read."""

    def __init__(self, name: str) -> None:
        self._info = MeterInfo(
            driver="numbered",
            model="generated",
            serial=name,
            boundary="modelled",
            covers=(name,),
            rate_hz=RATE_HZ,
            range_w=100.0,
            resolution_w=COUNT_W,
            gain_error=0.01,
            constant_error_w=0.01,
            source="generated",
        )
        self.sent_count = 0
        self._begin_s = float("inf")

    def describe(self) -> MeterInfo:
        """Return what the meter is."""
        return self._info

    def start(self) -> None:
        """Begin with sample 0."""
        self._begin_s = time.monotonic()
        self.sent_count = 0

    def read(self, timeout_s: float) -> Chunk | None:
        """Return the next block once its last sample is due, with those that are overdue."""
        due_s = self._begin_s + (self.sent_count + BLOCK) / RATE_HZ
        wait_s = due_s - time.monotonic()
        time.sleep(min(max(wait_s, 0.0), timeout_s))
        if wait_s > timeout_s:
            return None
        count = BLOCK * (1 + int((time.monotonic() - due_s) * RATE_HZ) // BLOCK)
        numbers = np.arange(self.sent_count, self.sent_count + count)
        self.sent_count += count
        return Chunk(time.monotonic(), (1 + numbers % 2**15).astype("<i2").tobytes())

    def stop(self) -> None:
        """Cease to deliver."""
        self._begin_s = float("inf")

    def close(self) -> None:
        """Release nothing."""


class BlocksParser:
    """Turns blocks into readings at even times."""

    def __init__(self, _: MeterInfo) -> None:
        self._count = 0
        self._begin_s = float("nan")

    def feed(self, chunk: Chunk) -> Readings:
        """Return the samples of a chunk."""
        samples = np.frombuffer(chunk.data, "<i2")
        if self._count == 0:
            self._begin_s = chunk.time_s - len(samples) / RATE_HZ
        places = np.arange(self._count, self._count + len(samples))
        self._count += len(samples)
        return Readings(self._begin_s + places / RATE_HZ, samples * COUNT_W)


@contextmanager
def busy_cores() -> Iterator[None]:
    """Keep every core but one busy."""
    spinners = [
        multiprocessing.get_context("spawn").Process(target=_spin, args=(os.getpid(),), daemon=True)
        for _ in range(len(os.sched_getaffinity(0)) - 1)
    ]
    for spinner in spinners:
        spinner.start()
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.terminate()
            spinner.join()


def _spin(parent: int) -> None:
    while os.getppid() == parent:
        sum(range(1_000_000))


def recorded(meters: Mapping[str, Meter], raw: Path, seconds: float) -> tuple[float, float]:
    """Record for so long; return the processor time and the duration in seconds."""
    with Capture(meters, raw) as capture:
        start_s = time.monotonic()
        threading.Event().wait(seconds)
        duration_s = time.monotonic() - start_s
    if capture.fault is not None:
        raise capture.fault
    return capture.cpu_s, duration_s


def lost_count(raw: Path, meters: Mapping[str, Blocks]) -> int:
    """Return how many samples that were sent do not stand in the raw trace, or at a wrong place."""
    trace, lost = RawTrace(raw), 0
    for name, meter in meters.items():
        expected = 0
        for readings in trace.readings(name):
            numbers = np.round(readings.power_w / COUNT_W).astype(int) - 1
            due = np.arange(expected, expected + len(numbers)) % 2**15
            lost += int((numbers != due).sum())
            expected += len(numbers)
        lost += meter.sent_count - expected
    return lost


def row(name: str, cpu_s: float, duration_s: float, lost: int | None, target: float) -> None:
    """Print a row."""
    percent = 100 * cpu_s / duration_s
    verdict = f"< {target:g} % {met(percent < target)}"
    if lost is not None:
        verdict += f", 0 lost {met(lost == 0)}"
    lost_text = "" if lost is None else str(lost)
    print_row((name, f"{duration_s:.0f}", f"{percent:.3f}", lost_text, verdict), WIDTHS)


def slow(folder: Path, seconds: float) -> None:
    """Record two emulated Watts Up at their real pace."""
    with ExitStack() as stack:
        meters: dict[str, Meter] = {}
        for name in ("system", "disk"):
            meter = EmulatedMeter(lambda: 100.0, name=name, covers=(name,), source="bench")
            stack.callback(meter.close)
            meters[name] = meter
        cpu_s, duration_s = recorded(meters, folder / "slow.raw", seconds)
    row("1 Hz x 2 meters", cpu_s, duration_s, None, SLOW_TARGET_PERCENT)


def fast(folder: Path, seconds: float) -> None:
    """Record the channels of blocks while all other cores are busy."""
    blocks = {name: Blocks(name) for name in CHANNELS}
    capturing.parser_of = BlocksParser  # type: ignore[assignment]
    rawtrace_parser(BlocksParser)
    with busy_cores():
        cpu_s, duration_s = recorded(blocks, folder / "fast.raw", seconds)
    lost = lost_count(folder / "fast.raw", blocks)
    row(f"{RATE_HZ:,} Hz x 2 channels", cpu_s, duration_s, lost, FAST_TARGET_PERCENT)


def main() -> None:
    """Print a row for slow meters and one for fast ones."""
    asked = arguments()
    print_row(HEAD, WIDTHS)
    with tempfile.TemporaryDirectory(dir=asked.directory) as place:
        for recording in (slow, fast):
            recording(Path(place), 60 * asked.minutes)


if __name__ == "__main__":
    command.run(main)
