"""The holder's side of the guardian: started before the first change, heard after the last."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from fsgreen import commands, paths
from fsgreen.audit.tree import Tree
from fsgreen.errors import FsgreenError
from fsgreen.host.journal import Journal, alone
from fsgreen.host.putback import Outcome, put_back, require_done

READY = b"ready\n"


class Guardian:
    """Has a journal put back at the end of a `with` block, or of this whole process.

    Parameters
    ----------
    tree : Tree
        The machine.
    journal : Journal
        What was before; on disk already, and nothing changed yet.
    hold_fd : int
        Holds the journal. The guardian inherits it; here it is closed at the end.

    Raises
    ------
    FsgreenError
        If the guardian does not start; at the end, if something could not be put back.
    """

    def __init__(self, tree: Tree, journal: Journal, hold_fd: int) -> None:
        self._tree, self._journal, self._hold_fd = tree, journal, hold_fd
        # -P: a module in the current folder must not take the place of one of Python's.
        command = [sys.executable, "-P", "-m", "fsgreen.host.guardian"]
        self._process = subprocess.Popen(
            [*command, str(tree.root.absolute()), str(journal.file.absolute())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            pass_fds=(hold_fd,),
            env=os.environ | {"PYTHONPATH": _python_path()},
        )
        assert self._process.stdout is not None
        if self._process.stdout.readline() != READY:
            self._process.kill()
            self._process.communicate()
            os.close(hold_fd)
            journal.keep_only([])
            raise FsgreenError(
                "nothing is changed: the process that would put the settings back does not start",
                where=sys.executable,
                next_step="./run test tests/host",
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


def _python_path() -> str:
    return os.pathsep.join(filter(None, [str(paths.code()), os.environ.get("PYTHONPATH")]))


def _outcomes(report: bytes) -> list[Outcome] | None:
    try:
        return [Outcome(**outcome) for outcome in json.loads(report)]
    except ValueError:
        return None
