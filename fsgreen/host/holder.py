"""The holder of changed settings: the guardian that it starts, and the command that it runs."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from fsgreen import commands, paths
from fsgreen.audit.tree import Tree
from fsgreen.errors import FsgreenError
from fsgreen.host.journal import Journal, alone
from fsgreen.host.putback import Outcome, put_back, require_done

READY = b"ready\n"

_LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1  # prctl(2)


class Guardian:
    """Has a journal put back at the end of a `with` block, or of this whole process.

    The journal is on disk already, and nothing is changed yet. The guardian inherits `hold_fd`,
    which holds the journal; here it is closed at the end.

    Raises FsgreenError if the guardian does not start; at the end, if something could not be put
    back.
    """

    def __init__(self, tree: Tree, journal: Journal, hold_fd: int) -> None:
        self._tree, self._journal, self._hold_fd = tree, journal, hold_fd
        # -P: a module in the current folder must not take the place of one of Python's.
        command = [sys.executable, "-P", "-m", "fsgreen.host.guardian"]
        places = [str(paths.code()), os.environ.get("PYTHONPATH")]
        self._process = subprocess.Popen(
            [*command, str(tree.root.absolute()), str(journal.file.absolute())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            pass_fds=(hold_fd,),
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, places))},
        )
        assert self._process.stdout is not None
        if self._process.stdout.readline() != READY:
            self._process.kill()
            self._process.communicate()
            os.close(hold_fd)
            journal.keep_only([])
            raise FsgreenError(
                "nothing is changed: the process that would restore the settings does not start",
                where=sys.executable,
                next_step=f"{sys.executable} -P -m fsgreen.host.guardian tells why",
            )

    def __enter__(self) -> Guardian:
        """Return itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Let the guardian put everything back, and wait for what it tells."""
        with commands.uninterrupted():
            report, _ = self._process.communicate()
            os.close(self._hold_fd)
            outcomes = _outcomes(report)
            if outcomes is None:  # somebody killed the guardian
                with alone(self._tree) as lock_fd:
                    outcomes = put_back(self._tree, self._journal, lock_fd)
        require_done(outcomes)


def _outcomes(report: bytes) -> list[Outcome] | None:
    try:
        return [Outcome(**outcome) for outcome in json.loads(report)]
    except ValueError:
        return None


def run(command: Sequence[str]) -> int:
    """Run a command to its end, inside of a block of `applied`; return its exit status.

    Ctrl-C in a terminal reaches the command itself. SIGTERM is passed on to it, and so is, as
    SIGTERM, the SIGHUP of a terminal that is gone. If this process is killed, the kernel sends the
    command SIGTERM: nothing should go on measuring while its settings are put back.

    Raises FsgreenError if there is no such command.

    Returns
    -------
    int
        The command's status, 128 and the signal's number where a signal ended it.
    """
    holder = os.getpid()

    def end_with_holder() -> None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != holder:
            os._exit(128 + signal.SIGTERM)

    try:
        process = subprocess.Popen(command, preexec_fn=end_with_holder)
    except OSError as error:
        raise FsgreenError(
            f"cannot be started: {error.strerror}",
            where=command[0],
            next_step="give a program and its arguments after --",
        ) from error
    heard = [signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup has it ignored
        heard.append(signal.SIGHUP)
    before = {number: signal.signal(number, lambda *_: process.terminate()) for number in heard}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        status = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return status if status >= 0 else 128 - status
