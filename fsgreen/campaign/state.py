"""A campaign on disk: its plan, its identity, and its pending trials."""

from __future__ import annotations

import fcntl
import json
import os
import struct
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from fsgreen import design, paths, trial
from fsgreen.campaign import identity, stopping
from fsgreen.design import Measured, Plan, PlannedTrial
from fsgreen.design.begun import read_identity, read_plan
from fsgreen.design.owncopy import measured_as
from fsgreen.errors import FsgreenError
from fsgreen.preflight import Finding

PULSES = "pulses.jsonl"
"""The file of load pulses: one line of JSON for each pattern."""

STOPPING = "stopping.json"
"""The file that says what ended each cell, if cells may end before the last block (rule 27)."""

WHOLE_FILE = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
"""A lock of a whole file (`struct flock`). Unlike a lock of flock(2), it can be tested without
taking it."""


class Campaign:
    """The folder of a campaign's raw traces.

    It is `data/raw/NAME`. `blocks` are those to measure here, if other testbeds of a fleet measure
    the rest; by default all.
    """

    def __init__(self, name: str, blocks: Collection[int] | None = None) -> None:
        self.name = name
        self._blocks = blocks
        self.folder = paths.raw(name)
        self._lock = self.folder.parent / f".{name}.lock"
        self._measured: dict[str, Measured] = {}

    def adopt(self, plan: Plan) -> None:
        """Write the plan, or check that it is the one with which the campaign began (rule 1).

        Raises FsgreenError if the campaign was begun under another plan; the difference is in the
        message.
        """
        file = self.folder / paths.PLAN
        if file.exists():
            begun = self.plan()
            if begun.hash == plan.hash:
                return
            lines = plan.difference(begun)
            more = f"\n    and {len(lines) - 8} more" if len(lines) > 8 else ""
            raise FsgreenError(
                "the plan changed after the campaign began:\n    "
                + "\n    ".join(lines[:8])
                + more,
                where=file,
                next_step=f"undo the change, or begin another: fsgreen measure {measured_as(plan)} "
                f"--profile {plan.profile.name} --name {self.name}-2",
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        trial.write_json(file, plan.to_json())

    def plan(self) -> Plan:
        """Return the plan of the campaign. Raises FsgreenError as `read_plan` does."""
        return read_plan(self.name)

    def identity(self) -> dict[str, Any]:
        """Return the identity of the campaign. Raises FsgreenError as `read_identity` does."""
        return read_identity(self.name)

    def begun(self) -> bool:
        """Return whether `campaign.json` has been written."""
        return (self.folder / paths.IDENTITY).exists()

    def keep_identity(self, begun: Mapping[str, Any]) -> None:
        """Write `campaign.json`."""
        trial.write_json(self.folder / paths.IDENTITY, {"schema": 1, **begun})

    def note_preflight(self, findings: Iterable[Finding]) -> None:
        """Add the findings of the preflight table at this start to `campaign.json` (rule 10)."""
        begun = self.identity()
        noted = [asdict(finding) for finding in findings if finding.severity != "ok"]
        starts = [*begun.get("preflight", ()), {"unix_s": time.time(), "findings": noted}]
        trial.write_json(self.folder / paths.IDENTITY, {**begun, "preflight": starts})

    def check_testbed(self, today: Mapping[str, Any]) -> None:
        """Raise FsgreenError if the testbed is not the one that the campaign began with (rule 19).

        This holds even if no trial is pending, as existing trials would be taken for trials of the
        other testbed.
        """
        if self.begun():
            identity.check_same("testbed", self.identity(), {"testbed": today}, self.folder)

    def check_identity(self, today: Mapping[str, Any]) -> None:
        """Raise FsgreenError if meters, workloads or the machine have changed (rules 9, 19, 21)."""
        begun = self.identity()
        for key in ("meters", "boundary"):
            identity.check_same(key, begun, today, self.folder)
        identity.check_texts(begun, today, self.folder)
        identity.check_machine(begun, today, self.folder)

    def note_pulses(self, edges_unix_s: Sequence[float]) -> None:
        """Append the edges of a pattern of load pulses, in host seconds since 1970 UTC."""
        with (self.folder / PULSES).open("a", encoding="ascii") as lines:
            lines.write(json.dumps({"edges_unix_s": list(edges_unix_s)}) + "\n")

    @property
    def made_pulses(self) -> bool:
        """Whether load pulses were made."""
        return (self.folder / PULSES).exists()

    def pulses(self) -> list[list[float]]:
        """Return the edges of all load pulses so far, in the host's seconds since 1970 UTC.

        Raises FsgreenError if there are none, or the file that keeps them is damaged.
        """
        file = self.folder / PULSES
        try:
            lines = file.read_text("ascii").splitlines()
            return [[float(edge) for edge in json.loads(line)["edges_unix_s"]] for line in lines]
        except FileNotFoundError:
            raise FsgreenError(
                f"no load pulses were made in the campaign '{self.name}'",
                where=file,
                next_step="set `pulses = true` in the testbed file before you measure",
            ) from None
        except (ValueError, KeyError, TypeError) as error:
            raise FsgreenError(
                f"not a record of pulses: {error!r}",
                where=file,
                next_step="restore the file from a copy of the campaign",
            ) from error

    def due(self) -> tuple[PlannedTrial, ...]:
        """Return the trials that are due by the decisions so far (rule 27)."""
        plan = self.plan()
        if self._blocks is not None:
            return tuple(planned for planned in plan.trials if planned.block in self._blocks)
        if plan.profile.most_blocks is None:
            return plan.trials
        return design.due(plan, self.measured())

    def pending(self) -> list[PlannedTrial]:
        """Return the trials that are due and not yet on disk, in their order."""
        done = {finished.name for finished in trial.list_trials(self.folder)}
        return [planned for planned in self.due() if planned.trial not in done]

    def measured(self) -> dict[str, Measured]:
        """Return work, time and energy of the whole trials, by name. Each is read only once."""
        plan = self.plan()
        self._measured = {
            finished.name: self._measured.get(finished.name) or stopping.measured(finished, plan)
            for finished in trial.list_trials(self.folder)
        }
        return self._measured

    def note_stopping(self) -> None:
        """Write what ended each cell so far, if cells may end early and the file is not current."""
        plan, file = self.plan(), self.folder / STOPPING
        if plan.profile.most_blocks is None:
            return
        record = stopping.record(plan, self.measured())
        if not file.exists() or trial.read_of_campaign(self.name, STOPPING) != record:
            trial.write_json(file, record)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the campaign. Raises FsgreenError if another process measures it."""
        self._lock.parent.mkdir(parents=True, exist_ok=True)
        with self._lock.open("a") as lock:
            try:
                fcntl.fcntl(lock, fcntl.F_OFD_SETLK, WHOLE_FILE)
            except BlockingIOError:
                raise FsgreenError(
                    "another fsgreen is measuring this campaign",
                    where=self.folder,
                    next_step=f"wait for it, or watch it: fsgreen status {self.name}",
                ) from None
            yield

    @property
    def is_measured(self) -> bool:
        """Whether a process holds the lock of the campaign. The test itself takes no lock."""
        try:
            with self._lock.open() as lock:
                held = fcntl.fcntl(lock, fcntl.F_OFD_GETLK, WHOLE_FILE)
        except FileNotFoundError:
            return False
        (kind,) = struct.unpack_from("h", held)
        return bool(kind != fcntl.F_UNLCK)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Explain an error in the `with` block if it came from a file that somebody removed."""
        try:
            yield
        except (FileNotFoundError, FsgreenError) as error:
            gone: object = None if self.folder.is_dir() else self.folder
            if isinstance(error, FileNotFoundError):
                gone = gone or error.filename
            if gone is None:
                raise
            raise FsgreenError(
                f"something vanished under the campaign: {gone}",
                where=self.folder,
                next_step="find out what removes files there (a clean-up of temporary files?), "
                "then start the same command again: the trials so far are whole",
            ) from error


def newest() -> str:
    """Return the name of the campaign that measured last. Raises FsgreenError if there is none."""
    measured: dict[float, str] = {}
    for plan in (paths.data() / "raw").glob(f"*/{paths.PLAN}"):
        places = (plan, *plan.parent.glob("trials"))
        measured[max(place.stat().st_mtime for place in places)] = plan.parent.name
    if not measured:
        raise FsgreenError(
            "there is no campaign yet",
            where=paths.data() / "raw",
            next_step="./run reproduce (shipped data), or fsgreen measure STUDY",
        )
    return measured[max(measured)]
