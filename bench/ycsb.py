"""Whether our YCSB does what YCSB's own client does on RocksDB, as fast, in one run.

YCSB's core and RocksDB's Java library come from Maven Central; a table of one class in bench/java
joins them. Both work with the same options, by turns: on A and B each on a database of its own with
the same records, on C both on ours, as each has merged its files in its own way. For that, ours is
to have the version of RocksDB that bench/java/pom.xml names. On C, where nothing is written, they
should agree within 10 %: where the kernel's memory answers, the clients' own processor time
decides; with direct reads, as of a database larger than memory, the device does mostly. On A and B
both read a record before they replace it; `blind` is ours without that. `a read` is the mean that
each client says: YCSB's times the call of its table in whole microseconds, rounded down; ours also
chooses the record meanwhile.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

from bench import command
from bench.processes import run
from bench.rounds import Spread, interleaved, met, print_row
from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.workloads.ycsb import MEMTABLES_MIB, PROGRAM

JAVA = Path(__file__).parent / "java"
FULL = 12_000_000
"""Records of massie25, for which the memory for writes is that of YCSB's binding."""

RECORD_B = 4096
READS = {"a": 0.5, "b": 0.95, "c": 1.0}
CASES = (("a", False), ("b", False), ("c", False), ("c", True))
"""A workload, and whether reads are direct."""

OURS, THEIRS = "ours", "theirs"

AGREE = 0.10
HEAD = (
    "workload x threads",
    "ours (ops/s)",
    "YCSB's (ops/s)",
    "blind (ops/s)",
    "ours over YCSB's",
    "a read, ours (us)",
    "a read, YCSB's (us)",
)
WIDTHS = (20, 28, 28, 28, 26, 20, 20)


class Run(NamedTuple):
    """What a client says of one run."""

    throughput_ops_s: float
    read_us: float
    """Mean."""


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(__doc__, example="python -m bench.ycsb --rounds 3", rounds=3)
    parser.add_argument("--records", type=command.positive, default=60_000)
    parser.add_argument("--seconds", type=command.positive, default=10, help="of a run")
    return parser.parse_args()


def main() -> None:
    """Build YCSB's client, load both databases, and compare."""
    asked = arguments()
    with (
        tempfile.TemporaryDirectory(dir=asked.directory, prefix="ycsb-") as place,
        tempfile.TemporaryDirectory(prefix="ycsb-jars-") as built,
    ):
        folder = Path(place)
        ours, theirs = own_options(folder, asked.records), client(Path(built), asked.records)
        our_database, their_database = (folder / name for name in (OURS, THEIRS))
        their_database.mkdir()
        run([*theirs, *on(their_database), "-load", "-p", f"recordcount={asked.records}"])
        run([required(PROGRAM), "load", *ours])
        print_row(HEAD, WIDTHS)
        for (mix, direct), threads in product(CASES, (1, 4)):
            database = our_database if READS[mix] == 1 else their_database
            compare(mix, threads, direct, ours, [*theirs, *on(database)], asked)


def compare(
    mix: str,
    threads: int,
    direct: bool,
    ours: list[str],
    theirs: list[str],
    asked: argparse.Namespace,
) -> None:
    """Print rates of the ways on one workload, whether they agree, and how long reads take."""
    own = [required(PROGRAM), "run", *ours, f"--workload={mix}", f"--threads={threads}"]
    own += [f"--duration={asked.seconds}", *["--direct-reads"] * direct]
    theirs = [*theirs, "-p", f"direct_reads={json.dumps(direct)}"]
    ways: dict[str, Callable[[], Run]] = {
        OURS: partial(run_ours, own),
        THEIRS: partial(run_theirs, theirs, mix, threads, asked),
    }
    if READS[mix] < 1:
        ways["blind"] = partial(run_ours, [*own, "--blind-updates"])
    found = interleaved(ways, asked.rounds)
    rates = {way: Spread.of([ran.throughput_ops_s for ran in runs]) for way, runs in found.items()}
    both = (OURS, THEIRS)
    ratios = Spread.of(
        [
            our.throughput_ops_s / their.throughput_ops_s
            for our, their in zip(*(found[way] for way in both), strict=True)
        ]
    )
    verdict = "" if READS[mix] < 1 else f" {met(abs(ratios.median - 1) <= AGREE)}"
    print_row(
        [
            f"{mix.upper()} x {threads}{', direct' if direct else ''}",
            *(f"{rates[way]:,.0f}" for way in both),
            f"{rates['blind']:,.0f}" if "blind" in rates else "-",
            f"{ratios:.2f}{verdict}",
            *(f"{Spread.of([ran.read_us for ran in found[way]]):.1f}" for way in both),
        ],
        WIDTHS,
    )


def run_ours(order: list[str]) -> Run:
    """Run our program."""
    [done] = json.loads(run(order).output)["runs"]
    [read] = (op for op in done["measure"]["flowops"] if op["operation"] == "read")
    read_us = read["latency"]["sum_ns"] / read["work_ops"] / 1000
    return Run(done["measure"]["throughput_ops_s"], read_us)


def run_theirs(client: list[str], mix: str, threads: int, asked: argparse.Namespace) -> Run:
    """Run YCSB's client."""
    reads = READS[mix]
    told = {
        "recordcount": asked.records,
        "operationcount": 2**31 - 1,
        "maxexecutiontime": asked.seconds,
        "readproportion": reads,
        "updateproportion": round(1 - reads, 2),
        "scanproportion": 0,
        "insertproportion": 0,
        "requestdistribution": "zipfian",
    }
    options = [word for name, value in told.items() for word in ("-p", f"{name}={value}")]
    said = run([*client, "-t", "-threads", str(threads), *options]).output
    return Run(
        number_after("[OVERALL], Throughput(ops/sec), ", said),
        number_after("[READ], AverageLatency(us), ", said),
    )


def number_after(label: str, said: str) -> float:
    """Return the number after a label in what YCSB's client said."""
    found = re.search(rf"{re.escape(label)}([\d.]+)", said)
    if found is None:
        raise FsgreenError(f"YCSB's client did not say {label!r}", where=said[-300:])
    return float(found[1])


def on(database: Path) -> list[str]:
    """Return the options of YCSB's client for a database."""
    return ["-p", f"folder={database}"]


def own_options(folder: Path, records: int) -> list[str]:
    """Return the options of our program for its database, in an empty folder."""
    (folder / OURS).mkdir()
    memtables_mib = MEMTABLES_MIB * records / FULL
    return [
        f"--dir={folder / OURS}",
        f"--records={records}",
        f"--record-b={RECORD_B}",
        f"--memtables-mib={memtables_mib:g}",
    ]


def client(folder: Path, records: int) -> list[str]:
    """Build YCSB's client into a folder; return the command that runs it."""
    jars, classes = folder / "jars", folder / "classes"
    fetch = [required("mvn"), "-q", "-B", "-f", str(JAVA / "pom.xml")]
    run([*fetch, "dependency:copy-dependencies", f"-DoutputDirectory={jars}"])
    run([required("javac"), "-cp", f"{jars}/*", "-d", str(classes), str(JAVA / "Table.java")])
    told = {
        "workload": "site.ycsb.workloads.CoreWorkload",
        "fieldcount": 1,
        "fieldlength": RECORD_B,
        "memtables_b": int(MEMTABLES_MIB * 2**20 * records / FULL),
    }
    options = [word for name, value in told.items() for word in ("-p", f"{name}={value}")]
    return [
        required("java"),
        *("-cp", f"{classes}:{jars}/*"),
        *("site.ycsb.Client", "-db", "Table"),
        *options,
    ]


def required(program: str) -> str:
    """Return the path of a program."""
    path = paths.program(program) or shutil.which(program)
    if path is None:
        step = (
            "./run engine" if program == PROGRAM else "apt-get install maven default-jdk-headless"
        )
        raise FsgreenError(f"{program} is not installed", next_step=step)
    return path


if __name__ == "__main__":
    command.run(main)
