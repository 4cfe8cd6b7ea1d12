"""A program in software: a real executable that answers by its arguments, and notes each question.

The answers are files that a driver's test, or a thread, writes; the program only copies them, so
that it starts as fast as the real one.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

SCRIPT = """#!/bin/sh
cd {folder} || exit 2
printf '%s\\n' "$*" >> asked
answer=./$(printf '%s' "$*" | tr '/ ' '__')
if [ -e "$answer.slow" ]; then sleep "$(cat "$answer.slow")"; fi
if [ -e "$answer.fails" ]; then cat "$answer.fails" >&2; exit 1; fi
if [ -e "$answer.says" ]; then exec cat "$answer.says"; fi
echo "no answer to: $*" >&2
exit 1
"""


class Program:
    """A program `name` in `folder`, to be put in front of PATH."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self._answers = folder / f".{name}"
        self._answers.mkdir(parents=True)
        (self._answers / "asked").touch()
        executable = folder / name
        executable.write_text(SCRIPT.format(folder=shlex.quote(str(self._answers))))
        executable.chmod(0o755)

    def says(self, command: str, answer: bytes) -> None:
        """Answer a command line so from now on."""
        self._write(command, "says", answer)
        (self._answers / f"{_file(command)}.fails").unlink(missing_ok=True)

    def fails(self, command: str, complaint: str) -> None:
        """Refuse a command line with a complaint and status 1 from now on."""
        self._write(command, "fails", complaint.encode())

    def hangs(self, command: str, duration_s: float) -> None:
        """Answer a command line late from now on."""
        self._write(command, "slow", str(duration_s).encode())

    def asked(self) -> list[str]:
        """Return the command lines so far, and forget them."""
        lines = (self._answers / "asked").read_text().splitlines()
        (self._answers / "asked").write_text("")
        return lines

    def _write(self, command: str, kind: str, data: bytes) -> None:
        fresh = self._answers / ".fresh"
        fresh.write_bytes(data)
        os.replace(fresh, self._answers / f"{_file(command)}.{kind}")


def _file(command: str) -> str:
    return command.replace("/", "_").replace(" ", "_")
