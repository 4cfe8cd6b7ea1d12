"""Whether a trial larger than memory is reduced, and what a year of samples would take.

Trials of two channels with 10,000 samples a second each, made from random counts of a converter,
are reduced from hashes to tables at three lengths, each in a process of its own that may have no
more than `ALLOWED_B` of memory beside its programs: the longest holds many times as much. Nothing
that is reduced here was measured. A year is extrapolated from the longest; how far time and memory
grow with length says whether it may be.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from bench import analysis_rate, command, reduce_rate
from bench.analysis_rate import CAMPAIGN
from bench.reduce_rate import METERS, RATE_HZ
from bench.rounds import met, print_row
from fsgreen import design, paths, reduce
from fsgreen.meters.core.readings import Readings

ALLOWED_B = 512 << 20
SECONDS = (100, 1000, 10_000)
SAMPLE_B = 16
"""Of a time and a power in memory."""

YEAR_S = 365 * 24 * 3600
GROWTH_TARGET = 1.1
"""The exponent of time in length: 1 is proportional to it."""

HEAD = (
    "samples",
    "held at once, MB",
    "on disk, MB",
    "peak, MB",
    "seconds",
    "processor s",
    "million/s",
)
WIDTHS = (14, 18, 12, 10, 10, 12, 12)


@dataclass(frozen=True)
class Took:
    """What one length took: samples, bytes on the disk, greatest resident memory, times."""

    samples: int
    disk_b: int
    peak_b: int
    wall_s: float
    cpu_s: float

    @property
    def rate_hz(self) -> float:
        """Return samples reduced in a second of a processor."""
        return self.samples / self.cpu_s


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(
        __doc__, example="python -m bench.long_trace --seconds 10 100 1000", rounds=1
    )
    parser.set_defaults(directory=Path(tempfile.gettempdir()))
    parser.add_argument(
        "--seconds",
        type=command.positive,
        nargs=3,
        default=SECONDS,
        help="lengths, the longest last (default: 100 1000 10000, of which the last is 200 million "
        "samples)",
    )
    return parser.parse_args()


def make(seconds: int) -> design.Plan:
    """Write a campaign of one trial of so many seconds."""
    plan = analysis_rate.plan_of(1, seconds)
    meters = {name: reduce_rate.info(name) for name in METERS}
    analysis_rate.begin(plan, meters)
    analysis_rate.write_trial(plan.hash, plan.profile, plan.trials[0], meters, samples)
    return plan


def samples(_rng: np.random.Generator, end_s: float) -> Iterator[tuple[str, Iterator[Readings]]]:
    """Yield the readings of each channel from a second before the trial to one behind it."""
    for seed, name in enumerate(METERS):
        yield name, reduce_rate.blocks(seed, math.ceil(end_s) + 2, begin_s=-1.0)


def within(allowed_b: int) -> tuple[int, float, float]:
    """Reduce the campaign with so much memory beside programs; return the peak and both times."""
    import pandas as pd

    pd.DataFrame({"quality": ["ok"]}).to_parquet(os.devnull)  # imports what it needs of pyarrow
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit_b = pages * resource.getpagesize() + allowed_b
    resource.setrlimit(resource.RLIMIT_AS, (limit_b, limit_b))
    begin_s, begin_cpu_s = time.perf_counter(), time.process_time()
    reduce.write(CAMPAIGN)
    wall_s, cpu_s = time.perf_counter() - begin_s, time.process_time() - begin_cpu_s
    peak_b = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak_b, wall_s, cpu_s


def took(seconds: int, folder: Path) -> Took:
    """Make a trial and reduce it; the files are removed."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        os.environ["FSGREEN_DATA"] = place
        make(seconds)
        (file,) = paths.raw(CAMPAIGN).glob("trials/*/power.parquet")
        disk_b = file.stat().st_size
        count = pq.read_metadata(file).num_rows
        peak_b, wall_s, cpu_s = reduce_rate.apart(within, ALLOWED_B)
    return Took(count, disk_b, peak_b, wall_s, cpu_s)


def main() -> None:
    """Print a row for each length, then a year."""
    asked = arguments()
    done = [took(seconds, asked.directory) for seconds in asked.seconds]
    print_row(HEAD, WIDTHS)
    for one in done:
        cells = (
            f"{one.samples:,}",
            f"{one.samples * SAMPLE_B / 1e6:,.0f}",
            f"{one.disk_b / 1e6:,.0f}",
            f"{one.peak_b / 1e6:,.0f}",
            f"{one.wall_s:.2f}",
            f"{one.cpu_s:.2f}",
            f"{one.rate_hz / 1e6:.1f}",
        )
        print_row(cells, WIDTHS)
    *_, shorter, longest = done
    growth = math.log(longest.cpu_s / shorter.cpu_s, longest.samples / shorter.samples)
    target = f"at most {GROWTH_TARGET} {met(growth <= GROWTH_TARGET)}"
    print(
        f"from the second to the third, time grows as length to the power of {growth:.2f}: {target}"
    )
    year = len(METERS) * RATE_HZ * YEAR_S
    print(
        f"a year has {year / 1e9:,.0f} billion samples: {year / longest.rate_hz / 3600:.1f} hours "
        f"of a processor, {year * longest.disk_b / longest.samples / 1e12:.2f} TB"
    )


if __name__ == "__main__":
    command.run(main)
