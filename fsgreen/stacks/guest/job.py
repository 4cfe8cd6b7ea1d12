"""In the guest: a job in virtual time. No input reaches the guest while it runs.

The output goes through a serial line at the end of each trial, so that the same job takes the same
instructions each time.
"""

from __future__ import annotations

import json
import os
import subprocess
import termios
import tty
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fsgreen.devices.vm.wire import write_whole
from fsgreen.stacks.guest import failures

LINE = Path("/dev/ttyS1")
DIRECTORY = "@directory@"
"""The placeholder of the mount point in the arguments of programs."""

Ask = Callable[..., Any]
"""The function `Agent.ask`: it carries out a request, by its name."""


def run(ask: Ask, job: dict[str, Any]) -> None:
    """Run the trials of a job one after the other. Each writes a line of the output.

    A trial that fails has an `error` in its line, and the next one starts. If a file system cannot
    be unmounted, all later trials fail, too.
    """
    line = os.open(LINE, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(line)
    try:
        for name, content in job["texts"].items():
            ask("put", name=name, content=content)
        _say(line, {"disk": ask("open", **job["disk"])})
        for trial in job["trials"]:
            _say(line, {"trial": trial["trial"], **_tried(ask, trial)})
        _say(line, {"end": len(job["trials"])})
    finally:
        termios.tcdrain(line)


def _tried(ask: Ask, trial: dict[str, Any]) -> dict[str, Any]:
    try:
        return _measured(ask, trial)
    except failures.OF_A_REQUEST as error:
        told = failures.told(error)
        return {"error": ": ".join(words for words in (told["where"], told["what"]) if words)}


def _measured(ask: Ask, trial: dict[str, Any]) -> dict[str, Any]:
    levels = trial["levels"]
    ask("load", levels=levels)  # also unmounts what the trial before left mounted
    made = ask("prepare", levels=levels, seed=trial["seed"])
    prepared = _called(trial["prepare"], made["directory"])
    if "error" in prepared:
        return prepared
    mount = ask("remount")
    share = ask("resident_share")
    return {"mount": mount, "resident_share": share, **_called(trial["run"], mount["directory"])}


def _called(command: list[str], directory: str) -> dict[str, Any]:
    """Run the workload engine; return its `report`, or its `error`."""
    words = [word.replace(DIRECTORY, directory) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"error": done.stderr.strip()[-500:] or f"status {done.returncode}"}
    try:
        return {"report": json.loads(done.stdout)}
    except ValueError as error:
        return {"error": f"{command[0]} wrote no report: {error}"}


def _say(line: int, what: dict[str, Any]) -> None:
    write_whole(line, json.dumps(what, sort_keys=True).encode() + b"\n")
