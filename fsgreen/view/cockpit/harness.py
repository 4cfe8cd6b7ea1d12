"""The process that measures a campaign: `fsgreen measure`, started, paused, and found again.

It outlives the notebook. What it says goes to a file that it holds a lock on, so that any notebook
can tell whether it runs; the kernel frees that lock however the process ends (flock(2)).
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

TAIL_B = 1 << 16
"""Bytes of what was said that are looked at."""


class Harness:
    """The process that measures one campaign.

    Parameters
    ----------
    campaign : str
        Its name. Raises FsgreenError where it cannot be one.
    """

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

        Raises
        ------
        FsgreenError
            If it is being measured.
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
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                start_new_session=True,  # or it would end with the kernel
            )
        with self._reaping:
            self._process = process
        write_json(self._kept, {**asdict(order), "command": command, "pid": process.pid})

    def pause(self) -> None:
        """Ask it to stop; the trial that runs is lost, and no other.

        Raises
        ------
        FsgreenError
            If no cockpit started it.
        """
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
        try:
            with self._said.open("rb") as said:
                said.seek(max(0, said.seek(0, os.SEEK_END) - TAIL_B))
                text = said.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return []
        lines = [line for line in map(_as_left, text.split("\n")) if line]
        return lines[-count:]

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
    """Return the order for a study that a cockpit took last, None where there is none."""
    files = (paths.data() / "scratch" / "cockpit").glob("*.json")
    for file in sorted(files, key=lambda file: file.stat().st_mtime, reverse=True):
        order = Harness(file.stem).order()
        if order is not None and order.study == study:
            return order
    return None


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
