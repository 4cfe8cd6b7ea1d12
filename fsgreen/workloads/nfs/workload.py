"""Readers of an NFS server whose read-ahead is chosen, over a socket of this machine."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fsgreen.errors import FsgreenError, unknown
from fsgreen.trial import Phase, ThreadWork, WorkSummary, sha256_of
from fsgreen.workloads.base import Outcome, cost_of, of_whole_run
from fsgreen.workloads.nfs import network
from fsgreen.workloads.nfs.programs import PROGRAM, require, started

MIB = 2**20
START_S = 30.0
"""How long a server may take until it listens, or to say at its end what it did."""

LATE = ("not all was read", "raise measure_s")
"""What it means that a client reports nothing within `measure_s`, and what to do."""

COUNTED: Mapping[str, str] = {
    "reads_count": "nfs_reads_count",
    "late_count": "nfs_late_count",
    "repeated_count": "nfs_repeated_count",
    "evicted_count": "nfs_evicted_count",
    "ahead_b": "nfs_ahead_b",
}
"""What the server counts, and how it is called in records and tables."""

SENT: Mapping[str, str] = {
    "sent_late_count": "nfs_sent_late_count",
    "resent_count": "nfs_resent_count",
}
"""The same of the client."""


class Nfs:
    """Readers that each read a file of their own, all of it, over NFS.

    The server and the client run on this machine, one after the other started for each run. A
    reader's whole file is one operation, as in `sequential-readers`. All files together have
    `total_mib` at scale 1.

    `levels` are the server's `heuristic` and `table` (of `tables`: slots and probes by name);
    `transport`, tcp or udp; `readers`; `strides`, parts of a file that are read in turn; `nfsiods`,
    threads of the client that each wait for a reply; `late_percent` of the requests of a reader,
    which it asks for one place late; `busy_loops`, threads of the client that compute all the time;
    `network_mbit_s`, the rate of a network between both, which takes root, in place of the
    loopback.

    The server answers `daemons` requests at once. A reader in order has `ahead` requests beyond the
    one that it waits for; one in strides has none, as clients read ahead themselves what is read in
    order only.
    """

    def __init__(
        self,
        name: str,
        scale: float,
        levels: Mapping[str, Any],
        tables: Mapping[str, Sequence[int]],
        total_mib: int = 256,
        daemons: int = 8,
        ahead: int = 1,
    ) -> None:
        self.name = name
        self._levels = {key: level for key, level in levels.items() if level is not None}
        self._tables = tables
        self._readers = int(self._levels.get("readers", 1))
        self._of_each_mib = total_mib * scale / self._readers
        self._daemons, self._ahead = daemons, ahead

    @property
    def size_b(self) -> int:
        """Bytes of all files."""
        return int(self._of_each_mib * MIB) * self._readers

    def text_sha256(self) -> str:
        """Return the SHA-256 of the program: there is no other text."""
        return sha256_of(Path(require()))

    def check(self) -> None:
        """Check that program and network can be had, the table is known, and files have whole MiB.

        Raises FsgreenError if not.
        """
        require()
        network.check(self._levels.get("network_mbit_s"))
        if (table := self._levels.get("table")) not in self._tables:
            raise unknown("table", str(table), self._tables, where=f"workloads.{self.name}")
        if self._of_each_mib < 1 or self._of_each_mib % 1:
            raise FsgreenError(
                f"each of {self._readers} readers would have a file of {self._of_each_mib:g} MiB",
                where=f"workloads.{self.name} of the study",
                next_step="choose a scale at which they have whole MiB, such as 0.25 of 256",
            )

    def prepare(self, directory: Path, seed: int) -> dict[str, Any]:
        """Write a file for each reader, without a block of zeros; return how many, and their size.

        Raises FsgreenError if they cannot be written.
        """
        begin_s = time.monotonic()
        try:
            for nth, file in enumerate(self._files):
                content = random.Random(f"{seed}/{nth}")
                with (directory / file).open("wb") as written:
                    for _ in range(int(self._of_each_mib)):
                        written.write(content.randbytes(MIB))
        except OSError as error:
            raise FsgreenError(
                f"a file of {self.name} cannot be written: {error.strerror}",
                where=error.filename or directory,
                next_step="choose a smaller scale, or a larger file system",
            ) from error
        made = {"files": self._readers, "size_b": self.size_b}
        return {**made, "duration_s": time.monotonic() - begin_s}

    def run(
        self,
        directory: Path,
        seed: int,
        warmup_s: float,
        measure_s: float,
        load_ops_s: float | None = None,
        stop: threading.Event | None = None,
    ) -> Outcome:
        """Serve the files and read them to their ends; see `base.Workload.run`.

        `measure_s` is the longest that this may take.
        """
        if warmup_s > 0 or load_ops_s is not None:
            raise FsgreenError(
                f"the readers of {self.name} end by themselves: they take no warm-up and no load",
                where="phases and factors of the study",
                next_step="warmup_s: 0, and no load_ops_s",
            )
        with (
            network.between(self._levels.get("network_mbit_s")) as way,
            started(self._serve(directory, way.address), way.server) as server,
        ):
            address = server.report(START_S, stop)["address"]
            with started(self._read(address), way.client) as client:
                read = client.report(measure_s, stop, LATE)
                end_s = time.monotonic()
                of_client = client.usage()
            server.end()
            served = server.report(START_S)
            cost = cost_of(of_client, server.usage())
        counts = {called: served[key] for key, called in COUNTED.items()}
        counts |= {called: read[key] for key, called in SENT.items()}
        duration_s = read["duration_s"]
        ended_s = tuple(reader["duration_s"] for reader in read["readers"])
        summary = WorkSummary(
            duration_s,
            self._readers,
            read["read_b"],
            threads=(ThreadWork(self.name, "reader", (1,) * self._readers, ended_s),),
            finished=True,
            engine=PROGRAM,
            seed=seed,
            cost=cost,
            variables=self._levels,
            counts=counts,
        )
        measured = Phase("measure", end_s - duration_s, end_s)
        operation = (self.name, "reader", "read", "readwholefile")
        return of_whole_run(summary, measured, operation, ended_s)

    @property
    def _files(self) -> list[str]:
        return [f"file{nth}" for nth in range(self._readers)]

    def _serve(self, directory: Path, address: str) -> list[str]:
        slots, probes = self._tables[self._levels["table"]]
        asked = {"heuristic": self._levels.get("heuristic", "default"), "daemons": self._daemons}
        asked |= {"slots": slots, "probes": probes, "listen": f"{address}:0"}
        return ["serve", str(directory), *_options(asked)]

    def _read(self, address: str) -> list[str]:
        asked = {
            "protocol": self._levels.get("transport", "tcp"),
            "strides": self._levels.get("strides", 1),
            "workers": self._levels.get("nfsiods", 8),
            "late-percent": self._levels.get("late_percent", 0),
            "busy": self._levels.get("busy_loops", 0),
            "ahead": 0 if "strides" in self._levels else self._ahead,
        }
        return ["read", address, *self._files, *_options(asked)]


def _options(asked: Mapping[str, object]) -> list[str]:
    return [f"--{key}={value}" for key, value in asked.items()]
