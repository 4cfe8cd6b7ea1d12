"""What several cores save of a reduction: two processes, and two cores that are lent, against one.

A campaign is made of synthetic trials as by `bench.analysis_rate` and reduced by each way in turns,
from hashes to tables, on this machine. Processes are started and import all they need each time;
the cores that are lent wait. The tables of all ways must be the same bytes. Nothing that is reduced
here was measured. The target is 0.6 for the processes.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import analysis_rate, command
from bench.analysis_rate import CAMPAIGN
from bench.rounds import Spread, interleaved, met, print_row
from fsgreen import paths, reduce
from fsgreen.cluster import Borrowed, at
from fsgreen.errors import FsgreenError
from fsgreen.executors import Executor, Processes, entered
from fsgreen.fleet import certificates

CORES = 2
TARGET_X = 0.6
TABLES = ("trials", "series", "latency", "finishes", "power_over_time")

HEAD = ("way", "seconds", "of one process", "target")
WIDTHS = (26, 24, 24, 14)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(
        __doc__, example="python -m bench.reduce_cores --trials 500 --rounds 1", rounds=3
    )
    parser.add_argument(
        "--trials", type=command.positive, default=1000, help="at least (default: %(default)s)"
    )
    parser.add_argument(
        "--seconds", type=command.positive, default=600, help="of a trial (default: %(default)s)"
    )
    return parser.parse_args()


@contextmanager
def lent(folder: Path) -> Iterator[Borrowed]:
    """Give cores of this machine, lent by a process of their own."""
    certificates.make(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"localhost:{free.getsockname()[1]}"
    cluster = Borrowed(at(address, folder))
    lend = [sys.executable, "-m", "fsgreen", "lend", address, "--jobs", str(CORES)]
    with cluster.gathering():
        process = subprocess.Popen(
            [*lend, "--certificates", str(folder)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            process.stdout.readline()  # that they are lent
            yield cluster
        finally:
            process.terminate()
            process.communicate()


def took_s(executor: Executor) -> float:
    """Reduce the campaign, and return how long that took in seconds."""
    begin_s = time.perf_counter()
    with entered(executor):
        reduce.write(CAMPAIGN)
    return time.perf_counter() - begin_s


def tables() -> list[bytes]:
    """Return the tables that were made last."""
    return [(paths.results(CAMPAIGN) / f"{name}.csv").read_bytes() for name in TABLES]


def same_s(executor: Executor, alone: list[bytes]) -> float:
    """Reduce as `took_s` does; raises FsgreenError if the tables are not those of one process."""
    seconds_s = took_s(executor)
    if tables() != alone:
        raise FsgreenError("other tables came out", where=paths.results(CAMPAIGN))
    return seconds_s


def main() -> None:
    """Print a row for each way; the campaign is removed."""
    asked = arguments()
    with tempfile.TemporaryDirectory(dir=asked.directory) as place:
        os.environ["FSGREEN_DATA"] = str(Path(place) / "data")
        plan = analysis_rate.plan_of(asked.trials, asked.seconds)
        analysis_rate.make(plan)
        print(f"{len(plan.trials)} trials of {asked.seconds} s")
        with lent(Path(place) / "certificates") as cluster:
            took_s(Processes(1))  # once, so that all finds the files in memory
            alone = tables()
            executors: dict[str, Executor] = {
                "one process": Processes(1),
                f"{CORES} processes": Processes(CORES),
                f"{CORES} lent cores": cluster,
            }
            ways = {name: lambda way=way: same_s(way, alone) for name, way in executors.items()}
            seconds_s = interleaved(ways, asked.rounds)
    print_row(HEAD, WIDTHS)
    one, several, _ = executors
    for name, each_s in seconds_s.items():
        ratio_x = Spread.of(its / own for its, own in zip(each_s, seconds_s[one], strict=True))
        is_met = ratio_x.median <= TARGET_X
        target = f"{TARGET_X} {met(is_met)}" if name == several else ""
        print_row((name, f"{Spread.of(each_s):.1f}", f"{ratio_x:.2f}", target), WIDTHS)


if __name__ == "__main__":
    command.run(main)
