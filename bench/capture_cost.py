"""What it costs to record power, as a share of one core, and whether a sample is lost.

At 1 Hz two emulated Watts Up are recorded at their real pace; at 10 kHz the volts and amperes of
one rail, which an emulated sensor in a process of its own sends over TCP every 50 ms. The cost is
the processor time of the recording threads: receiving, storing, parsing. While the sensor is
recorded, a process that does nothing else keeps each other core busy. Each of its samples is one
step of a saw-tooth, so that `power.raw`, parsed again, shows whether any is missing.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from bench import command
from bench.rounds import met, print_row
from fsgreen.meters import Capture, Meter, Settings, open_meters
from fsgreen.meters.core.emulation import EmulatedMeter
from fsgreen.meters.core.rawtrace import RawTrace
from fsgreen.meters.wattsup.driver import DRIVER
from fsgreen.meters.wattsup.emulator import Emulator

RATE_HZ = 10_000
TEETH = 1900
"""Steps of the saw-tooth."""
FIRST = 2100
"""The count of its lowest step: 0.1 A."""
SLOW_TARGET_PERCENT, FAST_TARGET_PERCENT = 0.1, 3.0

HEAD = ("recording", "seconds", "samples", "% of a core", "lost", "target")
WIDTHS = (24, 8, 12, 12, 6, 30)

SPAWN = multiprocessing.get_context("spawn")


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


@contextmanager
def busy_cores() -> Iterator[None]:
    """Keep every core but one busy."""
    spinners = [
        SPAWN.Process(target=_spin, args=(os.getpid(),), daemon=True)
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


def sensor(pipe: Connection) -> None:
    """Send blocks to who calls the port that `pipe` is told, until it is told something."""
    from fsgreen.meters.blocks.emulator import RAIL_5V
    from fsgreen.meters.blocks.emulator import Emulator as Sender
    from fsgreen.meters.blocks.sender import Link

    amperes = RAIL_5V[0]

    def load_a(time_s: np.ndarray) -> np.ndarray:
        counts = FIRST + np.rint(time_s * RATE_HZ).astype(np.int64) % TEETH
        return counts * amperes.gain + amperes.offset

    link = Link(("127.0.0.1", 0), listen=True)
    with Sender(link, load_a):
        pipe.send(link.port)
        pipe.recv()


@contextmanager
def sensor_port() -> Iterator[int]:
    """Run a sensor; give its port."""
    here, there = SPAWN.Pipe()
    process = SPAWN.Process(target=sensor, args=(there,), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        here.send("end")
        process.join()


def recorded(meters: Mapping[str, Meter], raw: Path, seconds: float) -> tuple[float, float]:
    """Record for so long; return the processor time and the duration in seconds."""
    with Capture(meters, raw) as capture:
        start_s = time.monotonic()
        time.sleep(seconds)
        duration_s = time.monotonic() - start_s
    if capture.fault is not None:
        raise capture.fault
    return capture.cpu_s, duration_s


def missing(raw: Path, name: str) -> tuple[int, int]:
    """Return how many samples a raw trace holds, and how many are missing between them."""
    held = lost = 0
    before = np.empty(0, np.int64)
    for readings in RawTrace(raw).readings(name):
        if readings.current_a is None or len(readings) == 0:
            continue
        counts = np.rint((readings.current_a + 2.0) / 0.001).astype(np.int64)
        steps = np.diff(np.concatenate((before, counts)))
        held += len(counts)
        lost += int(((steps - 1) % TEETH).sum())
        lost += sum("lost" in quality for quality in readings.flags.values())
        before = counts[-1:]
    return held, lost


def slow(folder: Path, seconds: float) -> tuple[str, ...]:
    """Record two emulated Watts Up; return the row."""
    with ExitStack() as stack:
        meters = {}
        for name in ("system", "disk"):
            meter = EmulatedMeter(
                DRIVER,
                Settings({"name": name, "driver": DRIVER.name}),
                Emulator,
                lambda: 100.0,
                covers=(name,),
                source="bench",
            )
            stack.callback(meter.close)
            meters[name] = meter
        cpu_s, duration_s = recorded(meters, folder / "slow.raw", seconds)
    percent = 100 * cpu_s / duration_s
    target = f"< {SLOW_TARGET_PERCENT:g} % {met(percent < SLOW_TARGET_PERCENT)}"
    held = sum(
        len(each) for name in meters for each in RawTrace(folder / "slow.raw").readings(name)
    )
    return ("1 Hz x 2 meters", f"{duration_s:.0f}", f"{held:,}", f"{percent:.3f}", "", target)


def fast(folder: Path, seconds: float) -> tuple[str, ...]:
    """Record the sensor while all other cores are busy; return the row."""
    with sensor_port() as port:
        entry: dict[str, object] = {
            "name": "rail",
            "driver": "blocks",
            "connect": f"127.0.0.1:{port}",
        }
        entry |= {"gain_error": 0.01, "constant_error_w": 0.01, "source": "bench"}
        meters = open_meters([entry], lambda: None)
        try:
            with busy_cores():
                cpu_s, duration_s = recorded(meters, folder / "fast.raw", seconds)
        finally:
            meters["rail"].close()
    held, lost = missing(folder / "fast.raw", "rail")
    percent = 100 * cpu_s / duration_s
    target = f"< {FAST_TARGET_PERCENT:g} % {met(percent < FAST_TARGET_PERCENT)}, "
    target += f"0 lost {met(lost == 0 and held > 0.99 * (duration_s - 1) * RATE_HZ)}"
    name = f"{RATE_HZ // 1000} kHz x 2 channels"
    return (name, f"{duration_s:.0f}", f"{2 * held:,}", f"{percent:.3f}", str(lost), target)


def main() -> None:
    """Print a row for slow meters and one for fast ones."""
    asked = arguments()
    print_row(HEAD, WIDTHS)
    with tempfile.TemporaryDirectory(dir=asked.directory) as place:
        for recording in (slow, fast):
            print_row(recording(Path(place), 60 * asked.minutes), WIDTHS)


if __name__ == "__main__":
    command.run(main)
