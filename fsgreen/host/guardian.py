"""The guardian: a small process that puts settings back once their holder has ended, however.

It reads a pipe whose other end only the holder has, and that the kernel closes with the holder:
after its last line, after an exception, after SIGKILL. It has a session of its own, so that no
Ctrl-C and no signal to the holder's group reaches it. It works also at a normal end: there is one
way back, and every run walks it. Started by `holder`, never imported.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path

from fsgreen.audit.tree import Tree
from fsgreen.errors import FsgreenError
from fsgreen.host import journal
from fsgreen.host.holder import READY
from fsgreen.host.putback import put_back, require_done


def main(root: str, file: str) -> None:
    """Wait for the end of standard input, put the journal back, and tell it as JSON."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.chdir("/")
    tree = Tree(Path(root))
    written = journal.read(Path(file))
    with contextlib.suppress(BrokenPipeError):  # the holder was killed already
        os.write(sys.stdout.fileno(), READY)
    sys.stdin.buffer.read()
    with journal.alone(tree) as lock_fd:
        outcomes = put_back(tree, written, lock_fd)
    report = json.dumps([asdict(outcome) for outcome in outcomes]).encode()
    try:
        os.write(sys.stdout.fileno(), report)
    except BrokenPipeError:  # the holder was killed: nobody else will tell
        try:
            require_done(outcomes)
        except FsgreenError as error:
            with contextlib.suppress(OSError):
                os.write(sys.stderr.fileno(), f"fsgreen: {error}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
