"""The command `fsgreen`: each sub-command is one call into the library."""

from __future__ import annotations

import errno
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from fsgreen import __version__, paths
from fsgreen.cli import (
    campaigns,
    command,
    documents,
    fleet,
    host,
    lists,
    meters,
    pipeline,
    powerfiles,
    recommend,
    review,
    rules,
    runs,
    sharing,
    studies,
)
from fsgreen.commands import INTERRUPTED
from fsgreen.devices.removal import STUCK
from fsgreen.errors import FsgreenError

NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


ELSEWHERE = {
    "lab": "jupyter lab",
    "engine": "pip install fsgreen-engine",
    "environment": "pip install 'fsgreen[fleet]'",
    "doctor makes the environment anew": "pip install --force-reinstall fsgreen",
}
"""What is typed where there is no script `run`, for commands that are that script's own."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 done, 1 refused, 130 interrupted."""
    signal.signal(signal.SIGTERM, _as_interrupt)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # nohup has it ignored
        signal.signal(signal.SIGHUP, _as_interrupt)
    options = parser().parse(arguments)
    try:
        options.run(options)
    except FsgreenError as error:
        print(f"fsgreen: {_as_typed_here(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nfsgreen: stopped; nothing half-written is left.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        if error.errno not in (*NOT_ALLOWED, *NO_SPACE):
            raise
        explained = _no_space(error) if error.errno in NO_SPACE else _not_allowed(error)
        print(f"fsgreen: {explained}", file=sys.stderr)
        return 1
    return 0


def _as_typed_here(text: str) -> str:
    """Return a text with the commands that there are: the script `run` is the checkout's alone."""
    with suppress(FsgreenError):
        if (paths.root() / "run").is_file():
            return text
    for script, typed in ELSEWHERE.items():
        text = text.replace(f"./run {script}", typed)
    return text.replace("./run ", "fsgreen ")


def _not_allowed(error: OSError) -> FsgreenError:
    if os.geteuid() == 0:
        return FsgreenError(
            f"not even root may do that: {error.strerror}",
            where=error.filename,
            next_step=f"{STUCK}; or keep traces and results elsewhere: FSGREEN_DATA=FOLDER",
        )
    return FsgreenError(
        f"you may not do that: {error.strerror}",
        where=error.filename,
        next_step=f"if root made it: sudo chown -R $(id -un) {paths.root()} {paths.data()}; if "
        "nobody may write there, keep traces and results elsewhere: FSGREEN_DATA=FOLDER",
    )


def _no_space(error: OSError) -> FsgreenError:
    """Return where space ran out: a write into an open file does not say which file it was."""
    folders = [Path(tempfile.gettempdir()), Path.home(), paths.data()]
    fullest = min(folders, key=paths.free_b)
    return FsgreenError(
        f"there is no space left for what this command writes: {error.strerror}",
        where=error.filename or f"{fullest}, with {paths.free_b(fullest) >> 20} MiB free",
        next_step="df -h shows what is full; make room there, or keep traces and results elsewhere "
        "with FSGREEN_DATA=FOLDER; then the same command again (measure goes on where it stopped)",
    )


def parser() -> command.Parser:
    """Return what reads the arguments of all commands."""
    whole = command.Parser(
        prog="fsgreen",
        description="Which file system and options do most work per joule, and can it be trusted?",
        epilog="example: fsgreen doctor",
    )
    whole.add_argument("--version", action="version", version=f"fsgreen {__version__}")
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    host.add(commands)
    studies.add(commands)
    campaigns.add(commands)
    fleet.add(commands)
    pipeline.add(commands)
    lists.add(commands)
    rules.add(commands)
    review.add(commands)
    sharing.add(commands)
    documents.add(commands)
    recommend.add(commands)
    meters.add(commands)
    powerfiles.add(commands)
    runs.add(commands)
    return whole


def _as_interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
