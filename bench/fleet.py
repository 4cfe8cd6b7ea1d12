"""What a fleet saves and costs: two testbeds of this machine, whose trials sleep.

Measured are two testbeds side by side against one after the other, how long a testbed rests between
two trials for what is brought home, and what the process of a worker takes of a processor while its
testbed is measured. The target of the first is 0.55, of the second 200 ms.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import command
from bench.rounds import Spread, met, print_row
from fsgreen.errors import FsgreenError
from fsgreen.fleet import certificates, record

TARGET_X = 0.55
TARGET_S = 0.2
TESTBEDS = ("one", "two")

STUDY = """
study: asleep
title: One nap and two
question: Do more naps take more joules?
seed: 7
baseline: {{workload: nap, file_system: ext4, naps: 1}}
bounds: {{others_percent: 101, idle_band_percent: 1000, budget_percent: 100}}
factors:
  naps: {{owner: workload, kind: count, label: "n{{}}"}}
workloads:
  nap:
    command: [sh, -c, "sleep {{measure_s}}; : {{naps}}"]
    size_mib: 1
matrices:
  all: {{workload: [nap], file_system: [ext4], naps: [1, 2]}}
profiles:
  quick:
    matrices: [all]
    blocks: {blocks}
    phases: {{idle_s: 1, warmup_s: 0, measure_s: 9, settle_limit_s: 120}}
    image_mib: 32
"""
HOME = """
import sys
from pathlib import Path
from fsgreen import fleet
fleet.measure("asleep", "quick", Path(sys.argv[1]), name=sys.argv[2])
"""

HEAD = ("quantity", "median (least to greatest)", "target")
WIDTHS = (46, 34, 14)


@dataclass(frozen=True)
class Round:
    """What one round found."""

    beside_x: float
    rested_s: float
    worker_share: float


def project(folder: Path, blocks: int, together: Sequence[str] = TESTBEDS) -> None:
    """Make a project with the study, and a fleet file for all testbeds and for each alone."""
    (folder / "studies").mkdir()
    (folder / "studies" / "asleep.yaml").write_text(STUDY.format(blocks=blocks))
    (folder / "params.yaml").write_text("campaigns: {}\n")
    certificates.make(folder / "certificates")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, testbeds in {"both": together, **{name: (name,) for name in together}}.items():
        listed = ", ".join(f'"{testbed}"' for testbed in testbeds)
        (folder / f"{name}.toml").write_text(
            f'home = "localhost:{port}"\ncertificates = "certificates"\ntestbeds = [{listed}]\n'
        )


@contextmanager
def workers(folder: Path) -> Iterator[Sequence[subprocess.Popen[bytes]]]:
    """Give the workers of both testbeds, which end with the block."""
    started = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "fsgreen", "fleet", "worker", "both.toml"),
                *("--name", name, "--testbed", "directory"),
            ],
            cwd=folder,
            env={**os.environ, "FSGREEN_MACHINE": f"{folder}-{name}"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for name in TESTBEDS
    ]
    try:
        for process in started:
            assert process.stdout is not None
            process.stdout.readline()  # that it waits for home: it has imported all that it needs
        yield started
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.communicate()


def measured_s(folder: Path, fleet: str, name: str) -> float:
    """Measure with a fleet file, and return how long that took, in seconds."""
    begin_s = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", HOME, f"{fleet}.toml", name],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise FsgreenError(f"home did not measure: {done.stderr.strip()}", where=folder)
    return time.monotonic() - begin_s


def processor_s(process: subprocess.Popen[bytes]) -> float:
    """Return what a process, without those it started, took of the processors so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def one_round(folder: Path, nth: int) -> Round:
    """Measure both testbeds side by side, then one after the other."""
    with workers(folder) as running:
        before_s = [processor_s(process) for process in running]
        beside_s = measured_s(folder, "both", f"beside{nth}")
        took_s = [
            processor_s(process) - was_s for process, was_s in zip(running, before_s, strict=True)
        ]
        after_s = sum(measured_s(folder, name, f"after{nth}-{name}") for name in TESTBEDS)
    posts = record.read(f"beside{nth}").posts.values()
    return Round(
        beside_s / after_s,
        sum(post.rested_s for post in posts) / sum(post.rests_count for post in posts),
        max(took_s) / beside_s,
    )


def main() -> None:
    """Print a row for each quantity."""
    parser = command.parser(__doc__, example="python -m bench.fleet --blocks 3", rounds=1)
    parser.add_argument(
        "--blocks", type=command.positive, default=6, help="of two trials each (default: 6)"
    )
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.directory) as place:
        folder = Path(place)
        os.environ["FSGREEN_DATA"] = str(folder / "data")
        project(folder, asked.blocks)
        rounds = [one_round(folder, nth) for nth in range(asked.rounds)]
    beside_x = Spread.of(one.beside_x for one in rounds)
    rested_s = Spread.of(one.rested_s for one in rounds)
    share = Spread.of(one.worker_share for one in rounds)
    print_row(HEAD, WIDTHS)
    is_fast, is_short = beside_x.median <= TARGET_X, rested_s.median <= TARGET_S
    print_row(("time side by side over one by one", f"{beside_x:.2f}", met(is_fast)), WIDTHS)
    print_row(("rest between two trials, s", f"{rested_s:.3f}", met(is_short)), WIDTHS)
    print_row(("a worker's share of a processor", f"{share:.4f}", ""), WIDTHS)
    if not (is_fast and is_short):
        raise SystemExit(1)


if __name__ == "__main__":
    command.run(main)
