"""The process that measures the campaign of an order, and those that cockpits have started.

The process outlives the notebook. What it says goes to a file that it holds a lock on, so that any
notebook can tell whether it runs; the kernel frees that lock however the process ends (flock(2)).
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.trial import write_json
from fsgreen.view.cockpit.order import Order

TRIES, AGAIN_S = 20, 0.05
"""How often a start asks for the lock, which others hold for a moment to see whether it is free."""

FAILED, STOPPED = ("fsgreen: ", "Traceback"), "fsgreen: stopped;"
"""How the command line begins to tell an error, and that somebody stopped it."""

TAIL_B = 1 << 16
"""Bytes of what was said that are looked at."""


class Harness:
    """The process that measures one campaign; raises FsgreenError where that cannot be its name."""

    def __init__(self, campaign: str) -> None:
        folder = paths.data() / "scratch" / "cockpit"
        self.campaign = paths.checked(campaign)
        self._said = folder / f"{campaign}.log"
        self._kept = folder / f"{campaign}.json"
        self._process: subprocess.Popen[bytes] | None = None
        self._reaping = threading.Lock()

    def running(self) -> bool:
        """Return whether a process that a cockpit started measures, or analyses, the campaign."""
        with self._reaping:
            if self._process is not None:
                self._process.poll()
        try:
            said = self._said.open("rb")
        except FileNotFoundError:
            return False
        with said:
            return not _locked(said, fcntl.LOCK_SH)

    def start(self, order: Order) -> None:
        """Begin to measure, or go on where it was stopped.

        Raises FsgreenError if it is being measured, or the process cannot be recorded, which then
        ends.
        """
        self._said.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "fsgreen", *order.arguments]
        with self._said.open("ab") as said:
            if not self._take(said):
                raise FsgreenError(
                    "this campaign is being measured already",
                    where=self._said,
                    next_step="watch it here, or pause it",
                )
            said.truncate(0)
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=said,  # the lock goes with it
                stderr=subprocess.STDOUT,
                cwd=paths.root(),
                env={**os.environ, **_data_folder(), "PYTHONUNBUFFERED": "1"},
                start_new_session=True,  # or it would end with the kernel
            )
        with self._reaping:
            self._process = process
        try:
            write_json(self._kept, {**asdict(order), "command": command, "pid": process.pid})
        except OSError as error:
            process.terminate()
            raise FsgreenError(
                f"the start cannot be recorded, so the campaign was stopped: {error.strerror}",
                where=self._kept,
                next_step="free space or give access there, then start again",
            ) from error

    def pause(self) -> None:
        """Ask it to stop; the trial that runs is lost, and no other.

        Raises FsgreenError if no cockpit started it.
        """
        with self._reaping:
            if self._process is not None and self._process.poll() is None:
                self._process.terminate()
                return
        kept = self._record()
        pid = kept.get("pid")
        if not self.running() or not isinstance(pid, int) or _command(pid) != kept.get("command"):
            raise FsgreenError(
                f"no process that a cockpit started measures {self.campaign}",
                where=self._kept,
                next_step="if a terminal measures it: Ctrl-C there",
            )
        os.kill(pid, signal.SIGTERM)

    def lines(self, count: int) -> list[str]:
        """Return the last lines that it said; of a progress bar that is how it stood last."""
        return self._tail()[-count:]

    def failed(self) -> bool:
        """Return whether its last words are those of an error; a pause is none."""
        return any(
            line.startswith(FAILED) and not line.startswith(STOPPED) for line in self._tail()
        )

    def _tail(self) -> list[str]:
        try:
            with self._said.open("rb") as said:
                said.seek(max(0, said.seek(0, os.SEEK_END) - TAIL_B))
                text = said.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return []
        return [line for line in map(_as_left, text.split("\n")) if line]

    def order(self) -> Order | None:
        """Return what it was started with, None where nothing is known of that."""
        kept = self._record()
        with suppress(KeyError):
            return Order(**{name: str(kept[name]) for name in Order.__dataclass_fields__})
        return None

    def _record(self) -> dict[str, object]:
        with suppress(OSError, ValueError):
            kept = json.loads(self._kept.read_bytes())
            if isinstance(kept, dict):
                return kept
        return {}

    @staticmethod
    def _take(said: BinaryIO) -> bool:
        for _ in range(TRIES):
            if _locked(said, fcntl.LOCK_EX):
                return True
            time.sleep(AGAIN_S)
        return False


def newest(study: str) -> Order | None:
    """Return the order for a study that runs, or that a cockpit took last; None without one."""
    return next((order for order in _taken() if order.study == study), None)


def running() -> Order | None:
    """Return the order of a process that a cockpit started and that has not ended; None if none."""
    return next((order for order in _taken() if Harness(order.campaign).running()), None)


def _taken() -> Iterator[Order]:
    """Yield the orders that cockpits took: those that run, then the others, the newest first."""
    kept = (paths.data() / "scratch" / "cockpit").glob("*.json")
    newest_first = sorted(kept, key=lambda file: file.stat().st_mtime, reverse=True)
    harnesses = [Harness(file.stem) for file in newest_first]
    for harness in sorted(harnesses, key=lambda harness: not harness.running()):
        if (order := harness.order()) is not None:
            yield order


def _data_folder() -> dict[str, str]:
    """Return the variable that moves data elsewhere, as a process in another folder needs it."""
    name = "FSGREEN_DATA"
    return {name: str(paths.data_folder())} if os.environ.get(name) else {}


def _locked(said: BinaryIO, kind: int) -> bool:
    """Lock an open file, if nobody else has; the lock goes when all have closed it."""
    try:
        fcntl.flock(said, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _command(pid: int) -> list[str] | None:
    """Return the command of a process, None where it has ended."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return [os.fsdecode(word) for word in words[:-1]]


def _as_left(line: str) -> str:
    """Return a line as it stands in a terminal after all that was written over it."""
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line)
    return next((part for part in reversed(plain.split("\r")) if part.strip()), "")
