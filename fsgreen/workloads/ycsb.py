"""The core workloads of YCSB on RocksDB, done by the program `fsgreen-ycsb`."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fsgreen import elsewhere, paths
from fsgreen.errors import FsgreenError
from fsgreen.trial import sha256_of
from fsgreen.workloads import process
from fsgreen.workloads.base import Outcome, WorkloadFailed
from fsgreen.workloads.process import Finished
from fsgreen.workloads.wml import engine
from fsgreen.workloads.wml.workload import outcome_of

PROGRAM = "fsgreen-ycsb"
DATABASE = "rocksdb"
"""The folder of the database in the directory of a trial."""

MEMTABLES_MIB = 512.0
"""What YCSB's binding of RocksDB gives its memtables at scale 1; files and levels follow."""

WRONG = 2
"""Exit status where RocksDB is missing or unfit, or an argument is wrong: no trial can run."""

REPORTED = (0, 3)
"""Exit statuses with a report: done, and ended early."""

ABORTED = f"choose a smaller scale if df says that the disk is full; else {engine.AGAIN}"
"""Builds of RocksDB that check their own work abort at some writes to a full disk."""


class Ycsb:
    """A database of so many records, and one of the workloads a to f on it.

    `scale` is the share of `records`, and of the memory for what is not written yet: a small
    database has files and levels in the proportions of the large one. `levels` are `mix`, from a to
    f; `threads`, 1 where nothing is said; and `requests`: zipfian, latest or uniform, instead of
    the mix's own. A record has `record_b` bytes. With `blind_updates`, an update writes a record
    without reading it first; YCSB's binding reads it. With `direct_reads`, only RocksDB's own
    cache keeps what was read, not the kernel: a small database is read from the device, as one that
    is larger than memory is.
    """

    def __init__(
        self,
        name: str,
        scale: float,
        levels: Mapping[str, Any],
        records: int,
        record_b: int = 4096,
        blind_updates: bool = False,
        direct_reads: bool = False,
    ) -> None:
        self.name = name
        self._mix = levels.get("mix")
        self._threads = levels.get("threads") or 1
        self._requests = levels.get("requests")
        self._records = max(1, round(records * scale))
        self._record_b = record_b
        self._memtables_mib = MEMTABLES_MIB * scale
        self._blind_updates = blind_updates
        self._direct_reads = direct_reads

    @property
    def size_b(self) -> int:
        """Bytes of the records; RocksDB's own files are somewhat larger."""
        return self._records * self._record_b

    def text_sha256(self) -> str:
        """Return the SHA-256 of the program: there is no other text."""
        return sha256_of(Path(_require()))

    def check(self) -> None:
        """Check that the workload is one, and that RocksDB's library loads where programs run now.

        Raises FsgreenError if RocksDB is missing, another version, or fails as it is loaded.
        """
        if self._mix not in tuple("abcdef"):
            raise FsgreenError(
                f"the workload {self.name} has no mix {self._mix!r}",
                where=f"workloads.{self.name} of the study",
                next_step="declare a factor mix of the owner workload with levels from a to f",
            )
        self._call(["check"])

    def prepare(self, directory: Path, seed: int) -> dict[str, Any]:
        """Load the records and let RocksDB merge what it wants to; return their number and size."""
        start_s = time.monotonic()
        self._call(["load", *self._options(directory, seed)])
        return {
            "records": self._records,
            "size_b": self.size_b,
            "duration_s": time.monotonic() - start_s,
        }

    def run(
        self,
        directory: Path,
        seed: int,
        warmup_s: float,
        measure_s: float,
        load_ops_s: float | None = None,
        stop: threading.Event | None = None,
    ) -> Outcome:
        """Do the workload on the records; see `base.Workload.run`."""
        arguments = [
            "run",
            *self._options(directory, seed),
            f"--workload={self._mix}",
            f"--threads={self._threads}",
            f"--warmup={warmup_s}",
            f"--duration={measure_s}",
        ]
        if self._requests is not None:
            arguments.append(f"--requests={self._requests}")
        if load_ops_s is not None:
            arguments.append(f"--load={load_ops_s}")
        if self._blind_updates:
            arguments.append("--blind-updates")
        if self._direct_reads:
            arguments.append("--direct-reads")
        return outcome_of(json.loads(self._call(arguments, stop)))

    def _options(self, directory: Path, seed: int) -> list[str]:
        return [
            f"--dir={directory / DATABASE}",
            f"--records={self._records}",
            f"--record-b={self._record_b}",
            f"--memtables-mib={self._memtables_mib:g}",
            f"--seed={seed}",
            "--die-with-parent",
        ]

    def _call(self, arguments: Sequence[str], stop: threading.Event | None = None) -> str:
        """Return what the program wrote.

        Raises FsgreenError if no trial can run here. Raises WorkloadFailed if this one failed: the
        disk is full, say, or the program was killed.
        """
        program = PROGRAM if elsewhere.place() else _require()
        done = process.run([program, *arguments], stop, hear=engine.show_progress)
        if done.status in REPORTED:
            return done.output
        raise _failed(done, self.name)


def _failed(done: Finished, name: str) -> FsgreenError:
    if done.signal_name is not None:
        said = "".join(f": {line}" for line in done.errors.strip().splitlines()[-1:])
        return WorkloadFailed(
            f"the workload {name} was ended by {done.signal_name}{said}",
            next_step=ABORTED if done.signal_name == "SIGABRT" else engine.AGAIN,
        )
    what, remedy = engine.complaint(done.errors)
    said = what.rpartition(f"{PROGRAM}: ")[2]
    failure = FsgreenError if done.status == WRONG else WorkloadFailed
    return failure(f"the workload {name} failed: {said}", next_step=remedy)


def _require() -> str:
    program = paths.program(PROGRAM)
    if program is None:
        raise FsgreenError(
            f"the program {PROGRAM} is not installed",
            next_step=f"{paths.BUILD}, or {paths.BUILD} --from-source where what ships is older",
        )
    return program
