"""The command `fsgreen`: each sub-command is one call into the library."""

from __future__ import annotations

import argparse
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from fsgreen import __version__, paths
from fsgreen.cli import host, lists, meters, recommend, rules, runs, studies
from fsgreen.errors import FsgreenError

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""

NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 done, 1 refused, 130 interrupted."""
    signal.signal(signal.SIGTERM, _as_interrupt)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # nohup has it ignored
        signal.signal(signal.SIGHUP, _as_interrupt)
    options = _parser().parse_args(arguments)
    try:
        with _handed_back():
            options.run(options)
    except FsgreenError as error:
        print(f"fsgreen: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nfsgreen: stopped; nothing half-written is left.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        if error.errno not in NOT_ALLOWED:
            raise
        print(f"fsgreen: {_not_allowed(error)}", file=sys.stderr)
        return 1
    return 0


@contextmanager
def _handed_back() -> Iterator[None]:
    """Give what root made of code and data to the owner of the checkout, if that typed sudo."""
    try:
        yield
    finally:
        owner = os.environ.get("SUDO_UID")
        if os.geteuid() == 0 and owner == str(paths.root().stat().st_uid):
            folders = [folder for folder in (paths.root(), paths.data()) if folder.exists()]
            to_owner = ["-exec", "chown", "-h", f"{owner}:{os.environ['SUDO_GID']}", "{}", "+"]
            subprocess.run(["find", *folders, "-xdev", "-user", "root", *to_owner], check=False)


def _not_allowed(error: OSError) -> FsgreenError:
    return FsgreenError(
        f"you may not do that: {error.strerror}",
        where=error.filename,
        next_step=f"if root made it: sudo chown -R $(id -un) {paths.root()} {paths.data()}; if "
        "nobody may write there, keep traces and results elsewhere: FSGREEN_DATA=FOLDER",
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fsgreen",
        description="Which file system and options do most work per joule, and is it true?",
        epilog="example: fsgreen doctor",
    )
    parser.add_argument("--version", action="version", version=f"fsgreen {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    studies.add(commands)
    lists.add(commands)
    rules.add(commands)
    recommend.add(commands)
    host.add(commands)
    meters.add(commands)
    runs.add(commands)
    return parser


def _as_interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
